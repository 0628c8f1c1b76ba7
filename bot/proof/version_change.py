"""Compares two commits of a task: how each of them trades on the candles of the newer one."""

from dataclasses import dataclass

from bot.data.market_data import checkout_files, read_market_data
from bot.errors import StratwrightError
from bot.git.repository import Repository
from bot.proof.base_version import contract_of, find_version
from bot.proof.evidence import PROVENANCE
from bot.report.behaviour import BehaviourChange, compare_trades
from bot.report.figure_table import figure_rows


@dataclass(frozen=True)
class VersionChange:
    """Holds what differs: the trades, and the rows of figures (name, now, before, change)."""

    trades: BehaviourChange
    figures: list[tuple[str, ...]]


def compare_commits(
    repository: Repository, folder: str, before: str, after: str
) -> VersionChange | None:
    """Replay the versions that two commits have in a folder of evidence, and compare them.

    `bot.report.wording.change_lines` gives the trades to a terminal.

    Returns:
        None if one of them has none that can be replayed here, as without its candles.
    """
    sealed = repository.read(after, f"{folder}/{PROVENANCE}")
    contract = contract_of(repository, after, sealed) if sealed is not None else None
    if contract is None:
        return None
    here = checkout_files(repository.root)
    try:
        data = read_market_data(contract, lambda path: repository.read(after, path) or here(path))
    except StratwrightError:
        return None
    old = find_version(folder, data, before, repository, before[:7])
    new = find_version(folder, data, after, repository, after[:7])
    if old is None or new is None:
        return None
    change = compare_trades(old.trades, new.trades, old.name)
    return VersionChange(change, figure_rows(new.summary, old.summary))
