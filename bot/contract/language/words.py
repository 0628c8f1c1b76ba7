"""Turns a rule's tree into plain English, for comments in generated code and for reviewers."""

from bot.contract.language import tree
from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.operators import OPERATORS
from bot.contract.language.tree import Node

_PRICES = {
    "hl2": "the bar's middle",
    "hlc3": "the typical price",
    "ohlc4": "the average price",
    **{f"ha_{name}": f"the Heikin-Ashi {name}" for name in ("open", "high", "low", "close")},
}


def in_words(node: Node) -> str:
    """Say a rule, or a part of one, in plain English."""
    match node:
        case tree.Number():
            return f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
        case tree.Truth():
            return "always" if node.value else "never"
        case tree.Price():
            return _PRICES.get(node.name, node.name)
        case tree.Parameter():
            return node.name
        case tree.Indicator():
            return node.key
        case tree.Shift():
            return _ago(node)
        case tree.Negative():
            return f"minus {_inner(node.part)}"
        case tree.Arithmetic():
            return f"{_inner(node.left)} {node.operator} {_inner(node.right)}"
        case tree.Comparison():
            verb = OPERATORS[node.operator].words
            return f"{in_words(node.left)} {verb} {in_words(node.right)}"
        case tree.Logic():
            return f" {node.operator} ".join(_operand(part) for part in node.operands)
        case tree.Not():
            return f"it is not the case that {_operand(node.part)}"
        case tree.Call():
            return FUNCTIONS[node.function].words.format(*(_inner(part) for part in node.arguments))
    raise TypeError(f"no words for {type(node).__name__}")


def _ago(node: tree.Shift) -> str:
    if node.bars == 0:
        return in_words(node.part)
    bars = "one bar ago" if node.bars == 1 else f"{node.bars} bars ago"
    return f"{_inner(node.part)} {bars}"


def _inner(node: Node) -> str:
    """Words for a part inside another, bracketed where the reader could lose the thread."""
    words = in_words(node)
    return f"({words})" if isinstance(node, tree.Arithmetic | tree.Logic | tree.Shift) else words


def _operand(node: Node) -> str:
    return f"({in_words(node)})" if isinstance(node, tree.Logic) else in_words(node)
