"""The operators of the rule language: a row says how each is read, said and computed."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass

from bot.contract.language.functions import MISSING, finite


@dataclass(frozen=True)
class Operator:
    """Describes an operator between two numbers."""

    sign: str
    syntax: type[ast.operator] | type[ast.cmpop]  # what Python's parser calls it
    words: str  # how a sentence says it
    # What it gives at one bar, where both numbers are there.
    answer: Callable[[float, float], float]
    code: str  # its function on whole series, in numpy or in `adapters.series`


def _divided(left: float, right: float) -> float:
    return MISSING if right == 0 else finite(left / right)


_ALL = (
    Operator("+", ast.Add, "+", operator.add, "np.add"),
    Operator("-", ast.Sub, "-", operator.sub, "np.subtract"),
    Operator("*", ast.Mult, "*", operator.mul, "np.multiply"),
    Operator("/", ast.Div, "/", _divided, "divide"),
    Operator("<", ast.Lt, "is below", operator.lt, "np.less"),
    Operator("<=", ast.LtE, "is at or below", operator.le, "np.less_equal"),
    Operator(">", ast.Gt, "is above", operator.gt, "np.greater"),
    Operator(">=", ast.GtE, "is at or above", operator.ge, "np.greater_equal"),
    Operator("==", ast.Eq, "equals", operator.eq, "np.equal"),
    Operator("!=", ast.NotEq, "differs from", operator.ne, "differs"),
)
OPERATORS = {row.sign: row for row in _ALL}
SIGNS: dict[type[ast.AST], str] = {row.syntax: row.sign for row in _ALL}
