"""Turns a Program's indicators and rules into lines of code, in the words of either target."""

import textwrap
from collections.abc import Iterable

from bot.coder.template.code_layout import WIDTH, Code, Group, statement
from bot.coder.template.expressions import Dialect, expression, series_of
from bot.contract.language import catalog
from bot.contract.language.program import Program
from bot.contract.language.program_steps import Step, TalibStep, Value
from bot.contract.language.tree import AVERAGES, Indicator, Node, Parameter, Price, names_in
from bot.contract.language.words import in_words
from bot.contract.longer import minutes

BODY = 8
_HEIKIN_ASHI = ("ha_open", "ha_high", "ha_low", "ha_close")
_PRICE_ORDER = ("open", "high", "low", "close", "volume", *AVERAGES, *_HEIKIN_ASHI)
# Names that the body of a method needs for itself, and `l`, which linters refuse.
_TAKEN = {"self", "df", "np", "pd", "talib", "series", "open", "l"}
RULE_TITLES = {
    "enter_long": "Enter long when",
    "exit_long": "Exit long when",
    "enter_short": "Enter short when",
    "exit_short": "Exit short when",
}


class Names:
    """Local variable names: the contract's own words, changed only where they would clash.

    `taken` are names that the body needs for itself; `library` stands before a function's name.
    """

    def __init__(
        self, taken: Iterable[str] = _TAKEN, library: str = "series.", frame: str = "df"
    ) -> None:
        self._given: dict[str, str] = {}
        self._used = set(taken)
        self.dialect = Dialect(self.of_node, library, frame)

    def code(self, node: Node) -> Code:
        """Writes the code of a rule or a part of one."""
        return expression(node, self.dialect)

    def of(self, key: str) -> str:
        """Names the variable that holds a price, a parameter or an indicator's output."""
        if key not in self._given:
            name = key.replace(".", "_").replace("@", "_")
            while name in self._used:
                name += "_"
            self._used.add(name)
            self._given[key] = name
        return self._given[key]

    def within(self, program: Program, timeframe: str) -> "Names":
        """Gives the names of longer candles, beside these."""
        return _LongerNames(self, program, timeframe)

    def of_node(self, node: Price | Parameter | Indicator) -> str:
        """Names the variable behind a leaf of a rule."""
        return self.of(node.key if isinstance(node, Indicator) else node.name)


class _LongerNames(Names):
    """Names in the part of a method that computes with longer candles: `close_4h`, `trend_4h`."""

    def __init__(self, own: Names, program: Program, timeframe: str) -> None:
        self._own = own
        self._parameters = program.parameters
        self._timeframe = timeframe
        frame = own.of(f"{own.dialect.frame}@{timeframe}")
        self.dialect = Dialect(self.of_node, own.dialect.library, frame)

    def of(self, key: str) -> str:
        """Names the variable of longer candles; a parameter is the same for all."""
        return self._own.of(key if key in self._parameters else f"{key}@{self._timeframe}")


def longer_lines(program: Program, names: Names, reading: str) -> list[str]:
    """Writes the lines that compute the indicators of longer candles.

    `reading` is the code that reads a price, with `{frame}` and `{price}` in it.
    """
    lines: list[str] = []
    pad, own = " " * BODY, minutes(program.timeframe)
    for timeframe, above in program.higher.items():
        inner, length = names.within(program, timeframe), minutes(timeframe)
        library, frame = names.dialect.library, inner.dialect.frame
        resampling = Group(f"{library}resampled(", (names.dialect.frame, str(length)))
        lines += ["", f"{pad}# {timeframe} candles, made of the {program.timeframe} ones."]
        lines.append(assign(frame, resampling))
        prices = names_in((tree for step in above.steps for tree in step.trees), Price)
        read = reading.replace("{frame}", frame)
        lines += price_lines(prices, inner, read)
        for step in above.steps:
            lines += step_lines(step, inner)
        lines.append(f"{pad}# A bar sees the last of them that has closed with it.")
        for key in (key for step in above.steps for key in step.keys):
            parts = (inner.of(key), names.dialect.frame, str(length), str(own))
            lines.append(assign(names.of(key), Group(f"{library}merged(", parts)))
    return lines[1:]


def step_lines(step: Step, names: Names) -> list[str]:
    """Writes the lines that compute one indicator."""
    if isinstance(step, TalibStep):
        return [_talib_line(step, names)]
    code = series_of(step.tree, names.dialect)
    return [*words(f"{step.name}:", step.tree), assign(names.of(step.name), code)]


def assign(name: str, code: Code) -> str:
    """Writes an assignment in the body of a method."""
    return statement(f"{name} = ", code, BODY)


def words(start: str, tree: Node) -> list[str]:
    """Writes a rule in words, as a comment above its code."""
    text = f"{start} {in_words(tree)}."
    pad = " " * BODY + "# "
    return textwrap.wrap(
        text, WIDTH, initial_indent=pad, subsequent_indent=pad, break_on_hyphens=False
    )


def price_lines(prices: set[str], names: Names, reading: str) -> list[str]:
    """Writes the lines that read prices; `reading` is the code of one, with `{price}` in it."""
    used = set(prices)
    for compound, parts in AVERAGES.items():
        if compound in used:
            used |= set(parts)
    if used & set(_HEIKIN_ASHI):
        used |= {"open", "high", "low", "close"}
    lines = []
    for price in _PRICE_ORDER:
        if price not in used:
            continue
        if price in AVERAGES:
            added = [names.of(part) for part in AVERAGES[price]]
            text = f"({' + '.join(added)}) / {len(added)}"
            lines.append(assign(names.of(price), text))
        elif price in _HEIKIN_ASHI:
            parts = tuple(names.of(part) for part in ("open", "high", "low", "close"))
            function = price.replace("ha_", "heikin_ashi_")
            code = Group(f"{names.dialect.library}{function}(", parts)
            lines.append(assign(names.of(price), code))
        else:
            lines.append(assign(names.of(price), reading.format(price=price)))
    return lines


def _talib_line(step: TalibStep, names: Names) -> str:
    inputs = tuple(names.code(node) for node in step.inputs)
    if step.function.name == "MAVP":
        inputs = (inputs[0], Group(f"{names.dialect.library}periods(", (inputs[1],)))
    arguments = tuple(
        f"{key}={_talib_argument(step, key, value, names)}" for key, value in step.arguments
    )
    code: Code = Group(f"talib.{step.function.name}(", (*inputs, *arguments))
    whole_numbers = catalog.INTEGER_OUTPUTS & set(step.function.outputs)
    if whole_numbers and len(step.keys) > 1:
        return _with_whole_numbers(step, code, names)
    if whole_numbers:
        code = Group(f"{names.dialect.library}numbers(", (code,))
    variables = [names.of(key) for key in step.keys]
    joined = ", ".join(variables)
    if BODY + len(joined) + 40 <= WIDTH:
        return assign(joined, code)
    # Long names: unpack in a second step, which stays readable.
    whole = names.of(f"{step.name}.outputs")
    unpacked = Group("(", tuple(variables))
    return "\n".join([assign(whole, code), statement("", unpacked, BODY, f" = {whole}")])


def _with_whole_numbers(step: TalibStep, code: Code, names: Names) -> str:
    """Several outputs, of which some are whole numbers: one line each."""
    whole = names.of(f"{step.name}.outputs")
    lines = [assign(whole, code)]
    for place, (key, output) in enumerate(zip(step.keys, step.function.outputs, strict=True)):
        value: Code = f"{whole}[{place}]"
        if output in catalog.INTEGER_OUTPUTS:
            value = Group(f"{names.dialect.library}numbers(", (value,))
        lines.append(assign(names.of(key), value))
    return "\n".join(lines)


def _talib_argument(step: TalibStep, key: str, value: Value, names: Names) -> str:
    argument = step.function.argument(key)
    if argument and argument.kind == "matype" and not isinstance(value, Parameter):
        kind = next(name for name, number in catalog.ma_types().items() if number == value)
        library = names.dialect.library
        return f'{library}ma_type("{kind}")' if library else f"MA_{kind}"
    return names.of(value.name) if isinstance(value, Parameter) else repr(value)
