"""Turns a rule's tree into numpy code that reads almost like the rule."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.coder.template.code_layout import Code, Group
from bot.contract.language import tree
from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.operators import OPERATORS
from bot.contract.language.tree import Node, is_constant

NameOf = Callable[[tree.Price | tree.Parameter | tree.Indicator], str]


@dataclass(frozen=True)
class Dialect:
    """Says how a target writes the same rule."""

    name_of: NameOf  # the local variable that holds a price, a parameter or an indicator
    library: str = "series."  # what stands before the name of a function of the language
    frame: str = "df"  # the variable that holds the candles


def expression(node: Node, dialect: Dialect) -> Code:
    """Writes the code of a rule or a part of one."""
    match node:
        case tree.Number():
            return repr(node.value)
        case tree.Truth():
            return f"{dialect.library}{'always' if node.value else 'never'}({dialect.frame})"
        case tree.Price() | tree.Parameter() | tree.Indicator():
            return dialect.name_of(node)
        case tree.Shift():
            if node.bars == 0:
                return expression(node.part, dialect)
            return Group(f"{dialect.library}ago(", (series_of(node.part, dialect), str(node.bars)))
        case tree.Negative():
            return _prefixed("-", expression(node.part, dialect))
        case tree.Arithmetic() | tree.Comparison():
            return _between(node, dialect)
        case tree.Logic():
            sign = " & " if node.operator == "and" else " | "
            return Group("(", tuple(expression(part, dialect) for part in node.operands), sign)
        case tree.Not():
            return _prefixed("~", expression(node.part, dialect))
        case tree.Call():
            return _call(node, dialect)
    raise TypeError(f"no code for {type(node).__name__}")


def _prefixed(sign: str, code: Code) -> Code:
    if isinstance(code, str):
        return f"{sign}({code})" if code.startswith(("-", "~")) else f"{sign}{code}"
    return Group(sign + code.opening, code.parts, code.joint)


def _between(node: tree.Arithmetic | tree.Comparison, dialect: Dialect) -> Code:
    left = expression(node.left, dialect)
    if isinstance(node, tree.Comparison) and is_constant(node.left) and is_constant(node.right):
        left = series_of(node.left, dialect)
    sides = (left, expression(node.right, dialect))
    code = OPERATORS[node.operator].code
    if not code.startswith("np."):
        return Group(f"{dialect.library}{code}(", sides)
    joint = f" {node.operator} "
    if isinstance(left, Group) and (left.opening, left.joint) == ("(", joint):
        # a + b + c is added from the left in the language as in Python.
        return Group("(", (*left.parts, sides[1]), joint)
    return Group("(", sides, joint)


def series_of(node: Node, dialect: Dialect) -> Code:
    """Writes the code of a part that must be a series, even where its value never changes."""
    code = expression(node, dialect)
    if node.type == "boolean" or not is_constant(node):
        return code  # a comparison of constants is a series already
    return Group(f"{dialect.library}constant(", (dialect.frame, code))


def _call(node: tree.Call, dialect: Dialect) -> Code:
    function = FUNCTIONS[node.function]
    library = "" if function.spelling.startswith("np.") else dialect.library
    if not node.arguments:
        return f"{library}{function.spelling}({dialect.frame})"
    first, *rest = node.arguments
    plain = function.is_of_two and not all(map(is_constant, node.arguments))
    opening = expression(first, dialect) if plain else series_of(first, dialect)
    others = (expression(part, dialect) for part in rest)
    return Group(f"{library}{function.spelling}(", (opening, *others, *map(str, function.fixed)))
