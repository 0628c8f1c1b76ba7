"""Infers what an expression may be; a name has the same kinds wherever it stands.

A kind is a bit; an expression has the bits of everything that it may be. The bit of a kind moved
up by `DEPTH` says that a container may hold such a value. What nothing is known of is `OTHER`.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_

from bot.gates.static.examined_file import Source
from bot.gates.static.syntax_tree import given
from bot.gates.static.texts import (
    CHOOSING,
    COUNTING,
    DECODING,
    JOINING,
    KEEPING_TEXTS,
    LABELS,
    RELABELLING,
    SPELLING,
    is_clock_word,
    is_of_texts,
    is_piece,
    speaks_anywhere,
    spells_letters,
)  # fmt: skip

DEPTH = 14


class Kind:
    """One bit for each kind of value; plain numbers, because they are combined very often."""

    OWN = 1  # an instance of a class of this file
    CLASS = 2  # a class of this file
    FUNCTION = 4  # a function, a lambda or a method of this file
    FRAME = 8  # what pandas, numpy and the indicators compute with
    TEXT = 16
    PLAIN = 32  # numbers, dates, and Python's containers
    OUTSIDE = 64  # what the caller of the file hands over
    MOCK = 128  # a stand-in of a test
    OTHER = 256  # everything else: loggers, contexts, library objects, classes of libraries
    NONE = 512  # it has no attributes and no elements
    WORD = 1024  # a text that is written out and names a listed method: "mean"
    KEYED = 2048  # a dictionary, whose keys are texts
    MADE = 4096  # the file puts it together, and it may read "now"
    PIECE = 8192  # beside TEXT: a part of such a text, as "no"


_STARS = ((1 << DEPTH) - 1) << DEPTH
_ASIDE = Kind.MADE | Kind.PIECE  # they say of a text how it came about
_MADE = Kind.MADE | Kind.MADE << DEPTH
_TEXTS_ONLY = Kind.TEXT | Kind.WORD | _ASIDE
_NO_TEXT = ~(_TEXTS_ONLY | _TEXTS_ONLY << DEPTH)
_TEXTUAL = _TEXTS_ONLY | Kind.OUTSIDE | Kind.OTHER | Kind.FRAME
_DATA = ("numpy", "pandas", "talib", "technical", "ta", "pandas_ta", "scipy", "sklearn", "math",
         "statistics", "random")  # fmt: skip
_DATA_ROOMS = ("freqtrade.vendor", "adapters.series")
_VALUES = ("decimal", "datetime", "fractions", "numbers", "operator")
_BOXES = ("collections", "itertools", "heapq", "bisect")
_KEEPING = {"copy.copy", "copy.deepcopy", "dataclasses.replace"}
_TEXTS = {"str", "repr", "format", "chr", "ascii", "hex", "bin", "oct"}
_ONE_OF = {"min", "max", "next", "sum", "abs", "round"}
_MANY_OF = {"list", "tuple", "set", "frozenset", "dict", "sorted", "reversed", "zip", "enumerate",
            "filter", "map", "iter"}  # fmt: skip
_WITH_DEFAULT = {"get", "pop", "setdefault"}
_REWRITING = {name for name in (*dir(str), "decode") if not name.startswith(("is", "_"))} - {
    "count", "endswith", "find", "index", "rfind", "rindex", "startswith"}  # fmt: skip
_LABELLING = {"columns", "dtype", "name", "names"}
_TELLING = {"functools", "json", "re", "string"}
# Base classes whose attributes the caller fills.
_CANDLES = {"date", "timestamp", "symbol", "open", "high", "low", "close", "volume"}
_CALLERS = ("adapters.", "freqtrade.", "enum.", "typing.", "abc.")
_UNSEEN = {"type", "getattr", "open", "super", "property", "object"}


def held(mask: int) -> int:
    """Give the mask of a container that holds such values."""
    return ((mask & ~_STARS) << DEPTH) | (mask & _STARS)


class Kinds:
    """The kinds of a file's expressions, once its flows have been followed to the end."""

    def __init__(self, source: Source) -> None:
        self.source = source
        # What is known so far, by name in a scope, by attribute, by function.
        self.state: dict[tuple[object, str], int] = defaultdict(int)
        self.mutated = 0  # what may have been put into a container that nobody can name
        self.stored: set[str] = set()  # the attributes that the file itself gives values
        names = [node.name for node in source.attributes_of]
        self.columns: set[str] = set()  # the columns that the file itself fills
        relabels = {*RELABELLING, "assign", "insert", "merge", "pivot", "transpose", "T"}
        self._relabels = any(isinstance(node, ast.Attribute) and node.attr in relabels
                             for node in source.tree.nodes)  # fmt: skip
        self._enums = {name for name in source.enums if names.count(name) == 1}
        # What own classes have from Python's containers and errors gives what was put in.
        bases = {
            source.listed.get(base, "") for node in source.attributes_of for base in node.bases
        }
        theirs = [getattr(builtins, name.rsplit(".", 1)[-1], dict) for name in bases
                  if name and not name.startswith(_CALLERS)]  # fmt: skip
        self._inherited = {name for kind in theirs for name in dir(kind)}
        self._memo: dict[ast.AST, int] = {}

    def forget(self) -> None:
        """Start another round."""
        self._memo.clear()

    def of(self, node: ast.AST) -> int:
        """Give everything that an expression may be."""
        known = self._memo.get(node)
        if known is None:
            known = self._memo[node] = self._evaluate(node)
        return known

    def only(self, node: ast.AST, allowed: int) -> bool:
        """Tell whether an expression is something, and nothing but what is allowed."""
        mask = self.of(node) & ~_STARS & ~(Kind.NONE | _ASIDE)
        return mask != 0 and not mask & ~allowed

    def element_of(self, node: ast.expr, *, keys: bool = True) -> int:
        """Give what comes out of an expression; out of an enumeration, its members.

        A loop over a dictionary gives its keys, a subscript never does.
        """
        if isinstance(node, ast.Name) and node.id in self._enums:
            return Kind.OWN if self.of(node) == Kind.CLASS else Kind.OTHER
        return self.element(self.of(node) & ~(0 if keys else Kind.KEYED))

    def element(self, mask: int) -> int:
        """Give what comes out of a value by iterating over it or by a subscript."""
        found = (mask >> DEPTH) | (
            mask & (_STARS | Kind.TEXT | Kind.MADE | Kind.FRAME | Kind.OUTSIDE)
        )
        if mask & (Kind.KEYED | Kind.WORD):
            found |= Kind.TEXT
        if mask & (Kind.TEXT | Kind.WORD):
            found |= Kind.PIECE  # a letter
        if mask & Kind.PLAIN:
            found |= Kind.PLAIN | self.mutated
        if mask & Kind.MOCK:
            found |= Kind.MOCK
        if mask & (Kind.OWN | Kind.FUNCTION | Kind.OTHER | Kind.CLASS):
            found |= Kind.OTHER | self._said_by(mask)
        return found

    def _said_by(self, mask: int) -> int:
        """Give the texts that the operators of own classes may give."""
        if not mask & Kind.OWN:
            return 0
        results = [held for (place, name), held in list(self.state.items())
                   if place == "result" and name.startswith("__")]  # fmt: skip
        return self._mix(results) & (Kind.TEXT | _ASIDE)

    def _evaluate(self, node: ast.AST) -> int:
        match node:
            case ast.Constant(value=value):
                if value is None:
                    return Kind.NONE
                if isinstance(value, (str, bytes)):
                    word = value in self.source.words.by_name_words
                    piece = Kind.PIECE if is_piece(value) else 0
                    return piece | (Kind.WORD if word else Kind.TEXT)
                return Kind.PLAIN
            case ast.JoinedStr(values=parts):
                if speaks_anywhere(node) or not parts:
                    return Kind.TEXT
                made = len(parts) > 1 or is_clock_word(parts[0]) or self.of(parts[0]) & Kind.MADE
                return Kind.TEXT | (Kind.MADE if made else Kind.PIECE)
            case ast.FormattedValue(value=value, format_spec=spec):
                letters = Kind.MADE if spells_letters(spec) else 0
                return self.of(value) | self._told_by(self.of(value)) | letters
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                return Kind.FUNCTION
            case ast.Subscript(value=base, slice=part):
                mask = self.element_of(base, keys=False) | self._cut(self.of(base), part)
                return self._column(mask, base, part)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return Kind.PLAIN | self._all(items)
            case ast.Dict(keys=keys, values=values):
                return Kind.PLAIN | self._keys(keys) | self._entries(keys, values)
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item):
                return Kind.PLAIN | held(self.of(item))
            case ast.DictComp(key=key, value=value):
                return Kind.PLAIN | self._keys([key]) | held(self.of(value))
            case ast.IfExp(body=first, orelse=second):
                return self.of(first) | self.of(second)
            case ast.BoolOp(values=values):
                return self._join(values)
            case ast.BinOp(left=left, right=right):
                mask = self.computed(self.of(left) | self.of(right))
                made = self.adds(node, left, right) and not speaks_anywhere(node)
                said = self._said_by(self.of(left) | self.of(right)) & Kind.MADE
                return mask & ~_MADE | said | (Kind.MADE if made else 0)
            case ast.UnaryOp(operand=operand):
                return self.computed(self.of(operand)) & ~_MADE
            case ast.Compare(left=left, comparators=others):
                return self.computed(self._join([left, *others])) & _NO_TEXT | Kind.PLAIN
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.Starred(value=value):
                return self.element(self.of(value))
            case ast.Slice():
                return Kind.PLAIN
        return Kind.OTHER

    def adds(self, node: ast.BinOp | ast.AugAssign, left: ast.expr, right: ast.expr) -> bool:
        """Tell whether texts may be put together: both sides of `+` may be one, or of `%`."""
        one, other = self.of(left), self.of(right)
        both = one | other
        pieces = both & Kind.FRAME and (both | both >> DEPTH) & _ASIDE
        if not (one | other) & (Kind.TEXT | Kind.WORD | Kind.MADE) and not pieces:
            return False
        number = isinstance(right, ast.Constant) and not isinstance(right.value, (str, bytes))
        if isinstance(node.op, ast.Mult):
            return bool((one | other) & Kind.MADE)
        if isinstance(node.op, ast.Mod):
            return not number
        return isinstance(node.op, ast.Add) and bool(one & _TEXTUAL and other & _TEXTUAL)

    def _column(self, mask: int, base: ast.expr, part: ast.expr) -> int:
        """A column of candles holds no texts, another one those that the file puts there."""
        if self._relabels or not isinstance(part, ast.Constant) or self.of(base) & _ASIDE:
            return mask
        name = str(part.value)
        known = name in _CANDLES or name in self.columns
        if not known or not self.only(base, Kind.FRAME | Kind.OUTSIDE):
            return mask
        return mask & _NO_TEXT | self.state[("column", name)]

    def _cut(self, mask: int, part: ast.expr) -> int:
        """A part of a text is a text that nobody wrote."""
        text = mask & (Kind.TEXT | Kind.WORD)
        sure = isinstance(part, ast.Slice) or not mask & (Kind.PLAIN | Kind.KEYED)
        return Kind.MADE if text and sure else 0

    def _keys(self, keys: list[ast.expr | None]) -> int:
        """Texts as keys make a dictionary; other keys count as what it holds."""
        mask = self._join([key for key in keys if key])
        texts = mask & (Kind.TEXT | Kind.WORD | Kind.FRAME | Kind.OUTSIDE | Kind.PLAIN)
        letters = _TEXTS_ONLY << DEPTH  # of a text that is a key
        clock = Kind.MADE if any(is_clock_word(key) for key in keys) else 0
        return (Kind.KEYED if texts else 0) | clock | held(mask & ~texts & ~letters & ~Kind.PIECE)

    def _entries(self, keys: list[ast.expr | None], values: list[ast.expr]) -> int:
        mask = 0
        for key, value in zip(keys, values, strict=True):
            mask |= held(self.of(value)) if key else self._spread(self.of(value))
        return mask

    def _spread(self, mask: int) -> int:
        """Give what `**mapping` brings along."""
        if mask & ~_STARS & ~(Kind.PLAIN | Kind.KEYED):
            return held(self.element(mask)) | Kind.KEYED
        return mask | held(self.mutated)

    def _join(self, nodes: list[ast.expr]) -> int:
        return self._mix(self.of(node) for node in nodes)

    def _mix(self, masks: Iterable[int]) -> int:
        return reduce(or_, masks, 0)

    def _all(self, nodes: list[ast.expr]) -> int:
        return held(self._join(nodes))

    def computed(self, mask: int) -> int:
        """An operator of an own class may give anything; of other values, values of their kind."""
        strange = mask & (Kind.OWN | Kind.OTHER | Kind.FUNCTION | Kind.CLASS)
        mask |= self._said_by(mask)
        mask |= Kind.TEXT if mask & Kind.WORD else 0
        return (mask & ~strange & ~Kind.WORD) | (Kind.OTHER if strange else 0)

    def _name(self, node: ast.Name) -> int:
        if node in self.source.modules or node in self.source.refused_chains:
            return Kind.OTHER
        scope, bindings = self.source.meaning(node)
        if scope is None:
            return Kind.OTHER
        mask = 0
        for kind, _ in self.source.kinds(node):
            match kind:
                case "function":
                    mask |= Kind.FUNCTION
                case "class":
                    mask |= Kind.CLASS
                case "value" | "argument":
                    mask |= self.state[(scope, node.id)]
                case _:
                    mask |= Kind.OTHER
        if scope.is_class and len(bindings) > len(scope.names.get(node.id, ())):
            mask |= Kind.OTHER  # it may be the name of the scope around the class
        return mask

    def _attribute(self, node: ast.Attribute) -> int:
        if node in self.source.modules or node in self.source.refused_chains:
            return Kind.OTHER
        if "." in self.source.listed.get(node, ""):
            return Kind.FRAME if is_data(self.source.listed[node]) else Kind.OTHER
        return self.attribute_of(self.of(node.value), node.attr)

    def attribute_of(self, mask: int, name: str) -> int:
        """Give what an attribute of such a value may be."""
        if name == "args" and mask & (Kind.OTHER | Kind.OWN):
            return Kind.OTHER | held(Kind.OTHER | Kind.TEXT | Kind.PIECE)  # what an error says
        found = mask & (Kind.FRAME | Kind.OUTSIDE | Kind.MOCK | Kind.PLAIN | Kind.MADE)
        if mask & (Kind.FRAME | Kind.OUTSIDE):
            found |= Kind.PIECE if name in ("name", "names") else 0
            labels = name in LABELS or name == "str"
            found |= Kind.MADE | held(Kind.TEXT | Kind.PIECE) if labels else 0
        if mask & Kind.FRAME:
            found |= mask & _STARS
        if mask & Kind.PLAIN:
            found |= (mask >> DEPTH) | self.mutated
        if mask & (Kind.TEXT | Kind.WORD):
            found |= Kind.PLAIN
        if mask & (Kind.OWN | Kind.CLASS):
            found |= self._stored(name)
            found |= Kind.TEXT | Kind.MADE if name == "name" and self._enums else 0
        if mask & (Kind.OTHER | Kind.FUNCTION):
            found |= Kind.OTHER
        return found

    def _stored(self, name: str) -> int:
        """Give what the file stores under an attribute, and what a library's base class may."""
        if name not in self.stored:
            return Kind.OTHER if name in self._inherited else Kind.OUTSIDE
        theirs = Kind.OUTSIDE if name in self.source.words.held else 0
        return self.state[("attribute", name)] | theirs

    def _call(self, node: ast.Call) -> int:
        function = node.func
        listed = self.source.listed.get(function, "")
        arguments = given(node)
        if "." in listed:
            return self._library(listed, arguments)
        if isinstance(function, ast.Name):
            if listed:
                return self._builtin(listed, arguments)
            return self._called_name(function)
        if not isinstance(function, ast.Attribute):
            if isinstance(function, ast.Lambda):
                return self.of(function.body)
            return Kind.OTHER | self._said_by(self.of(function))
        base, name = function.value, function.attr
        if isinstance(base, ast.Call) and self.source.is_builtin(base.func, "super"):
            return self.state[("result", name)] | Kind.OUTSIDE
        if name in self.source.words.tuple_methods:
            made = Kind.OWN if name == "_make" else self.of(base)
            return made if name != "_asdict" else Kind.PLAIN | Kind.KEYED | held(Kind.OTHER)
        if self.source.is_builtin(base, "str") or self.source.is_builtin(base, "bytes"):
            return Kind.TEXT | Kind.MADE | held(Kind.TEXT | Kind.MADE)
        if name == "fromkeys" and self.source.is_builtin(base, "dict") and len(arguments) == 2:
            return Kind.PLAIN | Kind.KEYED | held(self.of(arguments[1]))
        mask = self._method(self.of(base), name, arguments)
        mask = self._spelled(mask, self.of(base), name, arguments)
        return mask & ~Kind.MADE if speaks_anywhere(node) else mask

    def _spelled(self, mask: int, base: int, name: str, given: list[ast.expr]) -> int:
        """Add what a method makes of texts, and take away what it cannot give."""
        if name in COUNTING and base & (Kind.FRAME | Kind.OUTSIDE):
            return mask & _NO_TEXT
        if name in SPELLING and not base & Kind.OWN:
            mask |= Kind.TEXT | self._join(given) & _ASIDE
        if name in DECODING:
            return mask | Kind.TEXT | Kind.MADE
        if not base & (Kind.FRAME | Kind.OUTSIDE):
            return mask
        if name in LABELS:
            mask |= Kind.MADE | held(Kind.TEXT | Kind.PIECE)
        if name in RELABELLING:
            given = [item for item in given if self._keyword(item) != "columns"]
        if name in ("astype", "view") and any(is_of_texts(item) for item in given):
            cuts = name == "view" or (base | base >> DEPTH) & _TEXTS_ONLY
            mask |= Kind.MADE if cuts else 0
        brought = base | self._join(given)
        if name in CHOOSING:
            mask |= (brought | brought >> DEPTH) & _ASIDE
        for item in given:
            brought |= self._made_by(item) if self.of(item) & Kind.FUNCTION else 0
        if name in JOINING | RELABELLING and (brought & _ASIDE or brought >> DEPTH & _ASIDE):
            mask |= Kind.MADE
        return mask

    def _called_name(self, node: ast.Name) -> int:
        """Give a function's result; of a name that is bound otherwise, anything."""
        mask = self.of(node)
        bound = any(kind in ("value", "argument") for kind, _ in self.source.kinds(node))
        return self._called(mask, node.id) | (Kind.OTHER if bound and mask & Kind.FUNCTION else 0)

    def _called(self, mask: int, name: str) -> int:
        found = 0
        if mask & Kind.CLASS:
            found |= Kind.OWN
        if mask & Kind.FUNCTION:
            found |= self.state[("result", name)]
        if mask & Kind.MOCK:
            found |= Kind.MOCK
        found |= self._said_by(mask)
        return found | (Kind.OTHER if mask & ~(Kind.CLASS | Kind.FUNCTION | Kind.MOCK) else 0)

    def _method(self, mask: int, name: str, given: list[ast.expr]) -> int:
        if name in ("copy", "values") and not mask & ~_STARS & ~(Kind.PLAIN | Kind.KEYED):
            return mask if name == "copy" else (mask & ~Kind.KEYED) | held(self.mutated)
        found = mask & (Kind.FRAME | Kind.OUTSIDE | Kind.MOCK | Kind.TEXT | Kind.MADE)
        if mask & Kind.FRAME:
            found |= mask & _STARS
        if mask & (Kind.TEXT | Kind.WORD):
            found |= Kind.TEXT | Kind.PLAIN | held(Kind.TEXT)
            found |= Kind.MADE | held(Kind.MADE) if name in _REWRITING else 0
        if mask & Kind.PLAIN:
            found |= Kind.PLAIN | self.element(mask)
            found |= self._join(given) if name in _WITH_DEFAULT else 0
        if mask & (Kind.OWN | Kind.CLASS):
            found |= self._called(self._stored(name) & ~Kind.OUTSIDE, name)
            found |= self._stored(name) & Kind.OUTSIDE
        if mask & (Kind.OTHER | Kind.FUNCTION):
            found |= Kind.OTHER
        return found

    def _library(self, name: str, given: list[ast.expr]) -> int:
        top = name.split(".")[0]
        if name in _KEEPING:
            return self.of(given[0]) if given else Kind.OTHER
        if is_data(name):
            return Kind.FRAME | self._kept(name, given)
        if name == "dataclasses.field":
            return self._field(given)
        if name == "collections.namedtuple":
            return Kind.CLASS
        if name == "collections.defaultdict" and given:
            return Kind.PLAIN | held(self._made_by(given[0])) | held(self._elements(given[1:]))
        if top == "operator" or name == "itertools.accumulate":
            mask = self._join(given) | self._elements(given)
            made = Kind.TEXT | Kind.MADE if mask & (Kind.TEXT | _ASIDE) else 0
            return Kind.PLAIN | self._elements(given) | made | held(made)
        if top in _BOXES:
            return Kind.PLAIN | held(self._elements(given)) | held(self._join(given) & ~Kind.PLAIN)
        if top in _VALUES:
            return Kind.PLAIN
        if top in _TELLING:
            return Kind.OTHER | Kind.MADE
        return Kind.MOCK if name.startswith("unittest.mock.") else Kind.OTHER

    def _kept(self, name: str, given: list[ast.expr]) -> int:
        """Give what a library that computes keeps of what it is given."""
        mask = self._join(given)
        kept = held((mask | mask >> DEPTH) & (Kind.OTHER | Kind.OWN)) | mask & Kind.MADE
        values = self._join([item for item in given if self._keyword(item) not in _LABELLING])
        texts = (values | values >> DEPTH) & (Kind.TEXT | _ASIDE)
        for item in given:  # names of columns are labels, which can be read as texts
            if isinstance(item, ast.Dict) and any(is_piece(_text(key)) for key in item.keys):
                texts |= Kind.PIECE
        if name in KEEPING_TEXTS or name.startswith(("statistics.", "random.")):
            kept |= texts & Kind.PIECE if not name.startswith("pandas.") else 0
            kept |= held(texts) | (Kind.MADE if texts & Kind.MADE else 0)
        dtypes = [item for item in given if self._keyword(item) == "dtype"]
        sized = any(is_of_texts(item) for item in dtypes) and texts
        joins = name.rsplit(".", 1)[-1] in JOINING and texts & _ASIDE
        made = sized or joins or (name == "numpy.dtype" and any(map(is_of_texts, given)))
        return kept | (Kind.MADE if made else 0)

    def _told_by(self, mask: int) -> int:
        """Give what a value's text may be, if it is an own object that says so itself."""
        if not mask & Kind.OWN:
            return 0
        told = ("__str__", "__repr__", "__format__")
        return self._mix(self.state[("result", name)] for name in told) & _ASIDE

    def _builtin(self, name: str, given: list[ast.expr]) -> int:
        if name in _TEXTS:
            mask = self._join(given)
            made = name in ("chr", "format") or (mask | self._told_by(mask)) & Kind.MADE
            made = made or mask & ~_STARS == Kind.OTHER
            return Kind.TEXT | Kind.PIECE | (Kind.MADE if made else 0)
        if name in ("bytes", "bytearray"):
            return Kind.TEXT | Kind.PLAIN | Kind.MADE
        if name == "dict":
            return Kind.PLAIN | self._built(given)
        if name == "map" and given:
            return Kind.PLAIN | held(self._made_by(given[0]))
        if name in _MANY_OF:
            return Kind.PLAIN | held(self._elements(given)) | held(self._join(given) & Kind.OTHER)
        if name in _ONE_OF:
            values = [node for node in given if self._keyword(node) != "key"]
            return self._join(values) | self._elements(values)
        return Kind.OTHER if name in _UNSEEN else Kind.PLAIN

    def _built(self, given: list[ast.expr]) -> int:
        """Give what dict(...) holds: pairs, a mapping, or keywords."""
        mask = 0
        for node in given:
            named = self._keyword(node) is not None
            mask |= Kind.KEYED | (held(self.of(node)) if named else self._spread(self.of(node)))
        return mask

    def _keyword(self, node: ast.expr) -> str | None:
        parent = self.source.tree.parent(node)
        return parent.arg if isinstance(parent, ast.keyword) else None

    def _field(self, given: list[ast.expr]) -> int:
        """Give what a field of a dataclass holds before anybody fills it."""
        mask = 0
        for node in given:
            made = self._keyword(node) == "default_factory"
            mask |= self._made_by(node) if made else self.of(node)
        return mask

    def _elements(self, nodes: list[ast.expr]) -> int:
        mask = 0
        for node in nodes:
            if not isinstance(node, ast.Lambda):
                mask |= self.element_of(node)
        return mask

    def _made_by(self, node: ast.expr) -> int:
        """Give what a function gives that a library calls."""
        if isinstance(node, ast.Lambda):
            return self.of(node.body)
        if isinstance(node, ast.Name):
            if self.source.meaning(node)[0] is None:
                return Kind.PLAIN | (Kind.TEXT | Kind.MADE if node.id in _TEXTS else 0)
            return self._called_name(node)
        if isinstance(node, ast.Attribute) and self.of(node) & Kind.FUNCTION:
            return self.state[("result", node.attr)] | Kind.OTHER
        return Kind.OTHER


def _text(node: ast.AST | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def is_data(name: str) -> bool:
    """Tell whether a listed name belongs to a library that computes and nothing else."""
    return name.split(".")[0] in _DATA or name.startswith(_DATA_ROOMS)
