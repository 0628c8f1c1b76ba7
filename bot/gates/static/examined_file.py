"""Holds a parsed file with its scopes, origins and declared names: what every rule looks at."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from bot.gates.static.offence import Offence, printable
from bot.gates.static.scopes import Binding, BindingKind, Scope, Scopes
from bot.gates.static.syntax_tree import Tree
from bot.gates.static.vocabulary import Vocabulary

_WORDS = re.compile(r"[A-Za-z_]\w*")
_LONGEST_WORD_LIST = 300
_PLENTY = 500
_Meaning = tuple[Scope | None, list[Binding], frozenset[tuple[BindingKind, str]]]


class Enough(Exception):
    """So much is refused already that looking further helps nobody."""


@dataclass
class Source:
    """Holds one file under examination; rules add their offences to it."""

    tree: Tree
    scopes: Scopes
    words: Vocabulary
    offences: list[Offence] = field(default_factory=list)
    # Expression -> module that it stands for.
    modules: dict[ast.AST, str] = field(default_factory=dict)
    # Expression -> listed name that it stands for, as numpy.mean.
    listed: dict[ast.AST, str] = field(default_factory=dict)
    # Attributes that already have their offence.
    refused_chains: set[ast.AST] = field(default_factory=set)
    # Words in texts and names of keywords, which become columns and fields.
    spoken: set[str] = field(default_factory=set)
    own_names: set[str] = field(default_factory=set)  # the attributes of the file's classes
    methods: set[str] = field(default_factory=set)  # the methods among them that get an instance
    # How names begin that the file makes up, as f"rsi_{n}".
    prefixes: set[str] = field(default_factory=set)
    attributes_of: dict[ast.ClassDef, set[str]] = field(default_factory=dict)
    families: dict[ast.ClassDef, set[str]] = field(default_factory=dict)
    meanings: dict[tuple[int, str], _Meaning] = field(default_factory=dict)
    answers: dict[tuple[str, str], bool] = field(default_factory=dict)

    def refuse(self, node: ast.AST, name: str, why: str, instead: str) -> None:
        """Note an offence at a node.

        Raises:
            Enough: when there are plenty, which ends the examination.
        """
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", 0) + 1
        if isinstance(node, ast.Attribute) and node.end_lineno is not None:
            # The name after the dot, so that a chain's offences follow each other.
            line = node.end_lineno
            column = (node.end_col_offset or 0) - len(node.attr.encode("utf-8")) + 1
        self.offences.append(Offence(line, column, printable(name), why, instead))
        if len(self.offences) >= _PLENTY:
            raise Enough

    def meaning(self, node: ast.Name) -> tuple[Scope | None, list[Binding]]:
        """Find what a name means where it stands; ask only after the imports are bound."""
        return self._meaning(node)[:2]

    def kinds(self, node: ast.Name) -> frozenset[tuple[BindingKind, str]]:
        """Give the kinds of what a name may mean, with where imports come from."""
        return self._meaning(node)[2]

    def _meaning(self, node: ast.Name) -> _Meaning:
        start = self.scopes.of(node)
        key = (id(start), node.id)
        if key not in self.meanings:
            scope, bindings = self.scopes.resolve(node.id, start)
            kinds = frozenset((binding.kind, binding.origin) for binding in bindings)
            self.meanings[key] = (scope, bindings, kinds)
        return self.meanings[key]

    def owner(self, node: ast.expr) -> ast.ClassDef | None:
        """Give the class whose instance this expression is, if it is a method's own `self`."""
        method = self._method(node)
        if method is None or any(_word(item) == "classmethod" for item in method.decorator_list):
            return None
        parent = self.tree.parents[method]
        return parent if isinstance(parent, ast.ClassDef) else None

    def _method(self, node: ast.expr) -> ast.FunctionDef | None:
        if not isinstance(node, ast.Name):
            return None
        scope, bindings = self.meaning(node)
        if scope is None or len(bindings) != 1 or bindings[0].kind != "argument":
            return None
        method = scope.node
        if not isinstance(method, ast.FunctionDef) or not method_of_class(self.tree, method):
            return None
        first = [*method.args.posonlyargs, *method.args.args][:1]
        return method if first and first[0] is bindings[0].node else None

    def collect_words(self) -> None:
        """Learn the attribute and column names that the file itself declares."""
        for node in self.tree.nodes:
            match node:
                case ast.Constant(value=str(text)) if len(text) <= _LONGEST_WORD_LIST:
                    self.spoken.update(_WORDS.findall(text))
                case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
                    if len(text) > 1 and text.isidentifier() and len(self.prefixes) < _PLENTY:
                        self.prefixes.add(text)
                case ast.keyword(arg=str(name)):
                    self.spoken.add(name)
                case ast.ClassDef():
                    self.attributes_of[node] = _class_attributes(node)
                case ast.FunctionDef(name=name, decorator_list=decorators):
                    words = {_word(item) for item in decorators}
                    if method_of_class(self.tree, node) and "classmethod" not in words:
                        self.methods.add(name)
        self.own_names = set().union(*self.attributes_of.values())

    def is_builtin(self, node: ast.AST, name: str) -> bool:
        """Tell whether an expression is this builtin, and not a name of the file's own."""
        return isinstance(node, ast.Name) and node.id == name and self.meaning(node)[0] is None

    def remember(self, question: str, name: str, answer: Callable[[], bool]) -> bool:
        """Answer a question about a name once; looking through the whole file is slow."""
        key = (question, name)
        if key not in self.answers:
            self.answers[key] = answer()
        return self.answers[key]

    def family(self, owner: ast.ClassDef) -> set[str]:
        """Collect what a class and the file's own classes above it define."""
        if owner not in self.families:
            self.families[owner] = self._family(owner)
        return self.families[owner]

    def _family(self, owner: ast.ClassDef) -> set[str]:
        known = {node.name: node for node in self.attributes_of}
        found: set[str] = set()
        waiting, seen = [owner], set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            found |= self.attributes_of[current]
            bases = [base.id for base in current.bases if isinstance(base, ast.Name)]
            waiting += [known[base] for base in bases if base in known]
        return found

    def speaks_of(self, name: str) -> bool:
        """Tell whether the file speaks of a column of this name."""
        return name in self.spoken or name.startswith(tuple(self.prefixes))

    def defines(self, base: ast.expr, name: str) -> bool:
        """Tell whether an own instance has this name from the file, and from no library."""
        owner = self.owner(base)
        if owner is not None:
            return name in self.family(owner)
        return name in self.own_names and all(
            name in self.family(node) for node in self.attributes_of if self._is_theirs(node)
        )

    @cached_property
    def enums(self) -> set[str]:
        """Collect the names of the file's classes that are enumerations."""
        found: set[str] = set()
        for _ in range(2):  # a base stands above its children, unless a name is bound twice
            for node in self.attributes_of:
                for base in node.bases:
                    own = isinstance(base, ast.Name) and base.id in found
                    if own or self.listed.get(base, "").startswith("enum."):
                        found.add(node.name)
        return found

    def _is_theirs(self, node: ast.ClassDef) -> bool:
        """Tell whether a class builds on a library's class that has names of its own."""
        return any(
            self.listed.get(base, "").startswith(("freqtrade.", "adapters.")) for base in node.bases
        )


def method_of_class(tree: Tree, node: ast.FunctionDef) -> bool:
    """Tell whether a function is a method that gets its instance or class."""
    if not isinstance(tree.parent(node), ast.ClassDef):
        return False
    return not any(_word(item) == "staticmethod" for item in node.decorator_list)


def _word(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _class_attributes(node: ast.ClassDef) -> set[str]:
    names: set[str] = set()
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name=name):
                names |= {name, *_stored_on_self(statement)}
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                for target in targets:
                    names.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    return names


def _stored_on_self(method: ast.FunctionDef) -> set[str]:
    first = [*method.args.posonlyargs, *method.args.args][:1]
    return {
        inner.attr
        for inner in ast.walk(method)
        if isinstance(inner, ast.Attribute)
        and isinstance(inner.ctx, ast.Store)
        and isinstance(inner.value, ast.Name)
        and first
        and inner.value.id == first[0].arg
    }
