"""Where things lie: the repository around a contract, and paths inside it that never leave it."""

import os
import re
from pathlib import Path

from bot.errors import InputError

_LABEL = re.compile(r"[A-Za-z0-9._/ +@-]{1,80}", re.ASCII)


def repository_root(path: Path) -> Path:
    """The folder above a path that holds `.git`, else the current folder."""
    absolute = path.resolve()
    for folder in absolute.parents:
        if (folder / ".git").exists():
            return folder
    return Path.cwd()


def contract_label(path: Path) -> str:
    """A contract's path in its repository, for headers and records; never a machine's own path."""
    absolute = path.resolve()
    root = repository_root(path)
    label = absolute.relative_to(root).as_posix() if root in absolute.parents else absolute.name
    if _LABEL.fullmatch(label):
        return label
    return ascii(label[-40:])[1:-1]


def path_in_repository(path: Path, root: Path) -> str:
    """Where a contract goes in a repository: its own place, or `contracts/` if it is not in there.

    Raises:
        InputError: the path has characters that do not belong into headers and records.
    """
    absolute, top = path.resolve(), root.resolve()
    inner = absolute.relative_to(top) if top in absolute.parents else Path("contracts", path.name)
    if not _LABEL.fullmatch(inner.as_posix()) or ".git" in inner.parts:
        message = f"{inner.as_posix()!a} cannot be a contract's path in a repository"
        hint = "Use letters, digits and . _ - + @ in it, 80 characters at most, outside .git."
        raise InputError(message, hint)
    return inner.as_posix()


def cache_folder() -> Path:
    """Where what can be made again is kept for all repositories of this user."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "stratwright"


def inside(root: Path, path: str) -> Path:
    """A path that a contract names, below the repository and reached without a symbolic link.

    Raises:
        InputError: it leaves the repository or goes through a link.
    """
    place = root
    for part in Path(path).parts:
        if part in ("..", "/", "\\"):
            raise InputError(f"{path} leaves the repository", "Give a path below it.")
        place = place / part
        if place.is_symlink():
            raise InputError(f"{path} goes through a symbolic link", "Give the file itself.")
    return place
