"""Parameters, indicators and rules as the contract writes them."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Discriminator, Tag

from bot.contract.field_types import Number, Part, Rule, optional, plain_or_mapping, says
from bot.contract.fields import (
    Checked,
    check_argument,
    check_input,
    check_number,
    check_range,
    text,
)
from bot.contract.symbols import TIMEFRAME


def _indicator_form(value: object) -> str:
    keys = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return "<expression>" if "expression" in keys and "function" not in keys else "<function>"


_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
Range = Annotated[tuple[Number, Number], Checked(check_range, _NUMBERS)]
_SERIES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Input = Annotated[str | tuple[str, ...], Checked(check_input, _SERIES)]


class Parameter(Part):
    """A number that rules, indicators and risk may name."""

    default: Annotated[Number, Checked(check_number, {"type": "number"})] = says(
        "The value. If default and range are all integers, so is the parameter.", 30
    )
    range: Range | None = optional(
        "Lowest and highest value for the optimiser; the default lies within.", [15, 40]
    )

    @property
    def is_integer(self) -> bool:
        """Tell whether default and range are all written as integers."""
        return all(isinstance(value, int) for value in (self.default, *(self.range or ())))


_TIMEFRAME_FIELD = optional(
    "Candles of another length, made of the contract's own, that it is computed of: a "
    "multiple of market.timeframe. A bar sees those that have closed.",
    "4h",
)


class TalibIndicator(Part):
    """A TA-Lib function; every other key is one of its arguments, by TA-Lib's own name."""

    later: ClassVar[frozenset[str]] = frozenset({"timeframe"})

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[
        str, Annotated[Number | str, Checked(check_argument, {"type": ["number", "string"]})]
    ]

    function: Annotated[str, text(32)] = says("Name of a TA-Lib function.", "RSI")
    input: Input | None = optional(
        "The series it is computed of: a price, an indicator, `name.output`, or a "
        "list for functions of two inputs. Default: what TA-Lib uses, mostly close.",
        "high",
    )

    timeframe: Annotated[str, TIMEFRAME] | None = _TIMEFRAME_FIELD

    @property
    def arguments(self) -> dict[str, Number | str]:
        """TA-Lib's arguments as the contract gives them."""
        return dict(self.__pydantic_extra__ or {})


class ExpressionIndicator(Part):
    """An indicator written in the rule language."""

    later: ClassVar[frozenset[str]] = frozenset({"timeframe"})

    expression: Rule = says(
        "Any numeric expression of the rule language.", "mean(hl2, 5) - mean(hl2, 34)"
    )
    timeframe: Annotated[str, TIMEFRAME] | None = _TIMEFRAME_FIELD


Indicator = Annotated[
    Annotated[TalibIndicator, Tag("<function>")]
    | Annotated[ExpressionIndicator, Tag("<expression>")],
    Discriminator(_indicator_form),
]


class Prose(Part):
    """A rule in words; a model or its author puts an expression of the rule language beside it."""

    later: ClassVar[frozenset[str]] = frozenset({"expression"})

    prose: Annotated[str, text(2000)] = says(
        "The rule in plain words. Without an expression it needs a model.",
        "buy when it dips below the lower band in an uptrend",
    )
    expression: Rule | None = optional(
        "What the words mean, in the rule language; this alone decides. `stratwright run` lets a "
        "model write it, once.",
        "close < bands.lowerband and close > trend",
    )


RuleOrProse = Annotated[
    Annotated[Rule, Tag("<plain>")] | Annotated[Prose, Tag("<mapping>")],
    Discriminator(plain_or_mapping),
]


class Rules(Part):
    """When to enter and to leave; at least one enter rule."""

    enter_long: RuleOrProse | None = optional(
        "Buy where this is true.", "rsi < 30 and close > trend"
    )
    exit_long: RuleOrProse | None = optional("Sell what was bought where this is true.", "rsi > 70")
    enter_short: RuleOrProse | None = optional(
        "Sell short where this is true; needs market.type futures.", "rsi > 70 and close < trend"
    )
    exit_short: RuleOrProse | None = optional(
        "Buy back what was sold short where this is true.", "rsi < 30"
    )
