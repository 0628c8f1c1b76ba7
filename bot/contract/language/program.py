"""Turns the language sections of a contract into a Program: names, functions and rules resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.contract.document.problems import Fault
from bot.contract.language.language_reader import GROUPS, LanguageReader, section_of
from bot.contract.language.program_steps import Step, Value
from bot.contract.language.tree import Node, Parameter, names_in
from bot.contract.model import Contract

_KNOWN: "dict[str, tuple[Program, list[Fault]]]" = {}
_MOST_KNOWN = 16


@dataclass(frozen=True)
class Program:
    """Holds what the language sections say, ready to be walked, computed or written as code."""

    parameters: Mapping[str, int | float]  # default of each parameter; integers are `int`
    steps: tuple[Step, ...]  # the indicators, each after those it reads
    rules: Mapping[str, Node]  # the tree of each rule that is written as an expression
    prose: Mapping[str, str]  # the text of each rule that is written as prose
    # The ATR period of each risk level that is measured in ATRs, by field name.
    atr_periods: Mapping[str, Value]
    timeframe: str = ""  # of the contract's own candles

    @property
    def own_steps(self) -> tuple[Step, ...]:
        """Gives the indicators of the contract's own candles."""
        return tuple(step for step in self.steps if not step.timeframe)

    @property
    def higher(self) -> dict[str, "Program"]:
        """Gives the indicators of longer candles, as a program for each length of them."""
        lengths = dict.fromkeys(step.timeframe for step in self.steps if step.timeframe)
        return {
            length: Program(
                self.parameters,
                tuple(replace(s, timeframe="") for s in self.steps if s.timeframe == length),
                {},
                {},
                {},
                length,
            )
            for length in lengths
        }

    @property
    def parameters_read(self) -> set[str]:
        """Names the parameters that rules, indicators or ATR levels read; risk may read more."""
        trees = (*self.rules.values(), *(tree for step in self.steps for tree in step.trees))
        given = (value for step in self.steps for _, value in step.arguments)
        values = (*self.atr_periods.values(), *given)
        named = {value.name for value in values if isinstance(value, Parameter)}
        return names_in(trees, Parameter) | named

    def value(
        self, value: Value, parameters: Mapping[str, int | float] | None = None
    ) -> int | float:
        """Gives the number behind an argument that may name a parameter."""
        if isinstance(value, Parameter):
            return (parameters or self.parameters)[value.name]
        return value


def check_language(raw: Mapping[str, object]) -> list[Fault]:
    """Gives every mistake in the language sections of a document."""
    return list(_read(raw)[1])


def read_program(raw: Mapping[str, object]) -> Program:
    """Reads the Program of a document that `check_language` found no mistake in."""
    program, faults = _read(raw)
    if faults:
        raise ValueError(f"the contract was not checked: {faults[0].message}")
    return program


def compile_contract(contract: Contract) -> Program:
    """Resolve the names and parse the rules of a contract that was loaded without a problem."""
    return read_program(contract.model_dump(mode="python", exclude_none=True))


def _read(raw: Mapping[str, object]) -> tuple[Program, list[Fault]]:
    """Read the language sections, once where the same were read before: nothing changes them."""
    market, risk = (section_of(raw, name) for name in ("market", "risk"))
    asked: list[object] = [market.get("timeframe"), market.get("type") == "futures"]
    asked += [section_of(raw, name) for name in ("parameters", "indicators", "rules")]
    asked += [risk.get(name) for name in ("stop_loss", "take_profit")]
    # Of the others only words count, which name parameters.
    tables = [risk.get(name) for name in GROUPS]
    words = [t if isinstance(t, Mapping) else {"": t} for t in tables]
    asked += [[pair for pair in each.items() if isinstance(pair[1], str)] for each in words]
    try:
        key = repr(_frozen(asked))
    except (ValueError, RecursionError):
        return _read_anew(raw)  # a number of thousands of digits, or a deep list
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = _read_anew(raw)
    return _KNOWN[key]


def _frozen(value: object) -> object:
    """Write lists and tuples alike; a document has the first, its model the second."""
    if isinstance(value, Mapping):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _read_anew(raw: Mapping[str, object]) -> tuple[Program, list[Fault]]:
    reader = LanguageReader(raw)
    names = reader.names
    reader.read_parameters()
    reader.read_indicators()
    rules, prose = reader.read_rules()
    periods = reader.read_risk()
    steps = tuple(names.steps)
    program = Program(names.parameters, steps, rules, prose, periods, reader.own_timeframe)
    return program, names.faults
