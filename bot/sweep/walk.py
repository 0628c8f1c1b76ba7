"""Searches one part of the history after the other, and judges each best set on what follows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING, Any

from Backtest.metrics.run_report import calendar_of
from bot.contract.language.warmup import warmup
from bot.sweep.folds import JUDGED_GROUPS, Fold, cut_folds
from bot.sweep.joining import joined
from bot.sweep.luck import Tried
from bot.sweep.optimum import Goal, best_first
from bot.sweep.runs import Market, Player, timeline
from bot.sweep.space import Space

if TYPE_CHECKING:
    from bot.contract.goals import WalkForward


@dataclass(frozen=True)
class Judged:
    """Holds a fold: its best set where it was searched, and the same set where it was not."""

    fold: Fold
    searched: Tried
    judged: Tried


@dataclass(frozen=True)
class Walked:
    """Holds all folds; only `unseen` says what the search is worth."""

    folds: tuple[Judged, ...]
    gap: int  # rows left out beside the judged parts
    unseen: Tried  # all judged parts together; its values are the last fold's
    drift: Mapping[str, float]  # by parameter: how far the folds' values lie apart, of its range
    sets: tuple[Mapping[str, int | float], ...]  # all that were played

    def as_told(self, times: Any) -> dict[str, Any]:
        """Give it to programs and to the evidence; times are milliseconds of UTC."""

        def ends(spans: tuple[tuple[int, int], ...]) -> list[list[int]]:
            return [[int(times[first]), int(times[last - 1])] for first, last in spans]

        return {
            "gap": self.gap,
            "sets_tried": len(self.sets),
            "unseen": dict(self.unseen.figures),
            "drift": dict(self.drift),
            "folds": [
                {
                    "searched": ends(each.fold.train),
                    "judged": ends(each.fold.test),
                    "parameters": dict(each.judged.values),
                    "searched_figures": dict(each.searched.figures),
                    "judged_figures": dict(each.judged.figures),
                }
                for each in self.folds
            ],
        }


def walk_forward(
    player: Player, market: Market, space: Space, goal: Goal, asked: "WalkForward"
) -> Walked:
    """Search every fold with a seed of its own and judge its best set where it was not searched.

    Raises:
        InputError: the history is too short for so many folds.
    """
    times = timeline(market)
    today = {name: player.contract.parameters[name].default for name in space}
    gap = max(longest_lookback(player, space), player.longest_trade(market, today))
    yearly, found, sets = calendar_of(times).periods_per_year, [], []
    for number, fold in enumerate(cut_folds(len(times), asked, gap)):
        fold_goal = replace(goal, seed=(goal.seed + number + 1) % 2**32)
        rows = best_first(player, market, space, fold_goal, fold.train)
        parts = player.parts(market, [rows[0].values], fold.test)[0]
        found.append(Judged(fold, rows[0], joined(parts, yearly)))
        sets += [row.values for row in rows]
    paths = 1
    if asked.split == "combinatorial":
        paths = comb(asked.folds, JUDGED_GROUPS) * JUDGED_GROUPS // asked.folds
    unseen = joined([each.judged for each in found], yearly, paths)
    drift = {
        name: (max(seen) - min(seen)) / (values[-1] - values[0])
        for name, values in space.items()
        for seen in [[each.judged.values[name] for each in found]]
    }
    unseen = replace(unseen, values=found[-1].judged.values)
    return Walked(tuple(found), gap, unseen, drift, tuple(sets))


def longest_lookback(player: Player, space: Space) -> int:
    """How many rows a value may look back, with the least and the most of every parameter."""
    program = player.program
    ends = ({name: values[place] for name, values in space.items()} for place in (0, -1))
    return max(
        warmup(replace(program, parameters={**program.parameters, **values})) for values in ends
    )
