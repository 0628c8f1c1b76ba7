"""Turns a contract and its Program into the parts of a Freqtrade strategy file."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal

from bot.coder.template import emitted, freqtrade_risk
from bot.coder.template.code_layout import Group, import_line, statement
from bot.coder.template.freqtrade_names import RESERVED
from bot.coder.template.steps import (
    BODY,
    RULE_TITLES,
    Names,
    assign,
    longer_lines,
    price_lines,
    step_lines,
    words,
)
from bot.coder.template.strategy import quoted
from bot.contract.language import catalog
from bot.contract.language.program import Program
from bot.contract.language.tree import Indicator, Parameter, Price, names_in, walk
from bot.contract.language.warmup import warmup
from bot.contract.model import Contract
from bot.contract.numbers import RiskNumbers

_PRICE = 'np.asarray({frame}["{price}"], dtype=np.float64)'
_TAKEN = {"self", "dataframe", "metadata", "np", "pd", "talib", "datetime", "open", "l"}


def strategy_context(contract: Contract, program: Program) -> dict[str, object]:
    """Gathers everything that the template of the Freqtrade strategy fills in."""
    writer = _Writer(contract, program)
    numbers = RiskNumbers(contract, program)
    indicators = writer.populate_indicators()
    entries = writer.populate_entry_trend()
    exits = writer.populate_exit_trend()
    methods = freqtrade_risk.callbacks(numbers, writer.atr_columns)
    bodies = "\n".join([indicators, entries, exits])
    aliases, functions = emitted.emitted(_functions_in(bodies))
    aliases = "\n".join(part for part in (aliases, _averages(bodies)) if part)
    text = "\n".join([bodies, *methods, aliases, functions])
    parameters = writer.parameter_lines()
    return {
        "timeframe": quoted(contract.market.timeframe),
        "can_short": numbers.shorts,
        "warmup": warmup(program),
        "settings": [f"    {line}" for line in freqtrade_risk.settings(numbers)],
        "parameters": parameters,
        "indicators": indicators,
        "entries": entries,
        "exits": exits,
        "methods": methods,
        "aliases": aliases,
        "functions": functions,
        "imports": _imports(text, "\n".join(parameters)),
    }


def _functions_in(bodies: str) -> set[str]:
    """Finds the functions of the language that the methods' bodies call."""
    tree = ast.parse("def body():\n" + bodies)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used & emitted.function_names()


def _averages(bodies: str) -> str:
    """Writes the numbers of TA-Lib's moving averages; its stubs are at odds over their type."""
    lines = [
        f"MA_{kind}: Any = {number}"
        for kind, number in catalog.ma_types().items()
        if f"=MA_{kind}" in bodies
    ]
    return "\n".join(lines)


def _imports(text: str, parameters: str) -> dict[str, str | bool]:
    """Says what the file imports, from what stands in it."""
    names = ["DecimalParameter", "IntParameter"]
    names += ["stoploss_from_absolute", "timeframe_to_prev_date"]
    from_freqtrade = [name for name in names if f"{name}(" in text + parameters]
    persistence = [name for name in ("Order", "Trade") if f": {name}" in text]
    typing = ["Any", *(["overload"] if "@overload" in text else [])]
    return {
        "typing": ", ".join(typing),
        "talib": "talib." in text,
        "numpy": "np." in text,
        "ndarray": "NDArray" in text,
        "persistence": ", ".join(persistence),
        "strategy": import_line("freqtrade.strategy", [*from_freqtrade, "IStrategy"]),
    }


class _Writer:
    """Writes the methods of one strategy."""

    def __init__(self, contract: Contract, program: Program) -> None:
        self._contract = contract
        self._program = program
        self._columns = self._names()
        for key in self._keys:
            self._columns.of(key)

    @property
    def _keys(self) -> list[str]:
        keys = [key for step in self._program.steps for key in step.keys]
        return keys + [f"{field}.atr" for field in self._program.atr_periods]

    @property
    def atr_columns(self) -> dict[str, str]:
        """Names the column of each ATR, by the field of the contract."""
        return {field: self._columns.of(f"{field}.atr") for field in self._program.atr_periods}

    @staticmethod
    def _names() -> Names:
        return Names(_TAKEN | emitted.function_names(), library="", frame="dataframe")

    # Parameters

    def parameter_lines(self) -> list[str]:
        """Writes the class attributes of the parameters that rules and indicators read."""
        lines = []
        in_risk = RiskNumbers(self._contract, self._program).named
        for name in self._program.parameters:
            if name in self._program.parameters_read:
                lines.append(self._parameter(name, name in in_risk))
        return lines

    def _parameter(self, name: str, in_risk: bool) -> str:
        default = self._program.parameters[name]
        span = self._contract.parameters[name].range
        attribute = attribute_name(name)
        if span is None or span[0] == span[1]:
            return f"    {attribute} = {default!r}"
        low, high = span
        options = [f"default={default!r}"]
        if isinstance(default, int):
            kind, low, high = "IntParameter", int(low), int(high)
        else:
            kind, low, high = "DecimalParameter", float(low), float(high)
            options.append(f"decimals={decimals(low, high, default)}")
        options.append(f'space="{self._space(name)}"')
        if in_risk:
            # Freqtrade cannot vary a stop, a target or a size along with a parameter.
            options.append("optimize=False")
        code = Group(f"{kind}(", (repr(low), repr(high), *options))
        return statement(f"{attribute} = ", code, 4)

    def _space(self, name: str) -> str:
        """`sell` for what only the exit rules read, else `buy`."""
        rules = self._program.rules
        entries = {rule: tree for rule, tree in rules.items() if rule.startswith("enter")}
        before = replace(self._program, rules=entries, atr_periods={}).parameters_read
        return "buy" if name in before else "sell"

    def _value(self, name: str) -> str:
        span = self._contract.parameters[name].range
        attribute = attribute_name(name)
        plain = span is None or span[0] == span[1]
        return f"self.{attribute}" if plain else f"self.{attribute}.value"

    # Methods

    def populate_indicators(self) -> str:
        program, names = self._program, self._names()
        for key in self._keys:
            names.of(key)
        prices = names_in((tree for step in program.own_steps for tree in step.trees), Price)
        used = replace(program, rules={}).parameters_read
        if program.atr_periods:
            prices |= {"high", "low", "close"}
        lines = self._reading(names, used, prices, ())
        if lines and self._keys:
            lines.append("")
        lines += longer_lines(program, names, _PRICE)
        if program.higher and program.own_steps:
            lines.append("")
        for step in program.own_steps:
            lines += step_lines(step, names)
        for field, period in program.atr_periods.items():
            length = names.of(period.name) if isinstance(period, Parameter) else repr(period)
            inputs = tuple(names.of(price) for price in ("high", "low", "close"))
            code = Group("talib.ATR(", (*inputs, f"timeperiod={length}"))
            lines.append(assign(names.of(f"{field}.atr"), code))
        for key in self._keys:
            name = names.of(key)
            lines.append(statement(f'dataframe["{name}"] = ', Group("(", (name,), " "), BODY))
        return "\n".join([*lines, f"{' ' * BODY}return dataframe"])

    def populate_entry_trend(self) -> str:
        rules = [rule for rule in ("enter_long", "enter_short") if rule in self._program.rules]
        names, lines = self._rule_lines(rules, list(self.atr_columns))
        pad = " " * BODY
        for column in self.atr_columns.values():
            lines += ["", f"{pad}# No entry while the average true range is missing."]
            variable = names.of(_key_of(column, self.atr_columns))
            lines += [f"{pad}{rule} = {rule} & ~np.isnan({variable})" for rule in rules]
        lines.append("")
        lines += [f'{pad}dataframe["{rule}"] = {rule}.astype(np.int64)' for rule in rules]
        if rules == ["enter_short"]:
            lines.append(f'{pad}dataframe["enter_long"] = 0')
        return "\n".join([*lines, f"{pad}return dataframe"])

    def populate_exit_trend(self) -> str:
        rules = [rule for rule in ("exit_long", "exit_short") if rule in self._program.rules]
        _, lines = self._rule_lines(rules, [])
        pad = " " * BODY
        if rules:
            lines.append("")
        lines += [f'{pad}dataframe["{rule}"] = {rule}.astype(np.int64)' for rule in rules]
        if "exit_long" not in rules:
            lines.append(f'{pad}dataframe["exit_long"] = 0')
        return "\n".join([*lines, f"{pad}return dataframe"])

    def _rule_lines(self, rules: list[str], atrs: list[str]) -> tuple[Names, list[str]]:
        """Read what some rules need from the frame, then compute each."""
        names = self._names()
        trees = [self._program.rules[rule] for rule in rules]
        found = {
            node.key: node for tree in trees for node in walk(tree) if isinstance(node, Indicator)
        }
        columns = [
            (key, found[key].boolean if key in found else False)
            for key in self._keys
            if key in found or key.removesuffix(".atr") in atrs
        ]
        lines = self._reading(names, names_in(trees, Parameter), names_in(trees, Price), columns)
        for rule in rules:
            lines += ["", *words(RULE_TITLES[rule], self._program.rules[rule])]
            lines.append(assign(rule, names.code(self._program.rules[rule])))
        return names, lines[1:] if lines and not lines[0] else lines

    def _reading(
        self,
        names: Names,
        parameters: set[str],
        prices: set[str],
        columns: Iterable[tuple[str, bool]],
    ) -> list[str]:
        """Writes the lines that fetch parameters, prices and indicators."""
        lines = [
            assign(names.of(name), Group("(", (self._value(name),), " "))
            for name in self._program.parameters
            if name in parameters
        ]
        lines += price_lines(prices, names, _PRICE.replace("{frame}", "dataframe"))
        for key, boolean in columns:
            kind = "np.bool_" if boolean else "np.float64"
            column = f'dataframe["{self._columns.of(key)}"]'
            lines.append(assign(names.of(key), Group("np.asarray(", (column, f"dtype={kind}"))))
        return lines


def attribute_name(parameter: str) -> str:
    """Names the attribute of a parameter, another one where Freqtrade has taken its name."""
    taken = parameter in RESERVED or parameter.startswith("ft_")
    return f"{parameter}_" if taken else parameter


def decimals(*numbers: float) -> int:
    """Decimals that keep these numbers as they are: Freqtrade rounds a DecimalParameter to them."""
    exponents = [Decimal(repr(number)).normalize().as_tuple().exponent for number in numbers]
    return max(3, *(-exponent for exponent in exponents if isinstance(exponent, int)))


def _key_of(column: str, columns: Mapping[str, str]) -> str:
    return next(f"{field}.atr" for field, name in columns.items() if name == column)
