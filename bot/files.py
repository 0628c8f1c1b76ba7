"""Files of ours on a disk: where they lie, how they are written whole, how lines are appended."""

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bot.errors import InputError, WorldError

_LABEL = re.compile(r"[A-Za-z0-9._/ +@-]{1,80}", re.ASCII)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


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


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write every text to its path under the folder; all are complete before any takes its place.

    Raises:
        InputError: if the folder is a file, or a link stands in the way.
        WorldError: if the disk does not take them.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            root = _opened(stack, os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            moves = [_stage(stack, root, path, text) for path, text in files.items()]
            for parent, draft, name in moves:
                os.replace(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is not a folder", "Give --out another folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot write under {folder}: {reason.lower()}"
        raise WorldError(message, "Check the disk and the permissions of the folder.") from None


def _stage(
    stack: contextlib.ExitStack, root: int, path: str, text: str | bytes
) -> tuple[int, str, str]:
    """Write a text beside its final place; the draft goes away if it never gets there."""
    *folders, name = PurePosixPath(path).parts
    if path.startswith("/") or ".." in (*folders, name):
        raise InputError(f"{path} leaves the folder", "Give paths below it.")
    parent = root
    for part in folders:
        parent = _enter(stack, parent, part, path)
    if _is_link(parent, name):
        raise InputError(f"{path} is a symbolic link", "Remove it, or give --out another folder.")
    draft = f".{name}.{secrets.token_hex(4)}.part"
    descriptor = os.open(draft, _NEW_FILE, 0o644, dir_fd=parent)
    stack.callback(_remove, draft, parent)
    with open(descriptor, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
    return parent, draft, name


def _enter(stack: contextlib.ExitStack, parent: int, part: str, path: str) -> int:
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, dir_fd=parent)
    try:
        return _opened(stack, os.open(part, _FOLDER, dir_fd=parent))
    except OSError:
        message = f"{part} in the way of {path} is a link or no folder"
        raise InputError(message, "Remove it, or give --out another folder.") from None


def _opened(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _is_link(parent: int, name: str) -> bool:
    try:
        os.readlink(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _remove(draft: str, parent: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=parent)


@dataclass(frozen=True)
class Line:
    """A whole line, without its end, and the place in the file behind it."""

    data: bytes
    end: int


def append_line(path: Path, line: bytes, *, keep: int = 0, limit: int = 0) -> None:
    """Append one line, in one write, under a lock that dies with its holder.

    A torn line that a crash left is closed first, so that it spoils nothing but itself. If the disk
    takes only a part of the line, the part is taken back. From `limit` bytes on (0: never) the file
    is full; `keep` full ones stay beside it, as `.1` (newest) and on.

    Raises:
        WorldError: if the disk does not take it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _open_locked(path)
        try:
            if limit and os.fstat(descriptor).st_size >= limit:
                _turn_over(path, keep)
                os.close(descriptor)
                descriptor = _open_locked(path)
            _write(descriptor, line.replace(b"\n", b" ") + b"\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        message = f"cannot append to {path}: {error.strerror}"
        raise WorldError(message, "Check the disk and the permissions of the file.") from None


def read_lines(path: Path, start: int = 0) -> Iterator[Line]:
    """Read the whole lines from a place on; a last line without its end is still being written."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            for data in file:
                if not data.endswith(b"\n"):
                    return
                start += len(data)
                yield Line(data[:-1], start)
    except FileNotFoundError:
        return


def _open_locked(path: Path) -> int:
    """Lock the file that stands at the path now; another program may just have turned it over."""
    while True:
        descriptor = os.open(path, _FLAGS, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    try:
        complete = os.write(descriptor, data) == len(data)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    if not complete:
        os.ftruncate(descriptor, size)
        raise OSError(0, "the disk took only a part of the line")


def _turn_over(path: Path, keep: int) -> None:
    """Move the full file aside; once it has moved, another program may have begun the next."""
    if keep == 0:
        path.unlink(missing_ok=True)
    for number in range(keep, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        newer = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        if newer.exists():
            newer.replace(older)
