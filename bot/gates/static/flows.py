"""Follows where values go in a file: names, arguments, results, attributes, containers."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from bot.gates.static.examined_file import Source, method_of_class
from bot.gates.static.kinds import DEPTH, Kind, Kinds, held, is_data, speaks_anywhere
from bot.gates.static.scopes import Scope
from bot.gates.static.syntax_tree import given

_ROUNDS = 40
_PUTTING = {"append", "appendleft", "add", "insert", "extend", "extendleft", "update", "setdefault",
            "push", "union", "fromkeys", "new_child", "symmetric_difference_update"}  # fmt: skip
_PUTTING_FUNCTIONS = ("heapq.heap", "bisect.insort")
_ELEMENTWISE = ("sorted", "min", "max", "map", "filter", "functools.reduce", "itertools.",
                "heapq.n")  # fmt: skip
_SELF = {"property", "functools.cached_property"}
_Slot = tuple[object, str]


class TooTangled(Exception):
    """The flows of a file do not settle in a sensible number of rounds."""


def follow(source: Source) -> Kinds:
    """Follow all flows of a file until nothing new is learned.

    Raises:
        TooTangled: if that takes too many rounds.
    """
    flows = _Flows(source)
    for node in source.tree.nodes:
        flows.add(node)
    flows.add_arguments()
    flows.run()
    return flows.kinds


class _Flows:
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

    def _learn(self, slot: _Slot, mask: int) -> None:
        known = self.kinds.state[slot]
        if mask & ~known:
            self.kinds.state[slot] = known | mask
            self._grown = True

    def _store(self, slot: _Slot, mask: int) -> None:
        self._learn(slot, mask)
        if slot[0] == "attribute" and mask & Kind.FUNCTION:
            # The attribute hides the method of its name, and gives what nobody knows.
            self._learn(("result", slot[1]), Kind.OTHER)

    def _put(self, slot: _Slot, what: Callable[[], int], back: ast.expr | None = None) -> None:
        """Let a value flow into a slot; what is later put into it as a container, flows back."""

        def step() -> None:
            known = what()
            self._store(slot, known)
            if back is not None:
                self._flow_back(slot, known, back)

        if slot[0] == "attribute":
            self.kinds.stored.add(slot[1])
        self._steps.append(step)

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
                self._put((self._scope_of(name, node), name), lambda: Kind.OTHER)
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
        joins = mask & Kind.TEXT and self.kinds.adds(node, target, value)
        made = joins and not speaks_anywhere(value)
        return mask | (Kind.MADE if made else 0)

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
            case ast.Subscript(value=box), _:
                self._steps.append(lambda: self._hold(box, what()))

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

    # Arguments: what any call of a function of this name gives at a place, by number or by name.

    def add_arguments(self) -> None:
        """Let the arguments of every call flow to the functions that it may mean."""
        for call in self._calls:
            self._steps.append(partial(self._give, call))
            match call.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    self._called.add(name)
        for value in self._values:
            name = self._function_named(value)
            if name and self.source.tree.call_of(value) is None:
                self._called.add(name)
                self._steps.append(partial(self._hand_out, value, name))
        for field in self._fields:
            self.kinds.stored.add(field)
            self._receive_one(("attribute", field), [("fields", "")])
        for node in self.source.tree.nodes:
            if isinstance(node, ast.FunctionDef):
                self._receive(node, node.name)
            elif isinstance(node, ast.Lambda):
                self._receive(node, f"lambda {id(node)}")

    def _function_named(self, value: ast.expr) -> str:
        match value:
            case ast.Lambda():
                return f"lambda {id(value)}"
            case ast.Name(id=name) if ("function", "") in self.source.kinds(value):
                return name
            case ast.Attribute(attr=name) if name in self._functions:
                return name
        return ""

    def _give(self, call: ast.Call) -> None:
        function = call.func
        if function in self.source.listed:
            if self.source.listed[function] == "dataclasses.replace":
                self._give_fields(call)
            return
        name = function.id if isinstance(function, ast.Name) else ""
        if isinstance(function, ast.Attribute):
            name = function.attr
            if name == "_replace":
                self._give_fields(call)
        if self.kinds.of(function) & Kind.CLASS:
            self._give_fields(call)
            self._give_to("__init__", call, 0)
        if self._is_strange(function, name):
            self._hold_all(given(call), Kind.OTHER)
        if name not in self._functions:
            return
        base = self.kinds.of(function.value) if isinstance(function, ast.Attribute) else Kind.OTHER
        if base & (Kind.OWN | Kind.CLASS | Kind.OTHER):
            self._give_to(name, call, 0)
        if base & Kind.CLASS:
            self._give_to(name, call, 1)

    def _is_strange(self, function: ast.expr, name: str) -> bool:
        """Tell whether nobody knows what a function of this file does with a container."""
        if any(node.args.vararg or node.args.kwarg for node in self._functions.get(name, ())):
            return True
        if isinstance(function, ast.Name):
            return any(kind in ("value", "argument") for kind, _ in self.source.kinds(function))
        if isinstance(function, ast.Attribute):
            own = self.kinds.of(function.value) & (Kind.OWN | Kind.CLASS)
            return bool(own and self.kinds.of(function) & (Kind.OTHER | Kind.FUNCTION)
                        and name not in self._functions)  # fmt: skip
        return True

    def _give_fields(self, call: ast.Call) -> None:
        """Fields of dataclasses and named tuples are filled by number or by name."""
        for argument in call.args:
            self._flow(("fields", ""), argument)
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._flow(("attribute", keyword.arg), keyword.value)
            else:
                self._learn(("fields", ""), self.kinds.element(self.kinds.of(keyword.value)))

    def _give_to(self, name: str, call: ast.Call, shift: int) -> None:
        for place, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                self._flow(("given", f"{name} *"), argument)
            else:
                self._flow(("given", f"{name} {place - shift}"), argument)
        for keyword in call.keywords:
            if keyword.arg is None:
                self._learn(
                    ("given", f"{name} *"), self.kinds.element(self.kinds.of(keyword.value))
                )
            else:
                self._flow(("given", f"{name} {keyword.arg}"), keyword.value)

    def _flow(self, slot: _Slot, value: ast.expr) -> None:
        self._store(slot, self.kinds.of(value))
        self._flow_back(slot, self.kinds.of(value), value)

    def _flow_back(self, slot: _Slot, known: int, value: ast.expr) -> None:
        """What was put into a container under its other name, the first name holds too."""
        added = (self.kinds.state[slot] & ~known) >> DEPTH
        if added:
            self._hold(value, added)

    def _hand_out(self, value: ast.expr, name: str) -> None:
        """Learn what a function is called with that is given away as a value."""
        slot, gives = ("given", f"{name} *"), self._caller_gives(value)
        self._learn(slot, gives)
        added = (self.kinds.state[slot] & ~gives) >> DEPTH
        call = next(
            (item for item in self.source.tree.above(value) if isinstance(item, ast.Call)), None
        )
        if added and call is not None:
            self._hold_all(given(call), added)

    def _caller_gives(self, value: ast.expr) -> int:
        child: ast.AST = value
        for parent in self.source.tree.above(value):
            if isinstance(parent, ast.Call) and child is not parent.func:
                listed = self.source.listed.get(parent.func, "")
                if listed.startswith(_ELEMENTWISE):
                    mask = 0
                    for item in parent.args:
                        if not isinstance(item, ast.Lambda):
                            mask |= self.kinds.element(self.kinds.of(item))
                    return mask
                if listed:
                    return Kind.FRAME if is_data(listed) else Kind.OTHER
                if not isinstance(parent.func, ast.Attribute):
                    return Kind.OTHER
                base = self.kinds.of(parent.func.value)
                mask = base >> DEPTH | base & (Kind.FRAME | Kind.OUTSIDE)
                mask |= Kind.FRAME if base & Kind.OUTSIDE else 0
                low = base & ((1 << DEPTH) - 1)
                return mask | (Kind.OTHER if low & ~(Kind.FRAME | Kind.OUTSIDE) else 0)
            if not isinstance(parent, (ast.keyword, ast.List, ast.Tuple, ast.Dict, ast.IfExp)):
                return Kind.OTHER
            child = parent
        return Kind.OTHER

    def _receive(self, node: ast.FunctionDef | ast.Lambda, name: str) -> None:
        scope = self.source.scopes.inside(node)
        places = [*node.args.posonlyargs, *node.args.args]
        method = isinstance(node, ast.FunctionDef) and method_of_class(self.source.tree, node)
        if method and places:
            self._put((scope, places[0].arg), lambda: self._first(node))
            places = places[1:]
        own = name in self._called
        strange = name.startswith("__") and name not in ("__init__", "__post_init__")
        for place, argument in enumerate([*places, *node.args.kwonlyargs]):
            slots: list[_Slot] = [("given", f"{name} {argument.arg}"), ("given", f"{name} *")]
            if place < len(places):
                slots.append(("given", f"{name} {place}"))
            self._receive_one((scope, argument.arg), slots)
            if strange:
                self._put((scope, argument.arg), lambda: Kind.OTHER)
            elif not own:
                self._put((scope, argument.arg), partial(self._annotated, argument.annotation))
        for default in (*node.args.defaults, *(item for item in node.args.kw_defaults if item)):
            self._put(("given", f"{name} *"), partial(self.kinds.of, default))
        for rest in (node.args.vararg, node.args.kwarg):
            if rest is not None:
                # Whatever is left over; nothing is known of it.
                self._put((scope, rest.arg), lambda: Kind.PLAIN | held(Kind.OTHER))

    def _receive_one(self, slot: _Slot, given: list[_Slot]) -> None:
        def step() -> None:
            for item in given:
                self._store(slot, self.kinds.state[item])
                self._learn(item, self.kinds.state[slot] >> DEPTH << DEPTH)

        self._steps.append(step)

    def _first(self, node: ast.FunctionDef | ast.Lambda) -> int:
        if not isinstance(node, ast.FunctionDef):
            return Kind.OTHER
        if any(self.source.listed.get(item) == "classmethod" for item in node.decorator_list):
            return Kind.CLASS
        plain = all(harmless_decorator(self.source, item) for item in node.decorator_list)
        return Kind.OWN if plain else Kind.OTHER

    def _annotated(self, node: ast.expr | None) -> int:
        """Take the word of an annotation where only callers outside of the file decide."""
        listed = self.source.listed.get(node, "") if node is not None else ""
        own = isinstance(node, ast.Name) and ("class", "") in self.source.kinds(node)
        if own and self.source.words.file_class == "module":
            return Kind.OWN
        if listed in ("int", "float", "bool"):
            return Kind.PLAIN
        return Kind.FRAME if is_data(listed) else Kind.OUTSIDE


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
