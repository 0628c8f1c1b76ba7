"""Turns text into a syntax tree with parents, within limits and without recursion."""

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot.gates.static.file_text import foreign_identifiers, read_text
from bot.gates.static.offence import Offence, printable
from sandbox_runner.rules import LIMITS

NODE_LIMIT = LIMITS["source_parts"]
DEPTH_LIMIT = LIMITS["source_depth"]
# Long before the parser gets deep: brackets, and operators that nest to the right.
BRACKET_LIMIT = LIMITS["source_brackets"]


@dataclass(frozen=True)
class Tree:
    """Holds a parsed file: every node once, in source order, and who its parent is."""

    root: ast.Module
    nodes: tuple[ast.AST, ...]
    parents: dict[ast.AST, ast.AST]
    # Line, column and text of each, which the syntax tree does not have.
    comments: tuple[tuple[int, int, str], ...] = ()

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Give the node around this one."""
        return self.parents.get(node)

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """Give the call whose function this node is."""
        around = self.parents.get(node)
        return around if isinstance(around, ast.Call) and around.func is node else None

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Walk from a node's parent to the module."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)


def last_name(node: ast.AST) -> str:
    """Gives the name that an expression ends with: `b` of `a.b`; nothing if it is no name."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def given(call: ast.Call) -> list[ast.expr]:
    """Lists what a call gives, by place and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def read_tree(content: bytes) -> tuple[Tree | None, list[Offence]]:
    """Parse a file; without a tree there is at least one offence. Never raises."""
    try:
        text, offences = read_text(content)
        if offences:
            return None, offences
        return _parse(text)
    except SyntaxError as error:
        return None, [_syntax_error(error)]
    except (RecursionError, MemoryError):
        return None, [_too_deep()]
    except Exception as error:
        why = f"the file could not be read as Python ({type(error).__name__})"
        return None, [Offence(0, 1, "syntax", why, "write plain Python 3.11")]


def _parse(text: str) -> tuple[Tree | None, list[Offence]]:
    if _bracket_depth(text) > BRACKET_LIMIT:
        return None, [_too_deep()]
    with warnings.catch_warnings():
        # An odd escape in a string is the linter's business.
        warnings.simplefilter("ignore")
        root = ast.parse(text, "candidate", "exec")
        tree = _walk(root)
        if tree is None:
            return None, [_too_deep()]
        # Finds what the parser alone lets through: return outside a function, names bound twice.
        compile(root, "candidate", "exec", dont_inherit=True)
    foreign = foreign_identifiers(text)
    return (None if foreign else replace(tree, comments=comments_of(text))), foreign


def comments_of(text: str) -> tuple[tuple[int, int, str], ...]:
    """Every comment of a text that is valid Python: line, column from 1, the comment itself."""
    if "#" not in text:
        return ()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return tuple(
        (token.start[0], token.start[1] + 1, token.string)
        for token in tokens
        if token.type == tokenize.COMMENT
    )


def _walk(root: ast.Module) -> Tree | None:
    nodes: list[ast.AST] = []
    parents: dict[ast.AST, ast.AST] = {}
    stack: list[tuple[ast.AST, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        nodes.append(node)
        if depth > DEPTH_LIMIT or len(nodes) > NODE_LIMIT:
            return None
        children = list(ast.iter_child_nodes(node))
        for child in reversed(children):
            # Load, Store and operators are shared by all their users and have no place.
            if isinstance(
                child, (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
            ):
                continue
            parents[child] = node
            stack.append((child, depth + 1))
    return Tree(root, tuple(nodes), parents)


def _bracket_depth(text: str) -> int:
    """Count the deepest nesting of brackets; brackets in strings count too, which is no harm."""
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _too_deep() -> Offence:
    why = f"the code is nested too deeply or has more than {NODE_LIMIT} parts"
    return Offence(0, 1, "depth", why, "split long expressions into named steps")


def _syntax_error(error: SyntaxError) -> Offence:
    name = printable((error.text or "").strip()) or "syntax"
    why = f"not valid Python: {printable(error.msg or 'syntax error', 200)}"
    return Offence(
        error.lineno or 0, max(1, error.offset or 1), name, why, "write valid Python 3.11"
    )
