"""Infers what becomes of texts: cut, joined, kept in frames, or told by own objects."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import ASIDE, DEPTH, MAY_BE_TEXT, NO_TEXT, TEXTUAL_ONLY, Kind, held
from bot.gates.static.texts import (
    CHOOSING,
    COUNTING,
    DECODING,
    JOINING,
    KEEPING_TEXTS,
    LABELS,
    RELABELLING,
    SPELLING,
    is_of_texts,
    is_piece,
)  # fmt: skip

_CANDLES = {"date", "timestamp", "symbol", "open", "high", "low", "close", "volume"}
_LABELLING = {"columns", "dtype", "name", "names"}
# With one of these in a file, nobody knows which column has which name.
_RENAMING = {*RELABELLING, "assign", "insert", "merge", "pivot", "transpose", "T"}


class TextKinds:
    """The part of a file's kinds that speaks of texts; kinds.py has the other."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # What is known so far, by name in a scope, by attribute, by function.
        self.state: dict[tuple[object, str], int] = defaultdict(int)
        self.columns: set[str] = set()  # the columns that the file itself fills
        nodes = source.tree.nodes
        self._relabels = any(
            isinstance(node, ast.Attribute) and node.attr in _RENAMING for node in nodes
        )
        functions = (node.name for node in nodes if isinstance(node, ast.FunctionDef))
        self._operators = [name for name in functions if name.startswith("__")]

    def of(self, node: ast.AST) -> int:
        """Give everything that an expression may be."""
        raise NotImplementedError

    def only(self, node: ast.AST, allowed: int) -> bool:
        """Tell whether an expression is something, and nothing but what is allowed."""
        raise NotImplementedError

    def _made_by(self, node: ast.expr) -> int:
        raise NotImplementedError

    def adds(self, node: ast.BinOp | ast.AugAssign, left: ast.expr, right: ast.expr) -> bool:
        """Tell whether texts may be put together: both sides of `+` may be one, or of `%`."""
        one, other = self.of(left), self.of(right)
        both = one | other
        pieces = both & Kind.FRAME and (both | both >> DEPTH) & ASIDE
        if not (one | other) & (Kind.TEXT | Kind.WORD | Kind.MADE) and not pieces:
            return False
        number = isinstance(right, ast.Constant) and not isinstance(right.value, (str, bytes))
        if isinstance(node.op, ast.Mult):
            return bool((one | other) & Kind.MADE)
        if isinstance(node.op, ast.Mod):
            return not number
        return isinstance(node.op, ast.Add) and bool(one & MAY_BE_TEXT and other & MAY_BE_TEXT)

    def _column(self, mask: int, base: ast.expr, part: ast.expr) -> int:
        """A column of candles holds no texts, another one those that the file puts there."""
        if self._relabels or not isinstance(part, ast.Constant) or self.of(base) & ASIDE:
            return mask
        name = str(part.value)
        known = name in _CANDLES or name in self.columns
        if not known or not self.only(base, Kind.FRAME | Kind.OUTSIDE):
            return mask
        return mask & NO_TEXT | self.state[("column", name)]

    def _cut(self, mask: int, part: ast.expr) -> int:
        """A part of a text is a text that nobody wrote."""
        text = mask & (Kind.TEXT | Kind.WORD)
        sure = isinstance(part, ast.Slice) or not mask & (Kind.PLAIN | Kind.KEYED)
        return Kind.MADE if text and sure else 0

    def _said_by(self, mask: int) -> int:
        """Give the texts that the operators of own classes may give."""
        if not mask & Kind.OWN:
            return 0
        said = self._mix(self.state[("result", name)] for name in self._operators)
        return said & (Kind.TEXT | ASIDE)

    def _spelled(self, mask: int, base: int, name: str, given: list[ast.expr]) -> int:
        """Add what a method makes of texts, and take away what it cannot give."""
        if name in COUNTING and base & (Kind.FRAME | Kind.OUTSIDE):
            return mask & NO_TEXT
        if name in SPELLING and not base & Kind.OWN:
            mask |= Kind.TEXT | self._join(given) & ASIDE
        if name in DECODING:
            return mask | Kind.TEXT | Kind.MADE
        if not base & (Kind.FRAME | Kind.OUTSIDE):
            return mask
        if name in LABELS:
            mask |= Kind.MADE | held(Kind.TEXT | Kind.PIECE)
        if name in RELABELLING:
            given = [item for item in given if self._keyword(item) != "columns"]
        if name in ("astype", "view") and any(is_of_texts(item) for item in given):
            cuts = name == "view" or (base | base >> DEPTH) & TEXTUAL_ONLY
            mask |= Kind.MADE if cuts else 0
        brought = base | self._join(given)
        if name in CHOOSING:
            mask |= (brought | brought >> DEPTH) & ASIDE
        for item in given:
            brought |= self._made_by(item) if self.of(item) & Kind.FUNCTION else 0
        if name in JOINING | RELABELLING and (brought & ASIDE or brought >> DEPTH & ASIDE):
            mask |= Kind.MADE
        return mask

    def _kept(self, name: str, given: list[ast.expr]) -> int:
        """Give what a library that computes keeps of what it is given."""
        mask = self._join(given)
        kept = held((mask | mask >> DEPTH) & (Kind.OTHER | Kind.OWN)) | mask & Kind.MADE
        values = self._join([item for item in given if self._keyword(item) not in _LABELLING])
        texts = (values | values >> DEPTH) & (Kind.TEXT | ASIDE)
        for item in given:  # names of columns are labels, which can be read as texts
            if isinstance(item, ast.Dict) and any(is_piece(_text(key)) for key in item.keys):
                texts |= Kind.PIECE
        if name in KEEPING_TEXTS or name.startswith(("statistics.", "random.")):
            kept |= texts & Kind.PIECE if not name.startswith("pandas.") else 0
            kept |= held(texts) | (Kind.MADE if texts & Kind.MADE else 0)
        dtypes = [item for item in given if self._keyword(item) == "dtype"]
        sized = any(is_of_texts(item) for item in dtypes) and texts
        joins = name.rsplit(".", 1)[-1] in JOINING and texts & ASIDE
        made = sized or joins or (name == "numpy.dtype" and any(map(is_of_texts, given)))
        return kept | (Kind.MADE if made else 0)

    def _told_by(self, mask: int) -> int:
        """Give what a value's text may be, if it is an own object that says so itself."""
        if not mask & Kind.OWN:
            return 0
        told = ("__str__", "__repr__", "__format__")
        return self._mix(self.state[("result", name)] for name in told) & ASIDE

    def _mix(self, masks: Iterable[int]) -> int:
        return reduce(or_, masks, 0)

    def _join(self, nodes: list[ast.expr]) -> int:
        return self._mix(self.of(node) for node in nodes)

    def _keyword(self, node: ast.expr) -> str | None:
        parent = self.source.tree.parent(node)
        return parent.arg if isinstance(parent, ast.keyword) else None


def _text(node: ast.AST | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""
