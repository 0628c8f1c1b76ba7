"""Names the files that no coder may change, and checks what a coder says that it changed."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from bot.contract.code_paths import CODES_FOLDER, FREQTRADE_FOLDER, TESTS_FOLDER

PROTECTED_FILES = frozenset(
    {"provenance.py", "modification_log.py", "self_modification.py", "constitutional.py"}
)
_ALLOWED = (CODES_FOLDER, FREQTRADE_FOLDER, TESTS_FOLDER)


def violations(paths: Iterable[str]) -> list[str]:
    """List the paths that a coder may not change: all but files of the generated folders."""
    return [path for path in paths if not _is_allowed(path)]


def _is_allowed(path: str) -> bool:
    name = PurePosixPath(path)
    return (
        name.as_posix() == path
        and ".." not in name.parts
        and name.parent.as_posix() in _ALLOWED
        and name.name not in PROTECTED_FILES
    )
