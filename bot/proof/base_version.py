"""Replays the version of a strategy that the base branch has on today's candles."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from Backtest.positions import Trade
from bot.contract.digest import contract_digest
from bot.contract.language.program import compile_contract
from bot.contract.load import FORMS, parse_contract
from bot.contract.model import Contract
from bot.errors import StratwrightError
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.evidence import PROVENANCE
from bot.proof.judge import decide, judge


@dataclass(frozen=True)
class BaseVersion:
    """Holds what the base branch has of a task.

    Attributes:
        name: as "the base branch at 1a2b3c4".
        trades: what its contract does on the candles of the new one.
    """

    name: str
    trades: Sequence[Trade]


def find_base_version(work: Assignment, base: str, repository: Repository) -> BaseVersion | None:
    """Replay the version that the base branch has.

    The evidence on the base names its contract; the contract's text is that of the commit which
    brought the evidence, for the file itself may have changed since.

    Args:
        work: whose version, and today's candles.
        base: the commit that the candidate stands on.
        repository: where to look.

    Returns:
        None if the base has none, or one about other symbols, or history does not reach it.
    """
    path, data = f"{work.folder}/{PROVENANCE}", work.data
    sealed = repository.read(base, path)
    if sealed is None:
        return None
    brought = repository.git.run("log", "-1", "--format=%H", base, "--", path).text
    contract = contract_of(repository, brought, sealed)
    if contract is None or set(contract.market.symbols) != set(data.frames):
        return None
    try:
        program = compile_contract(contract)
        judgement = judge(contract, program, data, decide(contract, program, data))
    except StratwrightError:
        return None  # what this version of stratwright cannot replay has no trades to compare
    return BaseVersion(f"the base branch at {base[:7]}", judgement.broker.get_trades())


def contract_of(repository: Repository, commit: str, sealed: bytes) -> Contract | None:
    """Read the contract that sealed evidence names from a commit; None if it is another."""
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
