"""Cuts a history into parts that are searched and parts that are judged, with gaps between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.contract.goals import WalkForward

Span = tuple[int, int]  # from one row on, up to another
JUDGED_GROUPS = 2  # of a combinatorial split
LEAST_ROWS = 20  # of a part


@dataclass(frozen=True)
class Fold:
    """Holds one cut: what is searched, and what its best set is judged by."""

    train: tuple[Span, ...]
    test: tuple[Span, ...]


def cut_folds(rows: int, asked: "WalkForward", gap: int) -> list[Fold]:
    """Cut so many rows as a contract asks.

    Args:
        rows: how many there are.
        asked: the contract's `walk_forward`.
        gap: rows left out of the search before a judged part (purge) and after it (embargo): as
            far as a value looks back or a trade lasts.

    Raises:
        InputError: a part would be too short.
    """
    if asked.split == "combinatorial":
        edges = [rows * place // asked.folds for place in range(asked.folds + 1)]
        groups = list(pairwise(edges))
        folds = [
            Fold(_without(groups, chosen, gap), tuple(groups[n] for n in chosen))
            for chosen in combinations(range(asked.folds), JUDGED_GROUPS)
        ]
    else:
        # A fold is `train` of searched and the rest of judged rows; the judged ones meet.
        length = rows / (asked.train + asked.folds * (1.0 - asked.train))
        starts = [
            round(length * (asked.train + place * (1.0 - asked.train)))
            for place in range(asked.folds + 1)
        ]
        starts[-1] = rows
        searched = starts[0]
        folds = []
        for start, end in pairwise(starts):
            first = 0 if asked.split == "anchored" else start - searched
            folds.append(Fold(((first, start - gap),), ((start, end),)))
    for fold in folds:
        short = [last - first for first, last in (*fold.train, *fold.test)]
        if not fold.train or min(short) < LEAST_ROWS:
            raise InputError(
                f"{rows:,} candles are too few for {asked.folds} folds: {gap} are left out before"
                f" each judged part, and a part needs {LEAST_ROWS}",
                "Ask for fewer folds, shorter lookbacks, or give a longer history.",
            )
    return folds


def _without(groups: Sequence[Span], chosen: Sequence[int], gap: int) -> tuple[Span, ...]:
    """The rows of the other groups, joined where they meet, away from the judged ones."""
    kept: list[Span] = []
    for number, (first, last) in enumerate(groups):
        if number in chosen:
            continue
        start = first + gap if number - 1 in chosen else first
        end = last - gap if number + 1 in chosen else last
        if kept and kept[-1][1] == start:
            start = kept.pop()[0]
        kept.append((start, end))
    return tuple(kept)
