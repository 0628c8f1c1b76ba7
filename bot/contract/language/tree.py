"""The typed tree of a rule: what its parts are, and which of them are conditions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from bot.contract.language.functions import FUNCTIONS

Type = Literal["number", "boolean"]


@dataclass(frozen=True)
class Node:
    """Is a part of a rule; `offset`, where it starts in the text, does not count in equality."""

    offset: int = field(compare=False, repr=False)

    @property
    def type(self) -> Type:
        """Tells whether the part is a number or a boolean at each bar."""
        match self:
            case Truth() | Comparison() | Logic() | Not():
                return "boolean"
            case Indicator():
                return "boolean" if self.boolean else "number"
            case Shift():
                return self.part.type
            case Call():
                result = FUNCTIONS[self.function].result
                return self.arguments[0].type if result == "same" else result
        return "number"

    @property
    def parts(self) -> tuple["Node", ...]:
        """Gives the parts directly below this one."""
        below: list[Node] = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            below += value if isinstance(value, tuple) else [value]
        return tuple(part for part in below if isinstance(part, Node))


@dataclass(frozen=True)
class Number(Node):
    """Stands for a literal number."""

    value: int | float


@dataclass(frozen=True)
class Truth(Node):
    """Stands for `always` or `never`."""

    value: bool


# The series that are averages of prices.
AVERAGES = {
    "hl2": ("high", "low"),
    "hlc3": ("high", "low", "close"),
    "ohlc4": ("open", "high", "low", "close"),
}


@dataclass(frozen=True)
class Price(Node):
    """Stands for a series of the candle: open, close, volume, hl2, ohlc4, ha_open, ..."""

    name: str


@dataclass(frozen=True)
class Parameter(Node):
    """Stands for a number that the contract's `parameters` declare."""

    name: str


@dataclass(frozen=True)
class Indicator(Node):
    """Stands for an indicator of the contract, or one of its outputs."""

    name: str
    output: str = ""
    boolean: bool = False

    @property
    def key(self) -> str:
        """Gives the name under which values of it are kept: `rsi`, `bands.upperband`."""
        return f"{self.name}.{self.output}" if self.output else self.name


@dataclass(frozen=True)
class Shift(Node):
    """Stands for `x[3]`: the part as it was some bars ago."""

    part: Node
    bars: int


@dataclass(frozen=True)
class Negative(Node):
    """Stands for unary minus."""

    part: Node


@dataclass(frozen=True)
class Arithmetic(Node):
    """Stands for `+ - * /` of two numbers."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Comparison(Node):
    """Stands for `< <= > >= == !=` of two numbers; a chain becomes a Logic of several."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Logic(Node):
    """Stands for `and` or `or` of two or more booleans."""

    operator: Literal["and", "or"]
    operands: tuple[Node, ...]


@dataclass(frozen=True)
class Not(Node):
    """Stands for `not` of a boolean."""

    part: Node


@dataclass(frozen=True)
class Call(Node):
    """Stands for a function of the language."""

    function: str
    arguments: tuple[Node, ...]


def walk(node: Node) -> Iterator[Node]:
    """Gives every part of a tree, the tree itself first."""
    yield node
    for part in node.parts:
        yield from walk(part)


def names_in(trees: Iterable[Node], kind: type[Parameter] | type[Price]) -> set[str]:
    """Collects the names of the parameters, or of the prices, that trees read."""
    return {part.name for tree in trees for part in walk(tree) if isinstance(part, kind)}


def is_constant(node: Node) -> bool:
    """Tells whether a part is the same number at every bar: only literals and parameters in it."""
    if isinstance(node, Shift) and node.bars > 0:
        return False  # missing on the first bars
    if isinstance(node, Price | Indicator | Truth | Call):
        return False
    return all(is_constant(part) for part in node.parts)
