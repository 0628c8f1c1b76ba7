"""Infers what an expression may be; a name has the same kinds wherever it stands.

An expression has the bits of everything that it may be. What nothing is known of is `OTHER`.
"""

import ast
import builtins

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import (
    ASIDE,
    DEPTH,
    EVER_MADE,
    NO_TEXT,
    STARS,
    TEXTUAL_ONLY,
    Kind,
    held,
)
from bot.gates.static.syntax_tree import given
from bot.gates.static.text_kinds import TextKinds
from bot.gates.static.texts import (
    LABELS,
    is_clock_word,
    is_piece,
    speaks_anywhere,
    spells_letters,
)  # fmt: skip

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
_TELLING = {"functools", "json", "re", "string"}
# Base classes whose attributes the caller fills.
_CALLERS = ("adapters.", "freqtrade.", "enum.", "typing.", "abc.")
_UNSEEN = {"type", "getattr", "open", "super", "property", "object"}


class Kinds(TextKinds):
    """The kinds of a file's expressions, once its flows have been followed to the end."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.mutated = 0  # what may have been put into a container that nobody can name
        self.stored: set[str] = set()  # the attributes that the file itself gives values
        names = [node.name for node in source.attributes_of]
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
        mask = self.of(node) & ~STARS & ~(Kind.NONE | ASIDE)
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
            mask & (STARS | Kind.TEXT | Kind.MADE | Kind.FRAME | Kind.OUTSIDE)
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
                return mask & ~EVER_MADE | said | (Kind.MADE if made else 0)
            case ast.UnaryOp(operand=operand):
                return self.computed(self.of(operand)) & ~EVER_MADE
            case ast.Compare(left=left, comparators=others):
                return self.computed(self._join([left, *others])) & NO_TEXT | Kind.PLAIN
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.Starred(value=value):
                return self.element(self.of(value))
            case ast.Slice():
                return Kind.PLAIN
        return Kind.OTHER

    def _keys(self, keys: list[ast.expr | None]) -> int:
        """Texts as keys make a dictionary; other keys count as what it holds."""
        mask = self._join([key for key in keys if key])
        texts = mask & (Kind.TEXT | Kind.WORD | Kind.FRAME | Kind.OUTSIDE | Kind.PLAIN)
        letters = TEXTUAL_ONLY << DEPTH  # of a text that is a key
        clock = Kind.MADE if any(is_clock_word(key) for key in keys) else 0
        return (Kind.KEYED if texts else 0) | clock | held(mask & ~texts & ~letters & ~Kind.PIECE)

    def _entries(self, keys: list[ast.expr | None], values: list[ast.expr]) -> int:
        mask = 0
        for key, value in zip(keys, values, strict=True):
            mask |= held(self.of(value)) if key else self._spread(self.of(value))
        return mask

    def _spread(self, mask: int) -> int:
        """Give what `**mapping` brings along."""
        if mask & ~STARS & ~(Kind.PLAIN | Kind.KEYED):
            return held(self.element(mask)) | Kind.KEYED
        return mask | held(self.mutated)

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
            found |= mask & STARS
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
        if name in ("copy", "values") and not mask & ~STARS & ~(Kind.PLAIN | Kind.KEYED):
            return mask if name == "copy" else (mask & ~Kind.KEYED) | held(self.mutated)
        found = mask & (Kind.FRAME | Kind.OUTSIDE | Kind.MOCK | Kind.TEXT | Kind.MADE)
        if mask & Kind.FRAME:
            found |= mask & STARS
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
            made = Kind.TEXT | Kind.MADE if mask & (Kind.TEXT | ASIDE) else 0
            return Kind.PLAIN | self._elements(given) | made | held(made)
        if top in _BOXES:
            return Kind.PLAIN | held(self._elements(given)) | held(self._join(given) & ~Kind.PLAIN)
        if top in _VALUES:
            return Kind.PLAIN
        if top in _TELLING:
            return Kind.OTHER | Kind.MADE
        return Kind.MOCK if name.startswith("unittest.mock.") else Kind.OTHER

    def _builtin(self, name: str, given: list[ast.expr]) -> int:
        if name in _TEXTS:
            mask = self._join(given)
            made = name in ("chr", "format") or (mask | self._told_by(mask)) & Kind.MADE
            made = made or mask & ~STARS == Kind.OTHER
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


def is_data(name: str) -> bool:
    """Tell whether a listed name belongs to a library that computes and nothing else."""
    return name.split(".")[0] in _DATA or name.startswith(_DATA_ROOMS)
