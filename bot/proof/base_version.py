"""Replays another version of a strategy, the base branch's or a tag's, on today's candles."""

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
from bot.data.market_data import MarketData
from bot.errors import StratwrightError
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.evidence import PROVENANCE
from bot.proof.judge import judge_rules, with_tear_sheet
from bot.report.figures import Summary


@dataclass(frozen=True)
class Version:
    """Holds what a commit has of a task."""

    name: str  # as "the base branch at 1a2b3c4"
    trades: Sequence[Trade]  # what its contract does on the candles of the new one
    summary: Summary  # the figures of that


def find_base_version(work: Assignment, base: str, repository: Repository) -> Version | None:
    """Replay the version that the base branch has, at the commit that the candidate stands on.

    Returns:
        None if the base has none, or one about other symbols, or history does not reach it.
    """
    name = f"the base branch at {base[:7]}"
    return find_version(work.folder, work.data, base, repository, name)


def find_shown_version(work: Assignment, tag: str, repository: Repository) -> Version | None:
    """Replay the version of an earlier tag of the same task; None if it is none, or not there."""
    commit = repository.commit_of(f"refs/tags/{tag}") if work.task.attempt(tag) else ""
    if not commit:
        return None
    name = f"what was shown before ({commit[:7]})"
    return find_version(work.folder, work.data, commit, repository, name)


def find_version(
    folder: str, data: MarketData, commit: str, repository: Repository, name: str
) -> Version | None:
    """Replay the version that a commit has in a folder of evidence, on candles that are given.

    The evidence in the commit names its contract; the contract's text is that of the commit which
    brought the evidence, for the file itself may have changed since.
    """
    path = f"{folder}/{PROVENANCE}"
    sealed = repository.read(commit, path)
    if sealed is None:
        return None
    brought = repository.git.run("log", "-1", "--format=%H", commit, "--", path).text
    contract = contract_of(repository, brought, sealed)
    if contract is None or set(contract.market.symbols) != set(data.frames):
        return None
    try:
        judgement = judge_rules(contract, compile_contract(contract), data)
        judgement = with_tear_sheet(judgement, data.candles)
    except StratwrightError:
        return None  # what this version of stratwright cannot replay has no trades to compare
    return Version(name, judgement.broker.get_trades(), judgement.summary)


def contract_of(repository: Repository, commit: str, sealed: bytes) -> Contract | None:
    """Read the contract that sealed evidence names from a commit; None if it is another."""
    try:
        named: dict[str, Any] = json.loads(sealed)["predicate"]["contract"]
        path = PurePosixPath(named["path"])
        text = repository.read(commit, str(path)) if commit else None
        if text is None:
            return None
        loaded = parse_contract(text, FORMS[path.suffix], repository.root / path, models=True)
        same = contract_digest(loaded.strategy) == named["digest"]
        return loaded.strategy if same else None
    except (ValueError, KeyError, TypeError, StratwrightError):
        return None
