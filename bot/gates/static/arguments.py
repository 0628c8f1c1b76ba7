"""Follows the arguments of calls to the functions that they may mean, by number and by name."""

import ast
from functools import partial

from bot.gates.static.examined_file import Source, method_of_class
from bot.gates.static.flows import Flows, Slot, harmless_decorator
from bot.gates.static.kind_bits import DEPTH, Kind, held
from bot.gates.static.kinds import Kinds, is_data
from bot.gates.static.syntax_tree import given

# Methods of frames that give a function the labels, which are texts.
_OF_LABELS = {"rename", "rename_axis", "rename_categories"}
_ELEMENTWISE = ("sorted", "min", "max", "map", "filter", "functools.reduce", "itertools.",
                "heapq.n")  # fmt: skip


def follow(source: Source) -> Kinds:
    """Follow all flows of a file until nothing new is learned.

    Raises:
        TooTangled: if that takes too many rounds.
    """
    flows = _Arguments(source)
    for node in source.tree.nodes:
        flows.add(node)
    flows.add_arguments()
    flows.run()
    return flows.kinds


class _Arguments(Flows):
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
            elif name == "_make":
                for many in given(call):
                    self._learn(("fields", ""), self.kinds.element(self.kinds.of(many)))
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

    def _flow(self, slot: Slot, value: ast.expr) -> None:
        self._store(slot, self.kinds.of(value))
        self._flow_back(slot, self.kinds.of(value), value)

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
                mask |= Kind.TEXT if parent.func.attr in _OF_LABELS and base & Kind.FRAME else 0
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
            slots: list[Slot] = [("given", f"{name} {argument.arg}"), ("given", f"{name} *")]
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

    def _receive_one(self, slot: Slot, given: list[Slot]) -> None:
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
