"""Turns a rule into the rules that could be written instead by mistake."""

from collections.abc import Iterator
from dataclasses import fields, replace

from bot.contract.language.tree import (
    AVERAGES,
    Arithmetic,
    Indicator,
    Logic,
    Node,
    Not,
    Number,
    Price,
    Shift,
)


def mistakes(tree: Node) -> Iterator[Node]:
    """Makes trees with one mistake: a clause dropped, `and` for `or`, a bar late, a step off."""
    yield from _here(tree)
    for item in fields(tree):
        value = getattr(tree, item.name)
        if isinstance(value, Node):
            yield from (_with(tree, item.name, wrong) for wrong in mistakes(value))
        elif isinstance(value, tuple):
            for place, part in enumerate(value):
                for wrong in mistakes(part):
                    yield _with(tree, item.name, (*value[:place], wrong, *value[place + 1 :]))


def _with(tree: Node, name: str, value: Node | tuple[Node, ...]) -> Node:
    return type(tree)(**{**vars(tree), name: value})


def _here(node: Node) -> Iterator[Node]:
    match node:
        case Logic():
            yield replace(node, operator="or" if node.operator == "and" else "and")
            for place in range(len(node.operands)):
                rest = (*node.operands[:place], *node.operands[place + 1 :])
                yield rest[0] if len(rest) == 1 else replace(node, operands=rest)
        case Not():
            yield node.part
        case Price() | Indicator():
            yield Shift(0, node, 1)
            if isinstance(node, Price) and node.name in AVERAGES:
                yield from _with_a_late_part(AVERAGES[node.name])
        case Shift():
            yield replace(node, bars=node.bars + 1)
        case Number():
            yield replace(node, value=_stepped(node.value))


def _with_a_late_part(names: tuple[str, ...]) -> Iterator[Node]:
    """Gives an average of prices of which one is a bar late."""
    for late in names:
        parts = [Price(0, name) for name in names]
        mixed = [Shift(0, part, 1) if part.name == late else part for part in parts]
        total: Node = mixed[0]
        for part in mixed[1:]:
            total = Arithmetic(0, "+", total, part)
        yield Arithmetic(0, "/", total, Number(0, len(names)))


def _stepped(value: int | float) -> int | float:
    if isinstance(value, int):
        return value + 1
    return value * 1.1 if value else 0.1
