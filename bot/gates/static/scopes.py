"""Finds what binds each name, by Python's own scoping."""

import ast
from dataclasses import dataclass, field
from typing import Literal

from bot.gates.static.syntax_tree import Tree

BindingKind = Literal["module", "import", "function", "class", "argument", "value"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.Module, ast.ClassDef, *_FUNCTIONS, *_COMPREHENSIONS)


@dataclass(frozen=True)
class Binding:
    """Holds one place that gives a name its meaning."""

    node: ast.AST  # the place
    kind: BindingKind  # what the name means there; `module` and `import` come from import lines
    origin: str = ""  # the imported module, or the listed name with its module


@dataclass(eq=False)
class Scope:
    """Holds a region of the file with its own names; filled while the scopes are built."""

    node: ast.AST
    outer: "Scope | None"
    names: dict[str, list[Binding]] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        """Class bodies are invisible to the functions inside them."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_module(self) -> bool:
        """The file itself."""
        return self.outer is None


class Scopes:
    """Where each node of a tree is evaluated, and what each name means there."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.module = Scope(tree.root, None)
        self._inside: dict[ast.AST, Scope] = {tree.root: self.module}
        self._scope: dict[ast.AST, Scope] = {tree.root: self.module}
        self._bodies: dict[ast.AST, frozenset[ast.AST]] = {}
        for node in tree.nodes[1:]:
            self._place(node)
        for node in tree.nodes:
            self._declare(node)
        for node in tree.nodes:
            self._bind(node)

    def of(self, node: ast.AST) -> Scope:
        """Give the scope in which a node is evaluated."""
        return self._scope[node]

    def inside(self, node: ast.AST) -> Scope:
        """Give the scope that a function or class opens."""
        return self._inside[node]

    def resolve(self, name: str, start: Scope) -> tuple[Scope | None, list[Binding]]:
        """Find what a name may mean; no scope if the file never binds it there."""
        scope: Scope | None = start
        if start.is_class and name in start.names and name not in start.outside:
            # A class body falls through to the names around it while its own is unbound.
            around, bindings = self.resolve(name, self._enclosing(start))
            return start, [*start.names[name], *(bindings if around else [])]
        while scope is not None:
            if scope.outside.get(name) == "global":
                return self._found(name, self.module)
            if name in scope.names and (scope is start or not scope.is_class):
                return self._found(name, scope)
            scope = scope.outer
        return None, []

    def _found(self, name: str, scope: Scope) -> tuple[Scope | None, list[Binding]]:
        bindings = scope.names.get(name)
        return (scope, bindings) if bindings else (None, [])

    def _enclosing(self, scope: Scope) -> Scope:
        outer = scope.outer or self.module
        while outer.is_class and outer.outer is not None:
            outer = outer.outer
        return outer

    def _place(self, node: ast.AST) -> None:
        parent = self._tree.parents[node]
        if self._is_inside(parent, node):
            self._scope[node] = self._inside[parent]
        elif self._is_first_iterable(parent, node):
            self._scope[node] = self._scope[self._tree.parents[parent]]
        else:
            self._scope[node] = self._scope[parent]
        if isinstance(node, _SCOPES):
            self._inside[node] = Scope(node, self._scope[node])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bodies[node] = frozenset(node.body)

    def _is_inside(self, parent: ast.AST, node: ast.AST) -> bool:
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return node in self._bodies[parent]
        if isinstance(parent, ast.Lambda):
            return node is parent.body
        if isinstance(parent, _COMPREHENSIONS):
            return True
        return isinstance(parent, ast.Module)

    def _is_first_iterable(self, parent: ast.AST, node: ast.AST) -> bool:
        """The first iterable of a comprehension is evaluated outside of it."""
        if not isinstance(parent, ast.comprehension) or node is not parent.iter:
            return False
        whole = self._tree.parents[parent]
        return isinstance(whole, _COMPREHENSIONS) and whole.generators[0] is parent

    def _declare(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            self._scope[node].outside.update(dict.fromkeys(node.names, word))

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                self._add(name, node, "value")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._add(name, node, "function")
            case ast.ClassDef(name=name):
                self._add(name, node, "class")
            case ast.arg(arg=name):
                function = self._tree.parents[self._tree.parents[node]]
                self._inside[function].names.setdefault(name, []).append(Binding(node, "argument"))
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                self._add(name, node, "value")
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                self._add(name, node, "value")

    def _add(self, name: str, node: ast.AST, kind: BindingKind, origin: str = "") -> None:
        scope = self._scope[node]
        if isinstance(self._tree.parents.get(node), ast.NamedExpr):
            while isinstance(scope.node, _COMPREHENSIONS) and scope.outer is not None:
                scope = scope.outer
        self._target(name, scope).names.setdefault(name, []).append(Binding(node, kind, origin))

    def _target(self, name: str, scope: Scope) -> Scope:
        word = scope.outside.get(name)
        if word == "global":
            return self.module
        if word == "nonlocal":
            outer = scope.outer
            while outer is not None and (outer.is_class or name in outer.outside):
                outer = outer.outer
            return outer or scope
        return scope

    def bind_import(self, name: str, node: ast.AST, kind: BindingKind, origin: str) -> None:
        """Add the name that an import line binds."""
        self._add(name, node, kind, origin)
