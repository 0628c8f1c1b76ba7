"""Fixes what a signal says, version 1.0: the contract between who reasons and who trades."""

import uuid
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

Price = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
_TOLERANCE = 1e-6


class Frozen(BaseModel):
    """A value that cannot be changed, with its own fields and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TakeProfit(Frozen):
    """A target, and how much of the position is for it."""

    price: Price
    size_pct: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class RiskPlan(Frozen):
    """Where the trade ends, and how much of the capital it may use at most."""

    initial_stop: Price
    take_profits: tuple[TakeProfit, ...]
    max_capital_pct: Fraction

    @model_validator(mode="after")
    def _two_targets(self) -> "RiskPlan":
        if len(self.take_profits) != 2:
            raise ValueError("exactly 2 take_profits are needed")
        total = sum(target.size_pct for target in self.take_profits)
        if abs(total - 1.0) > _TOLERANCE:
            raise ValueError(f"the size_pct of the take_profits add up to {total}, not to 1.0")
        return self


class TradingSignal(Frozen):
    """One decision to trade; `entry` is {"type": "market"}, with the price it was made at."""

    version: Literal["1.0"] = "1.0"
    decision_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] = Field(
        default_factory=lambda: uuid.uuid4().hex
    )
    timestamp: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    symbol: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,20}/[A-Za-z0-9]{1,20}$")]
    side: Literal["long", "short"]
    confidence: Fraction
    entry: dict[str, Any]
    risk: RiskPlan
    rationale: Annotated[str, Field(max_length=60)]

    @model_validator(mode="after")
    def _order_of_prices(self) -> "TradingSignal":
        if self.entry.get("type") != "market" or set(self.entry) - {"type", "price"}:
            raise ValueError('entry is {"type": "market"}, with or without a price')
        price = self.entry.get("price")
        if price is not None and not (
            isinstance(price, int | float)
            and not isinstance(price, bool)
            and 0 < price < float("inf")
        ):
            raise ValueError("the price of entry is no price")
        tp1, tp2 = self.tp1, self.tp2
        levels = [self.risk.initial_stop, *([] if price is None else [price]), tp1, tp2]
        ordered = levels if self.side == "long" else levels[::-1]
        if any(below >= above for below, above in pairwise(ordered)):
            raise ValueError("stop, entry and take_profits are out of order")
        return self

    @property
    def tp1(self) -> float:
        """Gives the first target."""
        return self.risk.take_profits[0].price

    @property
    def tp2(self) -> float:
        """Gives the second target."""
        return self.risk.take_profits[1].price
