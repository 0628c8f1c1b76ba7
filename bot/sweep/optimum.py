"""Turns a contract's `optimize` into the best set of values that a search finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from Backtest.metrics.many_runs import Span
from Backtest.metrics.overfitting import stability
from Backtest.metrics.run_report import calendar_of
from bot.errors import InputError, WorldError
from bot.sweep.joining import joined
from bot.sweep.luck import Tried, worth_of
from bot.sweep.runs import Market, Player, SweepResult, place_of, search, timeline
from bot.sweep.space import Space, Values, grid_sets, near_sets, random_sets

if TYPE_CHECKING:
    from bot.contract.goals import Acceptance

SAMPLERS = ("tpe", "random", "grid")
MOST_TRIALS = 100_000
# The lines of `acceptance` that a search keeps to, by the figure that each is about.
LINES = {
    "min_trades": "total_trades",
    "max_drawdown": "max_drawdown",
    "min_win_rate": "win_rate",
    "min_sharpe": "sharpe",
    "min_sortino": "sortino",
    "min_profit_factor": "profit_factor",
    "min_return": "return",
    "min_calmar": "calmar",
    "max_exposure": "exposure",
}
NO_LOSS = ("sortino", "profit_factor", "calmar")  # without a number if nothing was lost
FAR = 1e12  # below every score of a set that meets all lines


@dataclass(frozen=True)
class Goal:
    """What is searched for, and how."""

    metric: str
    trials: int
    sampler: str
    seed: int
    acceptance: Acceptance

    @property
    def lines(self) -> dict[str, float]:
        """The lines of `acceptance` that the search keeps to."""
        asked = self.acceptance.model_dump(exclude_none=True)
        return {line: limit for line, limit in asked.items() if line in LINES}

    @property
    def left_out(self) -> list[str]:
        """The lines that only the gates look at."""
        return [line for line in self.acceptance.model_dump(exclude_none=True) if line not in LINES]


@dataclass(frozen=True)
class Optimum:
    """What a search has found; the first row is its answer."""

    goal: Goal
    space: Space
    result: SweepResult
    today: Tried  # the set of the contract's own defaults
    meets_all: bool  # whether the first row meets every line that the search keeps to


def optimise(player: Player, candles: Market, space: Space, goal: Goal, worlds: int = 0) -> Optimum:
    """Search the space, beginning with the contract's own defaults; no set is played twice.

    Raises:
        InputError: there are too many trials, or a set cannot be played.
        WorldError: the sampler is not installed.
    """
    refuse_too_many(goal)
    parameters = player.contract.parameters
    today = {name: parameters[name].default for name in space}

    result = search(
        player, candles, lambda on: best_first(player, on, space, goal), goal.metric, worlds
    )
    best = result.rows[0]
    around = player.rows(candles, near_sets(space, best.values))
    kept = stability(worth_of(best, goal.metric), [worth_of(row, goal.metric) for row in around])
    luck = replace(result.luck, stability=kept, neighbours=len(around))
    own = next(row for row in result.rows if row.values == today)
    return Optimum(goal, space, replace(result, luck=luck), own, beyond(best, goal) == 0.0)


def refuse_too_many(goal: Goal) -> None:
    """Stop a search that would never end.

    Raises:
        InputError: it has too many trials.
    """
    if goal.trials > MOST_TRIALS:
        hint = f"Ask for at most {MOST_TRIALS:,}."
        raise InputError(f"{goal.trials:,} trials are too many for one search", hint)


def best_first(
    player: Player,
    candles: Market,
    space: Space,
    goal: Goal,
    spans: Sequence[Span] | None = None,
) -> list[Tried]:
    """Search, on some spans of rows or on all, beginning with the contract's own defaults."""
    parameters = player.contract.parameters
    tried = _Tries(player, candles, goal, spans)
    tried.play([{name: parameters[name].default for name in space}])
    more = goal.trials - 1
    if goal.sampler == "tpe":
        ask_optuna(space, more, goal.seed, tried.score)
    elif more and goal.sampler == "grid":
        tried.play(grid_sets(space, more))
    elif more:
        tried.play(random_sets(space, more, goal.seed))
    return sorted(tried.rows, key=lambda row: (beyond(row, goal), place_of(row, goal.metric)))


class _Tries:
    """Plays each set once, and keeps what it gave."""

    def __init__(
        self, player: Player, candles: Market, goal: Goal, spans: Sequence[Span] | None
    ) -> None:
        self._player, self._candles, self._goal, self._spans = player, candles, goal, spans
        self._yearly = calendar_of(timeline(candles)).periods_per_year
        self._known: dict[tuple[int | float, ...], Tried] = {}

    @property
    def rows(self) -> list[Tried]:
        """Every set, in the order of its first try."""
        return list(self._known.values())

    def play(self, sets: Sequence[Values]) -> None:
        """Play those that were not played."""
        new = [values for values in sets if tuple(values.values()) not in self._known]
        for parts in self._player.parts(self._candles, new, self._spans):
            row = joined(parts, self._yearly)
            self._known[tuple(row.values.values())] = row

    def score(self, values: Values) -> float:
        """Play a set; the more, the better, and far below where a line is not met."""
        self.play([values])
        row = self._known[tuple(values.values())]
        missed, (is_unknown, place) = beyond(row, self._goal), place_of(row, self._goal.metric)
        if is_unknown:
            return -2.0 * FAR * (1.0 + missed)
        return -FAR * (1.0 + missed) if missed else max(-place, -FAR)


def beyond(row: Tried, goal: Goal) -> float:
    """How far a set is from the lines of `acceptance`, 0 if it meets them."""
    missed = 0.0
    for line, limit in goal.lines.items():
        figure = row.figures[LINES[line]]
        if figure is None:
            earned = (row.figures["total_pnl"] or 0.0) > 0.0
            missed += 0.0 if LINES[line] in NO_LOSS and earned else 1.0
            continue
        short = limit - figure if line.startswith("min_") else figure - limit
        missed += max(short, 0.0) / max(abs(limit), 1e-9)
    return missed


def ask_optuna(space: Space, trials: int, seed: int, score: Callable[[Values], float]) -> None:
    """Let Optuna's TPE sampler propose sets, one after the other, and tell it their scores.

    Raises:
        WorldError: Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        hint = "pip install '.[optuna]' in a checkout, or take --sampler random."
        raise WorldError("the package optuna is not installed", hint) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler: Any = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for _ in range(trials):
        trial = study.ask()
        values = {
            name: listed[trial.suggest_int(name, 0, len(listed) - 1)]
            for name, listed in space.items()
        }
        study.tell(trial, score(values))


def as_found(optimum: Optimum) -> Mapping[str, Any]:
    """How the set was found, and what would change, for programs."""
    goal, best = optimum.goal, optimum.result.rows[0]
    return {
        "sampler": goal.sampler,
        "seed": goal.seed,
        "trials": goal.trials,
        "space": {name: [v[0], v[-1], len(v)] for name, v in optimum.space.items()},
        "acceptance": goal.lines,
        "left_to_the_gates": goal.left_out,
        "meets_acceptance": optimum.meets_all,
        "defaults": {
            "parameters": dict(optimum.today.values),
            "figures": dict(optimum.today.figures),
        },
        "best": dict(best.values),
    }
