"""A Program to its warm-up: how many bars pass before every value has settled."""

from bot.contract.language import catalog
from bot.contract.language.program import Program, TalibStep
from bot.contract.language.tree import (
    Call,
    Indicator,
    Node,
    Number,
    Parameter,
    Price,
    Shift,
)
from bot.contract.longer import minutes

_SPAN_OF_WINDOW = {"highest", "lowest", "mean", "stdev", "sum", "count"}
_SPAN_OF_CHANGE = {"change", "rising", "falling"}
# The Heikin-Ashi open is half the one before it: where history starts weighs 2^-50 by then.
_HEIKIN_ASHI = {"ha_open": 50, "ha_high": 50, "ha_low": 50}
_ONE_BAR = {"crossed_above", "crossed_below", "previous"}


def warmup(program: Program) -> int:
    """The longest chain of lookbacks, shifts and windows, with TA-Lib's unstable periods added."""
    known: dict[str, int] = {}
    for length, above in program.higher.items():
        # The first candle may be a part of one, and one is open.
        bars = minutes(length) // minutes(program.timeframe)
        known |= {name: (count + 2) * bars - 1 for name, count in _settled(above, {}).items()}
    known |= _settled(program, known)
    chains = [_bars(tree, program, known) for tree in program.rules.values()]
    for period in program.atr_periods.values():
        chains.append(settle("ATR", (("timeperiod", program.value(period)),)))
    return max([*chains, *known.values()], default=0)


def _settled(program: Program, above: dict[str, int]) -> dict[str, int]:
    """Bars before each indicator of a program's own candles has settled."""
    known = dict(above)
    for step in program.own_steps:
        if isinstance(step, TalibStep):
            before = max((_bars(node, program, known) for node in step.inputs), default=0)
            arguments = tuple((key, program.value(value)) for key, value in step.arguments)
            known[step.name] = before + settle(step.function.name, arguments)
        else:
            known[step.name] = _bars(step.tree, program, known)
    return known


def settle(function: str, arguments: tuple[tuple[str, int | float], ...]) -> int:
    """A function's lookback, and three of its periods more where TA-Lib marks it unstable."""
    bars = catalog.lookback(function, arguments)
    described = catalog.describe(function)
    if not described.unstable:
        return bars
    given = dict(arguments)
    periods = [
        int(given.get(argument.name, argument.default))
        for argument in described.arguments
        if argument.kind == "integer" and "period" in argument.name
    ]
    return bars + 3 * max(periods, default=bars)


def _bars(node: Node, program: Program, known: dict[str, int]) -> int:
    """Bars before a part of a rule has settled."""
    if isinstance(node, Indicator):
        return known[node.name]
    if isinstance(node, Price):
        return _HEIKIN_ASHI.get(node.name, 0)
    below = max((_bars(part, program, known) for part in node.parts), default=0)
    if isinstance(node, Shift):
        return below + node.bars
    if not isinstance(node, Call):
        return below
    if node.function in _ONE_BAR:
        return below + 1
    last = node.arguments[-1] if node.arguments else None
    length = 0
    if isinstance(last, Number):
        length = int(last.value)
    elif isinstance(last, Parameter):
        length = int(program.parameters[last.name])
    if node.function in _SPAN_OF_WINDOW:
        return below + length - 1
    if node.function in _SPAN_OF_CHANGE:
        return below + length
    if node.function == "ema":
        return below + settle("EMA", (("timeperiod", length),))
    return below
