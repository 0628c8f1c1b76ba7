"""Lets a model read one folder and write planned files in it; no path and no link leads out.

Every step of a path is opened from the folder before it and never through a link, so that nothing
that is put in the way between a check and its use is followed.
"""

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.coder.constitution import ConstitutionViolated, is_protected
from bot.coder.model.tools import ToolRefused
from bot.gates.constitution import is_plain_path

MOST_BYTES = 200_000
_MOST_LISTED = 300
_MOST_FOUND = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Jail:
    """Holds a folder open; `writable` are the files that the plan allows in this round."""

    def __init__(self, root: Path, writable: frozenset[str], most_changes: int) -> None:
        self._root = os.open(root, _FOLDER)
        self._writable = writable
        self._most = most_changes
        self.changed: set[str] = set()

    def close(self) -> None:
        """Let the folder go."""
        os.close(self._root)

    def read(self, path: str) -> str:
        """Give a file's text."""
        with self._folder(path) as (folder, name):
            try:
                descriptor = os.open(name, _READ, dir_fd=folder)
            except OSError as error:
                raise _refused(path, error) from None
            try:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                    raise ToolRefused(f"{path} is not a plain file")
                data = os.read(descriptor, MOST_BYTES + 1)
            finally:
                os.close(descriptor)
        if len(data) > MOST_BYTES:
            raise ToolRefused(f"{path} is larger than {MOST_BYTES} bytes")
        return data.decode("utf-8", "replace")

    def write(self, path: str, text: str) -> None:
        """Put a planned file in place at once.

        Raises:
            ConstitutionViolated: the file is protected.
            ToolRefused: the plan does not name it, or there were too many.
        """
        if is_protected(path):
            raise ConstitutionViolated([path])
        if path not in self._writable:
            allowed = ", ".join(sorted(self._writable))
            raise ToolRefused(f"the plan does not let you write {path}; you may write: {allowed}")
        if len({*self.changed, path}) > self._most:
            raise ToolRefused(f"more than {self._most} files would be changed")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            raise ToolRefused("the text is not Unicode") from None
        if len(data) > MOST_BYTES:
            raise ToolRefused(f"more than {MOST_BYTES} bytes")
        with self._folder(path, make=True) as (folder, name):
            beside = f".{secrets.token_hex(8)}"
            try:
                descriptor = os.open(beside, _MAKE, 0o600, dir_fd=folder)
                with open(descriptor, "wb") as file:
                    file.write(data)
                # A link in its place is replaced, not followed.
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                raise _refused(path, error) from None
        self.changed.add(path)

    def names(self, path: str) -> list[str]:
        """Name what is in a folder; folders end with a slash, links are left out."""
        with self._folder(f"{path.rstrip('/')}/." if path.strip("./") else ".") as (folder, _):
            return sorted(_names(folder))[:_MOST_LISTED]

    def info(self, path: str) -> dict[str, object]:
        """Describe a file."""
        text = self.read(path)
        data = text.encode("utf-8", "replace")
        digest = hashlib.sha256(data).hexdigest()
        lines = len(text.splitlines())
        return {"bytes": len(data), "lines": lines, "sha256": digest,
                "writable": path in self._writable}  # fmt: skip

    def search(self, text: str, path: str = "") -> list[str]:
        """Find the lines that hold a text, as path:line: words."""
        found: list[str] = []
        for name in self._files(path.strip("/.")):
            try:
                lines = self.read(name).splitlines()
            except ToolRefused:
                continue
            found += [f"{name}:{n}: {line.strip()[:200]}" for n, line in enumerate(lines, 1)
                      if text in line]  # fmt: skip
            if len(found) >= _MOST_FOUND:
                break
        return found[:_MOST_FOUND]

    def _files(self, path: str, depth: int = 8) -> Iterator[str]:
        for name in self.names(path):
            inner = f"{path}/{name}" if path else name
            if not name.endswith("/"):
                yield inner
            elif depth:
                yield from self._files(inner.rstrip("/"), depth - 1)

    @contextmanager
    def _folder(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Open the folder of a path, step by step; gives it with the last name."""
        *steps, name = path.split("/")
        if path != "." and not is_plain_path("/".join(steps) if name == "." else path):
            raise ToolRefused(f"{path!a} is not a plain path below the folder you work in")
        folder = os.dup(self._root)
        try:
            for step in steps:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(step, 0o700, dir_fd=folder)
                inner = os.open(step, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder, name
        except OSError as error:
            raise _refused(path, error) from None
        finally:
            os.close(folder)


def _names(folder: int) -> Iterator[str]:
    for name in os.listdir(folder):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            yield f"{name}/"
        elif stat.S_ISREG(mode):
            yield name


def _refused(path: str, error: OSError) -> ToolRefused:
    return ToolRefused(f"{path!a}: {(error.strerror or 'it cannot be used').lower()}")
