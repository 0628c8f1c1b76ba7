"""Turns a file's bytes into everything in it that its class of file may not have."""

import contextlib
from functools import lru_cache

from bot.gates.static.arguments import follow
from bot.gates.static.attributes import check_attributes
from bot.gates.static.by_name import check_functions_by_name
from bot.gates.static.calls import check_calls
from bot.gates.static.chance import check_chance
from bot.gates.static.class_values import check_class_values
from bot.gates.static.classes import check_classes
from bot.gates.static.comments import check_comments
from bot.gates.static.examined_file import Enough, Source
from bot.gates.static.file_class import class_by_path
from bot.gates.static.flows import TooTangled
from bot.gates.static.host_settings import check_host_settings
from bot.gates.static.import_lines import check_imports
from bot.gates.static.names import check_names, trace_origins
from bot.gates.static.offence import Offence
from bot.gates.static.scopes import Scopes
from bot.gates.static.syntax_tree import Tree, read_tree
from bot.gates.static.vocabulary import FileClass, Vocabulary, vocabulary
from bot.gates.static.wall_clock import check_clock

OFFENCE_LIMIT = 50
# Each looks at one node; together they go through the file once.
_RULES = (
    *(check_names, check_classes, check_attributes, check_class_values),
    *(check_functions_by_name, check_calls, check_clock, check_chance),
    check_host_settings,
)


@lru_cache(maxsize=16)  # `verify` reads the same files in two of its steps
def check_bytes(content: bytes, file_class: FileClass) -> tuple[Offence, ...]:
    """Check a file whole: its bytes, its syntax, its names. Never raises for any content."""
    tree, offences = read_tree(content)
    if tree is None:
        return tuple(offences)
    return check_tree(tree, file_class)


def check_file(path: str, content: bytes) -> tuple[Offence, ...]:
    """Check a file as what its path says it is; in no folder of its own by the strict list."""
    return check_bytes(content, class_by_path(path) or "strategy")


def check_tree(tree: Tree, file_class: FileClass) -> tuple[Offence, ...]:
    """Check the names in a parsed file; a checker that fails has refused."""
    words = vocabulary(file_class)
    try:
        return (*check_comments(tree, file_class), *_check(tree, words))[:OFFENCE_LIMIT]
    except TooTangled:
        why = "values go through so many names that nobody can follow them"
        return (Offence(0, 1, "names", why, "give each value one name"),)
    except Exception as error:
        why = f"the checker could not read this file ({type(error).__name__})"
        instead = "simplify it; if it is plain code, please report it"
        return (Offence(0, 1, "checker", why, instead),)


def _check(tree: Tree, words: Vocabulary) -> tuple[Offence, ...]:
    source = Source(tree, Scopes(tree), words)
    source.collect_words()
    with contextlib.suppress(Enough):
        check_imports(source)
        trace_origins(source)
        kinds = follow(source)
        for node in tree.nodes:
            for check in _RULES:
                check(source, kinds, node)
    return tuple(sorted(set(source.offences))[:OFFENCE_LIMIT])
