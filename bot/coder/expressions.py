"""A rule's tree to numpy code that reads almost like the rule."""

from collections.abc import Callable

from bot.coder.layout import Code, Group
from bot.contract.tree import (
    Arithmetic,
    Call,
    Comparison,
    Indicator,
    Logic,
    Negative,
    Node,
    Not,
    Number,
    Parameter,
    Price,
    Shift,
    Truth,
    is_constant,
)

NameOf = Callable[[Price | Parameter | Indicator], str]

_SPELLING = {
    "abs": "np.abs",
    "min": "np.minimum",
    "max": "np.maximum",
    "sum": "series.total",
}


def expression(node: Node, name_of: NameOf) -> Code:
    """The code of a rule or a part of one.

    Args:
        node: the tree.
        name_of: the local variable that holds a price, a parameter or an indicator.
    """
    match node:
        case Number():
            return repr(node.value)
        case Truth():
            return "series.always(df)" if node.value else "series.never(df)"
        case Price() | Parameter() | Indicator():
            return name_of(node)
        case Shift():
            if node.bars == 0:
                return expression(node.part, name_of)
            return Group("series.ago(", (_series(node.part, name_of), str(node.bars)))
        case Negative():
            return _prefixed("-", expression(node.part, name_of))
        case Arithmetic():
            return _arithmetic(node, name_of)
        case Comparison():
            return _comparison(node, name_of)
        case Logic():
            sign = " & " if node.operator == "and" else " | "
            return Group("(", tuple(expression(part, name_of) for part in node.operands), sign)
        case Not():
            return _prefixed("~", expression(node.part, name_of))
        case Call():
            return _call(node, name_of)
    raise TypeError(f"no code for {type(node).__name__}")


def _prefixed(sign: str, code: Code) -> Code:
    if isinstance(code, str):
        return f"{sign}({code})" if code.startswith(("-", "~")) else f"{sign}{code}"
    return Group(sign + code.opening, code.parts, code.joint)


def _arithmetic(node: Arithmetic, name_of: NameOf) -> Code:
    sides = (expression(node.left, name_of), expression(node.right, name_of))
    if node.operator == "/":
        return Group("series.divide(", sides)
    return Group("(", sides, f" {node.operator} ")


def _comparison(node: Comparison, name_of: NameOf) -> Code:
    left = expression(node.left, name_of)
    if is_constant(node.left) and is_constant(node.right):
        left = _series(node.left, name_of)
    sides = (left, expression(node.right, name_of))
    if node.operator == "!=":
        return Group("series.differs(", sides)
    return Group("(", sides, f" {node.operator} ")


def _series(node: Node, name_of: NameOf) -> Code:
    """The code of a part that must be a series, even where its value never changes."""
    code = expression(node, name_of)
    if node.type == "boolean" or not is_constant(node):
        return code  # a comparison of constants is written as a series already
    return Group("series.constant(", ("df", code))


def _call(node: Call, name_of: NameOf) -> Code:
    if node.function in ("hour", "weekday"):
        return f"series.{node.function}(df)"
    if node.function == "previous":
        return Group("series.ago(", (_series(node.arguments[0], name_of), "1"))
    first, *rest = node.arguments
    all_constant = all(map(is_constant, node.arguments))
    two_series = node.function in ("crossed_above", "crossed_below", "min", "max", "power")
    if two_series and not all_constant:
        opening = expression(first, name_of)
    else:
        opening = _series(first, name_of)
    spelling = _SPELLING.get(node.function, f"series.{node.function}")
    return Group(f"{spelling}(", (opening, *(expression(part, name_of) for part in rest)))
