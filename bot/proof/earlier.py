"""The base branch to the trades that its version of a strategy makes on today's candles."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from Backtest.positions import Trade
from bot.contract.digest import contract_digest
from bot.contract.language.program import compile_contract
from bot.contract.load import FORMS, load_contract, parse_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.errors import InputError, StratwrightError
from bot.forge.port import PullRequest, PullState
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.evidence import PROVENANCE
from bot.proof.judge import decide, judge
from bot.report.hidden_block import read_hidden_block


@dataclass(frozen=True)
class EarlierVersion:
    """What the base branch has of a task.

    Attributes:
        name: as "the base branch at 1a2b3c4".
        trades: what its contract does on the candles of the new one.
    """

    name: str
    trades: Sequence[Trade]


def find_earlier_version(
    repository: Repository, base: str, task: TaskName, data: MarketData
) -> EarlierVersion | None:
    """Replay the version that the base branch has.

    The evidence on the base names its contract; the contract's text is that of the commit which
    brought the evidence, for the file itself may have changed since.

    Args:
        repository: where to look.
        base: the commit that the candidate stands on.
        task: whose version.
        data: today's candles.

    Returns:
        None if the base has none, or one about other symbols, or history does not reach it.
    """
    folder = f"artifacts/{task}"
    sealed = repository.read(base, f"{folder}/{PROVENANCE}")
    if sealed is None:
        return None
    brought = repository.git.run(
        "log", "-1", "--format=%H", base, "--", f"{folder}/{PROVENANCE}"
    ).text
    contract = contract_of(repository, brought, sealed)
    if contract is None or set(contract.market.symbols) != set(data.frames):
        return None
    try:
        program = compile_contract(contract)
        judgement = judge(contract, program, data, decide(contract, program, data))
    except StratwrightError:
        return None  # what this version of stratwright cannot replay has no trades to compare
    return EarlierVersion(f"the base branch at {base[:7]}", judgement.broker.get_trades())


def contract_of(repository: Repository, commit: str, sealed: bytes) -> Contract | None:
    """The contract that sealed evidence names, as a commit has it; None if it is another."""
    try:
        named: dict[str, Any] = json.loads(sealed)["predicate"]["contract"]
        path = PurePosixPath(named["path"])
        text = repository.read(commit, str(path)) if commit else None
        if text is None:
            return None
        loaded = parse_contract(text, FORMS[path.suffix], repository.root / path)
        same = contract_digest(loaded.strategy) == named["digest"]
        return loaded.strategy if same else None
    except (ValueError, KeyError, TypeError, StratwrightError):
        return None


def refuse_other_contract(
    pull: PullRequest | None, path: str, task: TaskName, repository: Repository
) -> None:
    """Stop if an open pull request holds the task for another contract, which is still there.

    Raises:
        InputError: with both contracts and the way out.
    """
    block = read_hidden_block(pull.draft.body) if pull else None
    if pull is None or block is None or pull.state is not PullState.OPEN:
        return
    other = str(block["contract"])
    if other == path:
        return
    try:
        held = load_contract(repository.root / other).contract
    except InputError:
        return  # moved away, or a contract no more: the task is free
    if TaskName(held.workflow, held.task) == task:
        raise InputError(
            f"pull request #{pull.number} is about another contract of {task}: {other}, not {path}",
            f"Close it (stratwright pr close {pull.number}), or give one of them another task.",
        )
