"""Turns a file's bytes into everything in it that its class of file may not have."""

import contextlib

from bot.gates.static.attributes import check_attributes
from bot.gates.static.by_name import check_functions_by_name
from bot.gates.static.calls import check_calls
from bot.gates.static.class_values import check_class_values
from bot.gates.static.classes import check_classes
from bot.gates.static.comments import check_comments
from bot.gates.static.examined_file import Enough, Source
from bot.gates.static.flows import TooTangled, follow
from bot.gates.static.import_lines import check_imports
from bot.gates.static.names import check_names, trace_origins
from bot.gates.static.offence import Offence
from bot.gates.static.scopes import Scopes
from bot.gates.static.syntax_tree import Tree, read_tree
from bot.gates.static.vocabulary import FileClass, Vocabulary, vocabulary
from bot.gates.static.wall_clock import check_clock

OFFENCE_LIMIT = 50


def check_bytes(content: bytes, file_class: FileClass) -> tuple[Offence, ...]:
    """Check a file whole: its bytes, its syntax, its names. Never raises for any content."""
    tree, offences = read_tree(content)
    if tree is None:
        return tuple(offences)
    return check_tree(tree, file_class)


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
        check_names(source)
        check_classes(source)
        kinds = follow(source)
        check_attributes(source, kinds)
        check_class_values(source, kinds)
        check_functions_by_name(kinds)
        check_calls(source, kinds)
        check_clock(source, kinds)
    return tuple(sorted(set(source.offences))[:OFFENCE_LIMIT])
