"""What a strategy must reach, and how its parameters are searched."""

from typing import Annotated, Literal

from pydantic import Field

from bot.contract.field_types import Part
from bot.contract.fields import amount, choice, whole

Ratio = Annotated[float, amount(least=-100, most=100)]


class Acceptance(Part):
    """What the back-test must reach; every line becomes a check of the acceptance gate."""

    min_trades: Annotated[int, whole(0, 10_000_000)] | None = Field(
        default=None, description="At least so many closed trades.", examples=[10]
    )
    max_drawdown: Annotated[float, amount(above=0, most=1, fraction=True)] | None = Field(
        default=None, description="Largest fall from a peak of equity.", examples=[0.3]
    )
    min_win_rate: Annotated[float, amount(least=0, most=1, fraction=True)] | None = Field(
        default=None, description="Winning trades as a fraction of all.", examples=[0.4]
    )
    min_sharpe: Ratio | None = Field(
        default=None, description="Annualised Sharpe ratio.", examples=[0.5]
    )
    min_sortino: Ratio | None = Field(
        default=None, description="Annualised Sortino ratio.", examples=[0.7]
    )
    min_profit_factor: Annotated[float, amount(least=0, most=1000)] | None = Field(
        default=None, description="Gross profit divided by gross loss.", examples=[1.2]
    )
    min_return: Annotated[float, amount(least=-1)] | None = Field(
        default=None, description="Total return as a fraction of capital.", examples=[0.05]
    )
    max_exposure: Annotated[float, amount(above=0, most=1, fraction=True)] | None = Field(
        default=None, description="Fraction of bars with an open position.", examples=[0.5]
    )


class WalkForward(Part):
    """How the history is cut for the optimiser."""

    train: Annotated[float, amount(above=0, below=1, fraction=True)] = Field(
        default=0.7, description="Fraction of each fold that is searched.", examples=[0.7]
    )
    folds: Annotated[int, whole(1, 100)] = Field(
        default=4, description="Number of folds.", examples=[4]
    )


METRICS = ("sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown")


class Optimize(Part):
    """How the parameters with a range are searched."""

    metric: Annotated[
        Literal["sharpe", "sortino", "profit_factor", "return", "win_rate", "max_drawdown"],
        choice(*METRICS),
    ] = Field(default="sharpe", description="The figure to improve.", examples=["sharpe"])
    trials: Annotated[int, whole(1, 1_000_000)] = Field(
        default=200, description="How many settings are tried.", examples=[200]
    )
    walk_forward: WalkForward | None = Field(
        default=None,
        description="Search on one part of each fold and judge on the rest.",
        examples=[{"train": 0.7, "folds": 4}],
    )
