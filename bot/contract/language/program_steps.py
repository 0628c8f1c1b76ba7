"""The indicators of a Program, each as the step that computes it."""

from dataclasses import dataclass
from typing import ClassVar

from bot.contract.language import catalog
from bot.contract.language.tree import Node, Parameter

Value = int | float | Parameter


@dataclass(frozen=True)
class TalibStep:
    """Holds an indicator that TA-Lib computes: its function, inputs in TA-Lib's order, arguments.

    `timeframe` is empty where it is computed of the contract's own candles.
    """

    name: str
    function: catalog.TalibFunction
    inputs: tuple[Node, ...]
    arguments: tuple[tuple[str, Value], ...]
    timeframe: str = ""

    @property
    def trees(self) -> tuple[Node, ...]:
        """Gives the trees that it reads."""
        return self.inputs

    @property
    def keys(self) -> tuple[str, ...]:
        """Gives the names under which its outputs are kept."""
        outputs = self.function.outputs
        return (self.name,) if len(outputs) == 1 else tuple(f"{self.name}.{o}" for o in outputs)


@dataclass(frozen=True)
class ExpressionStep:
    """Holds an indicator that is an expression of the rule language."""

    name: str
    tree: Node
    timeframe: str = ""
    arguments: ClassVar[tuple[tuple[str, Value], ...]] = ()

    @property
    def trees(self) -> tuple[Node, ...]:
        """Gives the tree that it is."""
        return (self.tree,)

    @property
    def keys(self) -> tuple[str, ...]:
        """Gives the name under which its value is kept."""
        return (self.name,)


Step = TalibStep | ExpressionStep
