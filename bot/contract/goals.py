"""What a strategy must reach, and how its parameters are searched."""

from typing import Annotated, ClassVar, Literal

from bot.contract.field_types import Number, Part, optional, says
from bot.contract.fields import Checked, amount, check_number, choice, pattern, text, whole

Ratio = Annotated[float, amount(least=-100, most=100)]
Factor = Annotated[float, amount(least=0, most=1000)]
_NUMBER: dict[str, object] = {"type": "number"}
Share = Annotated[float, amount(above=0, most=1, fraction=True)]


class Acceptance(Part):
    """What the back-test must reach; every line becomes a check of the acceptance gate."""

    later: ClassVar[frozenset[str]] = frozenset(
        {"min_calmar", "min_omega", "min_sqn", "min_recovery", "min_over_hold", "min_payoff"}
        | {"min_expectancy_r", "min_alpha", "max_ulcer", "max_volatility", "max_beta"}
        | {"max_correlation", "max_time_under_water", "max_losses_in_a_row"}
    )

    min_trades: Annotated[int, whole(0, 10_000_000)] | None = optional(
        "At least so many closed trades.", 10
    )
    max_drawdown: Share | None = optional("Largest fall from a peak of equity.", 0.3)
    min_win_rate: Annotated[float, amount(least=0, most=1, fraction=True)] | None = optional(
        "Winning trades as a fraction of all.", 0.4
    )
    min_sharpe: Ratio | None = optional("Annualised Sharpe ratio.", 0.5)
    min_sortino: Ratio | None = optional("Annualised Sortino ratio.", 0.7)
    min_profit_factor: Factor | None = optional("Gross profit divided by gross loss.", 1.2)
    min_return: Annotated[float, amount(least=-1)] | None = optional(
        "Total return as a fraction of capital.", 0.05
    )
    min_calmar: Ratio | None = optional("Annual return over the largest fall.", 0.5)
    min_omega: Factor | None = optional("Sum of gains over sum of losses.", 1.1)
    min_sqn: Ratio | None = optional("System quality number of the trades.", 1.6)
    min_recovery: Ratio | None = optional("Total return over the largest fall.", 1.0)
    min_over_hold: Annotated[float, amount(least=-100, most=1000)] | None = optional(
        "Total return less that of buying and holding.", 0.0
    )
    min_payoff: Factor | None = optional("Mean win over mean loss.", 1.5)
    min_expectancy_r: Ratio | None = optional(
        "Mean profit of a trade over what it risked at first.", 0.1
    )
    min_alpha: Ratio | None = optional("Yearly return that holding leaves open.", 0.0)
    max_beta: Ratio | None = optional("How far it moves with holding.", 0.8)
    max_correlation: Annotated[float, amount(least=-1, most=1)] | None = optional(
        "Correlation to holding, candle by candle.", 0.7
    )
    max_time_under_water: Share | None = optional("Fraction of candles below an earlier peak.", 0.9)
    max_losses_in_a_row: Annotated[int, whole(0, 10_000_000)] | None = optional(
        "Most losing trades in a row.", 8
    )
    max_ulcer: Share | None = optional("Root mean square of the falls (ulcer index).", 0.1)
    max_volatility: Annotated[float, amount(above=0, most=100)] | None = optional(
        "Annualised deviation of the returns.", 0.4
    )
    max_exposure: Share | None = optional("Fraction of bars with an open position.", 0.5)


class WalkForward(Part):
    """How the history is cut for the optimiser."""

    later: ClassVar[frozenset[str]] = frozenset({"split"})

    train: Annotated[float, amount(above=0, below=1, fraction=True)] = says(
        "Fraction of each fold that is searched.", 0.7, default=0.7
    )
    folds: Annotated[int, whole(1, 100)] = says("Number of folds.", 4, default=4)
    split: Annotated[
        Literal["rolling", "anchored", "combinatorial"],
        choice("rolling", "anchored", "combinatorial"),
    ] = says(
        "rolling searches the part before each judged one, anchored all before it; combinatorial "
        "cuts `folds` groups and judges every two of them by a search of the others (no `train`).",
        "anchored",
        default="rolling",
    )


METRICS = ("sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown")


class Optimize(Part):
    """How the parameters with a range are searched."""

    later: ClassVar[frozenset[str]] = frozenset({"sampler"})

    metric: Annotated[
        Literal["sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown"],
        choice(*METRICS),
    ] = says("The figure to improve.", "sharpe", default="sharpe")
    trials: Annotated[int, whole(1, 1_000_000)] = says(
        "How many settings are tried.", 200, default=200
    )
    sampler: Annotated[Literal["random", "grid", "tpe"], choice("random", "grid", "tpe")] = says(
        "Who proposes settings: chance, a grid, or Optuna's TPE (extra `optuna`).",
        "tpe",
        default="random",
    )
    walk_forward: WalkForward | None = optional(
        "Search on one part of each fold and judge on the rest.", {"train": 0.7, "folds": 4}
    )


class Optimized(Part):
    """What a search wrote: its values are the defaults now, and nothing is searched again.

    A contract that was changed since is another one, and is searched anew.
    """

    searched: Annotated[str, pattern(r"sha256:[0-9a-f]{64}", "a contract's digest")] = says(
        "Digest of the contract that was searched.", f"sha256:{'0' * 64}"
    )
    seed: Annotated[int, whole(0, 2**32 - 1)] = says("The seed of the search.", 7)
    sets: Annotated[int, whole(1, 10_000_000)] = says("How many settings were tried.", 200)
    was: dict[Annotated[str, text(64)], Annotated[Number, Checked(check_number, _NUMBER)]] = says(
        "The defaults before it, of every parameter that was searched.", {"oversold": 30}
    )
