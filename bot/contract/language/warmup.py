"""Turns a Program into its warm-up: how many bars pass before every value has settled."""

from bot.contract.language import catalog
from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.program import Program
from bot.contract.language.program_steps import TalibStep
from bot.contract.language.tree import Call, Indicator, Node, Number, Parameter, Price, Shift
from bot.contract.longer import minutes

# The Heikin-Ashi open is half the one before it: where history starts weighs 2^-50 by then.
_HEIKIN_ASHI = {"ha_open": 50, "ha_high": 50, "ha_low": 50}


def warmup(program: Program) -> int:
    """Adds up the longest chain of lookbacks, shifts, windows and unstable periods."""
    known: dict[str, int] = {}
    for length, above in program.higher.items():
        # The first candle may be a part of one, and one is open.
        bars = minutes(length) // minutes(program.timeframe)
        known |= {name: (count + 2) * bars - 1 for name, count in _settled(above, {}).items()}
    known |= _settled(program, known)
    chains = [_bars(tree, program, known) for tree in program.rules.values()]
    for period in program.atr_periods.values():
        chains.append(catalog.settle("ATR", (("timeperiod", program.value(period)),)))
    return max([*chains, *known.values()], default=0)


def _settled(program: Program, above: dict[str, int]) -> dict[str, int]:
    """Counts the bars before each indicator of a program's own candles has settled."""
    known = dict(above)
    for step in program.own_steps:
        if isinstance(step, TalibStep):
            before = max((_bars(node, program, known) for node in step.inputs), default=0)
            arguments = tuple((key, program.value(value)) for key, value in step.arguments)
            known[step.name] = before + catalog.settle(step.function.name, arguments)
        else:
            known[step.name] = _bars(step.tree, program, known)
    return known


def _bars(node: Node, program: Program, known: dict[str, int]) -> int:
    """Counts the bars before a part of a rule has settled."""
    if isinstance(node, Indicator):
        return known[node.name]
    if isinstance(node, Price):
        return _HEIKIN_ASHI.get(node.name, 0)
    below = max((_bars(part, program, known) for part in node.parts), default=0)
    if isinstance(node, Shift):
        return below + node.bars
    if not isinstance(node, Call):
        return below
    last = node.arguments[-1] if node.arguments else None
    length = 0
    if isinstance(last, Number):
        length = int(last.value)
    elif isinstance(last, Parameter):
        length = int(program.parameters[last.name])
    return below + FUNCTIONS[node.function].span(length)
