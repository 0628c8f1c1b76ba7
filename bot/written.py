"""Texts to files under a folder: whole files or none, and never through a symbolic link."""

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from bot.errors import InputError, WorldError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
