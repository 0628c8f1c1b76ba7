"""A contract to the words of a reviewer: rules, indicators, parameters and risk.

Strings of the contract pass through as they are; whoever shows a row escapes it.
"""

from dataclasses import dataclass
from typing import Any

from bot.contract.field_types import NumberOrName
from bot.contract.indicators import Prose
from bot.contract.language import catalog
from bot.contract.language.program_steps import ExpressionStep, Step, TalibStep
from bot.contract.language.tree import Parameter
from bot.contract.language.words import in_words
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel, Level
from bot.report.figures import NO_VALUE, counted, rate
from bot.report.story import Story

RULES = {
    "enter_long": "Buy when",
    "exit_long": "Sell what was bought when",
    "enter_short": "Sell short when",
    "exit_short": "Buy back when",
}


@dataclass(frozen=True)
class RuleRow:
    """A rule: its name, its title, what it says, and how the contract writes it."""

    name: str
    title: str
    words: str
    expression: str
    prose: str


def rule_rows(story: Story) -> list[RuleRow]:
    """The rules in words beside the text that the contract has for them."""
    rows = []
    for name, title in RULES.items():
        written = getattr(story.contract.rules, name)
        if written is None:
            continue
        prose = written.prose if isinstance(written, Prose) else ""
        expression = (written.expression or "") if isinstance(written, Prose) else str(written)
        tree = story.program.rules.get(name)
        rows.append(RuleRow(name, title, in_words(tree) if tree else "", expression, prose))
    return rows


def indicator_rows(story: Story) -> list[tuple[str, str, str]]:
    """The indicators: name, what it is, how the contract writes it."""
    written = story.contract.indicators
    return [
        (step.name, _indicator_words(step), _indicator_text(written.get(step.name)))
        for step in story.program.steps
    ]


def _indicator_words(step: Step) -> str:
    words = _computed_words(step)
    return f"{words}, of {step.timeframe} candles that have closed" if step.timeframe else words


def _computed_words(step: Step) -> str:
    if isinstance(step, ExpressionStep):
        return in_words(step.tree)
    inputs = ", ".join(in_words(node) for node in step.inputs)
    settings = ", ".join(f"{key} {_argument(step, key, value)}" for key, value in step.arguments)
    words = f"{step.function.title} of {inputs}" if inputs else step.function.title
    return f"{words}; {settings}" if settings else words


def _argument(step: TalibStep, key: str, value: int | float | Parameter) -> str:
    if isinstance(value, Parameter):
        return value.name
    declared = step.function.argument(key)
    if declared is not None and declared.kind == "matype":
        names = {number: name for name, number in catalog.ma_types().items()}
        return names.get(int(value), str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _indicator_text(written: Any) -> str:
    if written is None:
        return ""
    timeframe = f" on {written.timeframe}" if written.timeframe else ""
    expression = getattr(written, "expression", None)
    if expression is not None:
        return f"{expression}{timeframe}"
    arguments = [f"{key}={value}" for key, value in written.arguments.items()]
    inputs = written.input
    if inputs is not None:
        arguments.insert(0, inputs if isinstance(inputs, str) else ", ".join(inputs))
    return f"{written.function}({', '.join(arguments)}){timeframe}"


def parameter_rows(story: Story) -> list[tuple[str, str, str]]:
    """The parameters: name, value, range."""
    return [
        (name, f"{item.default:g}", f"{item.range[0]:g} to {item.range[1]:g}" if item.range else "")
        for name, item in story.contract.parameters.items()
    ]


def risk_words(contract: Contract) -> list[str]:
    """What a trade may lose, what it aims at and how large it is, a sentence each."""
    risk, number_of = contract.risk, _Numbers(contract)
    lines = [f"Stop: {number_of.level(risk.stop_loss)} against the entry price."]
    if risk.take_profit is not None:
        lines.append(f"Target: {number_of.level(risk.take_profit)} beyond the entry price.")
    if risk.trailing_stop is not None:
        trail = risk.trailing_stop
        line = f"Trailing stop: {number_of.share(trail.distance)} behind the best price so far"
        if trail.activate_at is not None:
            before = "no trailing" if trail.only_after_activation else "the stop's own distance"
            line += f", once in profit by {number_of.share(trail.activate_at)}; {before} until then"
        lines.append(f"{line}. It never loosens.")
    if risk.roi is not None:
        steps = [
            f"{number_of.share(profit)} after {counted(minutes, 'minute')}"
            for minutes, profit in risk.roi.items()
        ]
        held = "; held back while the entry rule is true" if risk.ignore_roi_if_entry_signal else ""
        lines.append(f"Profit taken, net of commission: {', '.join(steps)}{held}.")
    if risk.exit_profit_only:
        lines.append("The exit rule counts only while the trade is in profit after fees.")
    lines.append(f"Size: {_size_words(contract, number_of)}.")
    most = risk.max_positions
    lines.append(f"At most {counted(most, 'position')} at once, one for each symbol.")
    return lines


def _size_words(contract: Contract, number_of: "_Numbers") -> str:
    size = contract.risk.size
    if size.units is not None:
        return f"{number_of.plain(size.units)} units a trade"
    if size.risk is not None:
        most = f", at most {number_of.share(size.cap)} of equity" if size.cap is not None else ""
        return f"as much as loses {number_of.share(size.risk)} of equity at the stop{most}"
    return f"{number_of.share(size.equity if size.equity is not None else 0.1)} of equity a trade"


class _Numbers:
    """Numbers of a contract in words, with the parameter that gives them."""

    def __init__(self, contract: Contract) -> None:
        self._parameters = contract.parameters

    def share(self, value: NumberOrName) -> str:
        """A fraction as a percentage."""
        if not isinstance(value, str):
            return rate(value)
        return f"{value} ({rate(self._default(value))})"

    def plain(self, value: NumberOrName) -> str:
        """A number as it is."""
        if not isinstance(value, str):
            return f"{value:g}"
        found = self._default(value)
        return f"{value} ({NO_VALUE if found is None else format(found, 'g')})"

    def level(self, level: Level) -> str:
        """A level's distance."""
        if isinstance(level, AtrLevel):
            period = self.plain(level.timeperiod)
            return f"{self.plain(level.atr)} average true ranges (of {period} candles)"
        return self.share(level)

    def _default(self, name: str) -> float | None:
        parameter = self._parameters.get(name)
        return None if parameter is None else parameter.default
