"""Checks the first line of a function or class, as a module contract gives it."""

import ast
import warnings

from bot.contract.fields import Checked, wrong

_LONGEST = 500
_WORDS = "a line such as def load(path: str) -> list[int], or class Store"


def check_signature(value: object) -> str:
    """Take one line of Python that starts a function or a class."""
    if not isinstance(value, str):
        raise wrong("expected a signature", value, allowed=_WORDS)
    line = value.strip().removesuffix(":").rstrip()
    if not line or len(line) > _LONGEST or "\n" in line or "#" in line:
        raise wrong("not a signature on one line", value, allowed=_WORDS)
    if not _is_definition(line):
        raise wrong("not a signature in Python", value, allowed=_WORDS)
    return line


def _is_definition(line: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(f"{line}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return len(body) == 1 and isinstance(body[0], kinds) and not body[0].decorator_list


SIGNATURE = Checked(check_signature, {"type": "string", "maxLength": _LONGEST})
