"""Says which class of file a path and its content belong to."""

import ast
from pathlib import PurePosixPath

from bot.contract.code_paths import CODES_FOLDER, FREQTRADE_FOLDER, TESTS_FOLDER
from bot.gates.static.syntax_tree import last_name, read_tree
from bot.gates.static.vocabulary import FileClass


def class_by_path(path: str) -> FileClass | None:
    """Give the class of a file of the repository, as the plan lays files out."""
    parts = PurePosixPath(path).parts
    if parts[-2:-1] == (TESTS_FOLDER,) and parts[-1].startswith("test_"):
        return "test"
    folder = "/".join(parts[-3:-1])
    if folder == FREQTRADE_FOLDER:
        return "freqtrade"
    if folder == CODES_FOLDER:
        return "strategy"
    return None


def guess_class(path: str, content: bytes) -> FileClass:
    """Guess the class of any file; the strict one if nothing speaks for another."""
    by_path = class_by_path(path)
    if by_path is not None:
        return by_path
    tree, _ = read_tree(content)
    for node in tree.nodes if tree is not None else ():
        if isinstance(node, ast.ClassDef) and "IStrategy" in map(last_name, node.bases):
            return "freqtrade"
    return "strategy"
