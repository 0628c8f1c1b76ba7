"""What a trade may lose, what it aims at, how large it is and what it costs."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, GetJsonSchemaHandler, Tag
from pydantic_core import CoreSchema

from bot.contract.field_types import (
    Flag,
    Fraction,
    Gain,
    NumberOrName,
    Part,
    optional,
    plain_or_mapping,
    says,
)
from bot.contract.fields import Checked, amount, check_minutes, whole, wrong


class AtrLevel(Part):
    """A distance in multiples of the average true range at the decision bar."""

    atr: Annotated[NumberOrName, amount(above=0, most=100, nameable=True)] = says(
        "Multiple of the average true range.", 2.0
    )
    timeperiod: Annotated[int | str, whole(1, 100_000, nameable=True)] = says(
        "Period of TA-Lib's ATR.", 14, default=14
    )


StopLevel = Annotated[
    Annotated[Fraction, Tag("<plain>")] | Annotated[AtrLevel, Tag("<mapping>")],
    Discriminator(plain_or_mapping),
]


TargetLevel = Annotated[
    Annotated[Gain, Tag("<plain>")] | Annotated[AtrLevel, Tag("<mapping>")],
    Discriminator(plain_or_mapping),
]


Level = NumberOrName | AtrLevel


class Trailing(Part):
    """A stop that follows the best price since entry and never loosens."""

    distance: Fraction = says("Distance from the best price, as a fraction of it.", 0.01)
    activate_at: Gain | None = optional(
        "Profit from which the distance holds; before it, stop_loss's distance does.", 0.058
    )
    only_after_activation: Flag = says(
        "Do not trail at all before activate_at.", True, default=False
    )


class _ShortForm:
    """Publish that a plain number stands for the mapping."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        number = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        return {"anyOf": [number, {"type": "string"}, handler(core)]}


def _long_form(value: object) -> object:
    return value if isinstance(value, dict | Trailing) else {"distance": value}


OfEquity = Annotated[NumberOrName, amount(above=0, most=1, fraction=True, nameable=True)]
OfLoss = Annotated[NumberOrName, amount(above=0, most=0.1, fraction=True, nameable=True)]
Volume = Annotated[NumberOrName, amount(above=0, nameable=True)]


class Size(Part):
    """How much is bought; exactly one of equity, units and risk."""

    later: ClassVar[frozenset[str]] = frozenset({"cap"})

    equity: OfEquity | None = optional("Fraction of equity to put in.", 0.1)
    units: Volume | None = optional("A fixed volume.", 1.0)
    risk: OfLoss | None = optional(
        "Fraction of equity lost if the stop is hit; at most 0.10.", 0.01
    )
    cap: OfEquity | None = optional(
        "With risk: the fraction of equity that a position may cost, its costs "
        "included. A near stop asks for more than there is, and such orders are rejected.",
        1.0,
    )

    @property
    def parts(self) -> tuple[str, NumberOrName, NumberOrName | None]:
        """Gives its form, its amount and the cap."""
        given = self.model_dump(exclude_none=True)
        form = next(form for form in ("equity", "units", "risk") if form in given)
        return form, given[form], given.get("cap")


def _by_minutes(table: dict[int, NumberOrName]) -> dict[int, NumberOrName]:
    if not table:
        raise wrong(
            "the table is empty; remove it or give it a line", allowed="{0: 0.04, 60: 0.02}"
        )
    return dict(sorted(table.items()))


Minutes = Annotated[
    int, Checked(check_minutes, {"type": "string", "pattern": "^(0|[1-9][0-9]{0,7})$"})
]


Profit = Annotated[NumberOrName, amount(least=-1, fraction=True, nameable=True)]


class Risk(Part):
    """What a trade may lose, what it aims at and how large it is. All levels are fractions."""

    stop_loss: StopLevel = says(
        "Loss that ends the trade: a fraction of the entry price, or multiples of the "
        "average true range as {atr: 2.0, timeperiod: 14}.",
        0.02,
        {"atr": 2.0, "timeperiod": 14},
    )
    take_profit: TargetLevel | None = optional(
        "Gain that ends the trade, in the same forms; may pass 1.", 0.04
    )
    trailing_stop: Annotated[Trailing, BeforeValidator(_long_form), _ShortForm()] | None = optional(
        "A stop that follows the price: a distance, or a mapping.",
        0.03,
        {"distance": 0.01, "activate_at": 0.058, "only_after_activation": True},
    )
    roi: Annotated[dict[Minutes, Profit], AfterValidator(_by_minutes)] | None = optional(
        "Minutes in the trade to the net profit that ends it, as in Freqtrade.",
        {0: 0.04, 60: 0.02, 240: 0},
    )
    exit_profit_only: Flag = says(
        "Ignore the exit rule while the trade is not in profit after fees.", False, default=False
    )
    ignore_roi_if_entry_signal: Flag = says(
        "Do not take the roi profit while the entry rule is still true.", False, default=False
    )
    size: Size = says("Size of a position.", {"equity": 0.1}, default=Size(equity=0.1))
    max_positions: Annotated[int, whole(1, 1000)] = says(
        "Positions open at once over all symbols, one for each symbol.", 1, default=1
    )


Cost = Annotated[float, amount(least=0, most=0.1, fraction=True)]


class Costs(Part):
    """What trading costs, as fractions of the value, on each side."""

    commission: Cost = says("Fee of each fill.", 0.001, default=0.001)
    slippage: Cost = says("How much worse than the price a fill is.", 0.0005, default=0.0005)
    spread: Cost = says("Distance of bid and ask; half of it on each side.", 0.0, default=0.0)
