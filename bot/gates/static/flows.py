"""Follows where values go in a file: names, arguments, results, attributes, containers."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import DEPTH, Kind, held
from bot.gates.static.kinds import Kinds
from bot.gates.static.scopes import Scope
from bot.gates.static.syntax_tree import given
from bot.gates.static.texts import speaks_anywhere

_ROUNDS = 40
_PUTTING = {"append", "appendleft", "add", "insert", "extend", "extendleft", "update", "setdefault",
            "push", "union", "fromkeys", "new_child", "symmetric_difference_update"}  # fmt: skip
_PUTTING_FUNCTIONS = ("heapq.heap", "bisect.insort")
_SELF = {"property", "functools.cached_property"}
Slot = tuple[object, str]


class TooTangled(Exception):
    """The flows of a file do not settle in a sensible number of rounds."""


class Flows:
    """Takes the steps of a file's flows; the arguments of calls are in arguments.py."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kinds = Kinds(source)
        self._steps: list[Callable[[], None]] = []
        self._grown = False
        self._functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        self._fields: set[str] = set()
        self._calls: list[ast.Call] = []
        self._values: list[ast.Name | ast.Attribute | ast.Lambda] = []
        self._called: set[str] = set()
        for node in source.tree.nodes:
            if isinstance(node, ast.FunctionDef):
                self._functions[node.name].append(node)
            elif isinstance(node, ast.ClassDef):
                self._fields |= {
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                }
        for owner in source.attributes_of:
            self.kinds.stored |= source.attributes_of[owner]

    def run(self) -> None:
        """Take every step again until none brings anything."""
        for _ in range(_ROUNDS):
            self._grown = False
            self.kinds.forget()
            for step in self._steps:
                step()
            if not self._grown:
                return
        raise TooTangled

    def _learn(self, slot: Slot, mask: int) -> None:
        known = self.kinds.state[slot]
        if mask & ~known:
            self.kinds.state[slot] = known | mask
            self._grown = True

    def _store(self, slot: Slot, mask: int) -> None:
        self._learn(slot, mask)
        if slot[0] == "attribute" and mask & Kind.FUNCTION:
            # The attribute hides the method of its name, and gives what nobody knows.
            self._learn(("result", slot[1]), Kind.OTHER)

    def _put(self, slot: Slot, what: Callable[[], int], back: ast.expr | None = None) -> None:
        """Let a value flow into a slot; what is later put into it as a container, flows back."""

        def step() -> None:
            known = what()
            self._store(slot, known)
            if back is not None:
                self._flow_back(slot, known, back)

        if slot[0] == "attribute":
            self.kinds.stored.add(slot[1])
        self._steps.append(step)

    def _flow_back(self, slot: Slot, known: int, value: ast.expr) -> None:
        """What was put into a container under its other name, the first name holds too."""
        added = (self.kinds.state[slot] & ~known) >> DEPTH
        if added:
            self._hold(value, added)

    def _hold(self, box: ast.expr, mask: int) -> None:
        """Learn that a container may hold such values."""
        mask = (mask | mask >> DEPTH) & ((1 << DEPTH) - 1)
        match box:
            case ast.Name():
                scope, _ = self.source.meaning(box)
                if scope is not None:
                    self._learn((scope, box.id), mask << DEPTH)
            case ast.Attribute(attr=name):
                self._learn(("attribute", name), mask << DEPTH)
            case ast.Subscript(value=inner):
                self._hold(inner, mask)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                self._hold_all(parts, mask)
            case ast.Dict(values=parts):
                self._hold_all(parts, mask)
            case ast.ListComp(elt=part) | ast.DictComp(value=part) | ast.SetComp(elt=part):
                self._hold_all([part], mask)
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.Lambda():
                return
            case ast.Call(func=function, args=given) if self._makes_new(function):
                self._hold_all(given, mask)  # list(xs), zip(xs, ys): what is in it is in both
            case _ if self.kinds.of(box) & (Kind.PLAIN | Kind.OTHER):
                if mask & ~self.kinds.mutated & ~(Kind.PLAIN | Kind.FRAME):
                    self.kinds.mutated |= mask
                    self._grown = True

    def _hold_all(self, boxes: Iterable[ast.expr], mask: int) -> None:
        """Learn that each of these, if it is a container, may hold such values."""
        for box in boxes:
            inner = box.value if isinstance(box, ast.Starred) else box
            if self.kinds.of(inner) & (Kind.PLAIN | Kind.KEYED):
                self._hold(inner, mask)

    def _makes_new(self, function: ast.expr) -> bool:
        return function in self.source.listed or bool(self.kinds.of(function) & Kind.CLASS)

    def add(self, node: ast.AST) -> None:
        """Add the flows of one node."""
        of = self.kinds.of
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, partial(of, value), value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, lambda: of(value), value)
            case ast.AugAssign(target=target, value=value):
                # `+=` puts what it adds into the list that is there.
                self._assign(target, lambda: self._added(node, target, value), None)
                self._steps.append(lambda: self._hold(target, self.kinds.element(of(value))))
            case ast.NamedExpr(target=target, value=value):
                self._assign(target, lambda: of(value), value)
            case ast.For(target=target, iter=many) | ast.comprehension(target=target, iter=many):
                self._assign(target, partial(self.kinds.element_of, many), many)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._assign(target, lambda: self._entered(value), None)
            case ast.ExceptHandler(name=str(name), type=ast.expr() as wanted):
                self._put((self._scope_of(name, node), name), partial(self._caught, wanted))
            case ast.MatchAs(name=str(name)):
                self._put((self._scope_of(name, node), name), partial(self._matched, node))
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant):  # it may become a frame's column
                        self.kinds.columns.add(str(key.value))
                        self._put(("column", str(key.value)), partial(of, value))
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                self._put((self._scope_of(name, node), name), lambda: Kind.OTHER | held(Kind.OTHER))
            case ast.FunctionDef():
                self._add_function(node)
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                self._add_result(node, value)
            case ast.YieldFrom(value=value):
                self._add_result(node, value)
            case ast.Lambda():
                self._values.append(node)
            case ast.Call():
                self._calls.append(node)
                self._add_putting(node)
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                self._values.append(node)
                self._add_given_away(node)
            case ast.ClassDef():
                for name in self.source.scopes.inside(node).names:
                    self._class_name(self.source.scopes.inside(node), name, node.name)

    def _added(self, node: ast.AugAssign, target: ast.expr, value: ast.expr) -> int:
        mask = self.kinds.computed(self.kinds.of(target) | self.kinds.of(value))
        made = self.kinds.adds(node, target, value) and not speaks_anywhere(value)
        return mask | (Kind.MADE if made else 0)

    def _matched(self, node: ast.AST) -> int:
        """A pattern may bind anything, and texts where its subject has some."""
        whole = next(item for item in self.source.tree.above(node) if isinstance(item, ast.Match))
        mask = self.kinds.of(whole.subject)
        return Kind.OTHER | (mask | mask >> DEPTH) & (Kind.TEXT | Kind.MADE | Kind.PIECE)

    def _entered(self, value: ast.expr) -> int:
        mask = self.kinds.of(value)
        found = mask & Kind.MOCK
        if mask & Kind.OWN:
            found |= self.kinds.state[("result", "__enter__")]
        return found | (Kind.OTHER if mask & ~(Kind.OWN | Kind.MOCK) else 0)

    def _caught(self, wanted: ast.expr) -> int:
        own = self.kinds.only(wanted, Kind.CLASS)
        return Kind.OWN if own else Kind.OTHER

    def _scope_of(self, name: str, node: ast.AST) -> Scope:
        scope, _ = self.source.scopes.resolve(name, self.source.scopes.of(node))
        return scope or self.source.scopes.of(node)

    def _class_name(self, scope: Scope, name: str, owner: str) -> None:
        """What a class body binds is an attribute of its instances, and in an Enum a member."""
        kinds = {binding.kind for binding in scope.names[name]}
        if "class" in kinds:
            self._put(("attribute", name), lambda: Kind.CLASS)
        if not kinds - {"function", "class"}:
            return
        slot = (scope, name)
        if owner in self.source.enums:
            self._put(("attribute", "value"), lambda: self.kinds.state[slot])
            self._put(("attribute", name), lambda: self.kinds.state[slot] & ~Kind.OTHER | Kind.OWN)
        else:
            self._put(("attribute", name), lambda: self.kinds.state[slot])

    def _assign(self, target: ast.expr, what: Callable[[], int], value: ast.expr | None) -> None:
        match target, value:
            case (
                (ast.Tuple(elts=targets) | ast.List(elts=targets)),
                (ast.Tuple(elts=values) | ast.List(elts=values)),
            ) if (
                len(targets) == len(values)
                and not any(isinstance(item, ast.Starred) for item in (*targets, *values))
                and not isinstance(self.source.tree.parent(target), (ast.For, ast.comprehension))
            ):
                for item, part in zip(targets, values, strict=True):
                    self._assign(item, partial(self.kinds.of, part), part)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
                for item in targets:
                    self._assign(item, lambda: self.kinds.element(what()), value)
            case ast.Starred(value=inner), _:
                self._assign(inner, lambda: Kind.PLAIN | held(what()), value)
            case ast.Name(id=name), _:
                self._put((self._scope_of(name, target), name), what, value)
            case ast.Attribute(attr=name), _:
                self._put(("attribute", name), what, value)
            case ast.Subscript(value=box, slice=part), _:
                self._steps.append(lambda: self._hold(box, what()))
                keys = part.elts if isinstance(part, (ast.Tuple, ast.List)) else [part]
                for key in keys:  # df["day"] = ..., df.loc[rows, "day"] = ...
                    if isinstance(key, ast.Constant):
                        self.kinds.columns.add(str(key.value))
                        self._put(("column", str(key.value)), what)

    def _add_putting(self, node: ast.Call) -> None:
        put = given(node)
        listed = self.source.listed.get(node.func, "")
        match node.args:
            case [_, ast.Constant(value=str(name)), value] if listed == "setattr":
                self._put(("attribute", name), lambda: self.kinds.of(value), value)
            case [box, ast.Constant(value=str(name)), *_] if listed == "getattr":
                if name in _PUTTING:
                    self._steps.append(lambda: self._hold(box, Kind.OTHER))
        if listed.startswith(_PUTTING_FUNCTIONS) and put:
            box, put = put[0], put[1:]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _PUTTING:
            box = node.func.value
            if box in self.source.listed and put:  # list.append(xs, x)
                box, put = put[0], put[1:]
        else:
            return

        def step() -> None:
            for item in put:
                self._hold(box, self.kinds.of(item))

        self._steps.append(step)

    def _add_given_away(self, node: ast.expr) -> None:
        """Whoever gets `xs.append` as a value can put anything into xs."""
        if not isinstance(node, ast.Attribute) or node.attr not in _PUTTING:
            return
        if self.source.tree.call_of(node) is not None:
            return
        if node.value in self.source.listed:
            self.kinds.mutated |= Kind.OTHER
        self._steps.append(lambda: self._hold(node.value, Kind.OTHER))

    def _add_function(self, node: ast.FunctionDef) -> None:
        name = node.name
        plain = all(harmless_decorator(self.source, item) for item in node.decorator_list)
        self._put(("result", name), lambda: Kind.NONE if plain else Kind.OTHER)
        if isinstance(self.source.tree.parent(node), ast.ClassDef):
            words = {self.source.listed.get(item, "") for item in node.decorator_list}
            if words & _SELF:
                self._put(("attribute", name), lambda: self.kinds.state[("result", name)])
            else:
                mask = Kind.FUNCTION if plain else Kind.OTHER
                self._steps.append(lambda: self._learn(("attribute", name), mask))

    def _add_result(self, node: ast.Return | ast.Yield | ast.YieldFrom, value: ast.expr) -> None:
        function = self.source.scopes.of(node).node
        if isinstance(function, ast.FunctionDef):
            many = isinstance(node, ast.Yield)
            slot = ("result", function.name)
            self._put(slot, lambda: held(self.kinds.of(value)) if many else self.kinds.of(value))


def harmless_decorator(source: Source, node: ast.expr) -> bool:
    """Tell whether a decorator leaves a function to be called with what its caller gives."""
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute) and called.attr in ("setter", "getter", "deleter"):
        return is_property(source, called.value)
    name = source.listed.get(called, "")
    # vectorize is no method of its class: it calls a function without the instance.
    return name in source.words.decorators and name != "numpy.vectorize"


def is_property(source: Source, node: ast.expr) -> bool:
    """Tell whether a name is that of methods above it in the class, not of some other value."""
    if not isinstance(node, ast.Name):
        return False
    scope, _ = source.meaning(node)
    return scope is not None and scope.is_class and source.kinds(node) == {("function", "")}
