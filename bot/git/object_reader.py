"""Reads objects by their names through two processes of Git that stay open."""

import os
import re
import select
import subprocess
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import WorldError
from bot.git.command import LOCAL_TIMEOUT_S, GitCommand, popen_of

if TYPE_CHECKING:
    from git.cmd import Git

_FOUND = re.compile(rb"([0-9a-f]{40,64}) (commit|tree|blob|tag) ([0-9]+)")
_MOST_READ = 1 << 20


@dataclass(frozen=True)
class Found:
    """Names an object: its id, its kind and how large it is."""

    id: str
    kind: str
    size: int


@dataclass(frozen=True)
class TreeEntry:
    """Names what a folder has under one name."""

    mode: str
    id: str

    @property
    def is_folder(self) -> bool:
        """Says whether it is a folder."""
        return self.mode == "40000"

    @property
    def is_file(self) -> bool:
        """Says whether it is a plain file: no link, no folder, no submodule."""
        return self.mode in ("100644", "100755", "100664")


class ObjectReader:
    """Finds and reads the objects of a repository; new objects and refs are seen at once."""

    def __init__(self, git: GitCommand) -> None:
        self._check = _Batch(git, "--batch-check")
        self._batch = _Batch(git, "--batch")

    def find(self, name: str) -> Found | None:
        """Find the object that a ref, an id or an expression names; None if there is none."""
        if "\n" in name or "\0" in name:
            return None
        return self._check.ask(name)[0]

    def read(self, name: str, kind: str) -> bytes | None:
        """Read an object of a kind; None if there is none of this name and kind."""
        found = self.find(name)
        return self._batch.ask(found.id)[1] if found and found.kind == kind else None

    def folder(self, tree: str) -> dict[str, TreeEntry]:
        """Read one folder; empty if there is none of this name."""
        data, entries, start = self.read(tree, "tree") or b"", {}, 0
        size = len(tree) // 2
        while start < len(data):
            end = data.index(b"\0", start)
            mode, _, name = data[start:end].partition(b" ")
            start = end + 1 + size
            oid = data[end + 1 : start].hex()
            entries[name.decode("utf-8", "surrogateescape")] = TreeEntry(mode.decode(), oid)
        return entries

    def entry(self, commit: str, path: str) -> TreeEntry | None:
        """Find what a commit has at a path."""
        root = self.find(f"{commit}^{{tree}}")
        found = TreeEntry("40000", root.id) if root else None
        for name in path.split("/"):
            if found is None or not found.is_folder:
                return None
            found = self.folder(found.id).get(name)
        return found


class _Batch:
    """Asks one process, which is started when first needed and ends with its reader."""

    def __init__(self, git: GitCommand, mode: str) -> None:
        self._git = git
        self._mode = mode
        self._handle: Git.AutoInterrupt | None = None
        self._owner = 0
        self._rest = b""
        self._lock = threading.Lock()

    def ask(self, name: str) -> tuple[Found | None, bytes]:
        """Ask for an object: what it is, and its bytes where they are read."""
        with self._lock:
            try:
                self._send(name)
                match = _FOUND.fullmatch(self._line())
                if match is None:
                    return None, b""
                found = Found(match[1].decode(), match[2].decode(), int(match[3]))
                content = b"" if self._mode == "--batch-check" else self._bytes(found.size + 1)
                return found, content[:-1]
            except (EOFError, OSError):
                self._handle = None
        # It ended: what a command of its own says is the reason.
        self._git.ask("cat-file", "-p", name)
        raise WorldError(f"git cat-file ended at {name[:80]!a}", "Run again.")

    def _send(self, name: str) -> None:
        # A forked child must not share its parent's pipes.
        if self._handle is None or self._owner != os.getpid():
            settings = ("-c", "core.warnAmbiguousRefs=false")
            self._handle, self._rest = self._git.start(*settings, "cat-file", self._mode), b""
            self._owner = os.getpid()
            weakref.finalize(self, _end, popen_of(self._handle), self._owner)
        pipe = popen_of(self._handle).stdin
        assert pipe is not None  # noqa: S101 - started with a pipe
        os.write(pipe.fileno(), name.encode("utf-8", "surrogateescape") + b"\n")

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            self._rest += self._more()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _bytes(self, size: int) -> bytes:
        parts, length = [self._rest], len(self._rest)
        while length < size:
            parts.append(self._more())
            length += len(parts[-1])
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def _more(self) -> bytes:
        assert self._handle is not None  # noqa: S101 - something was asked
        pipe = popen_of(self._handle).stdout
        assert pipe is not None  # noqa: S101 - started with a pipe
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN | select.POLLHUP)
        if not waiting.poll(LOCAL_TIMEOUT_S * 1000):
            self._handle = None
            message = f"git cat-file did not answer within {LOCAL_TIMEOUT_S:g} s"
            raise WorldError(message, "Check the network and the disk, then run again.")
        data = os.read(pipe.fileno(), _MOST_READ)
        if not data:
            raise EOFError
        return data


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """End a process that only reads; a forked child leaves its parent's alone."""
    if os.getpid() != owner:
        return
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()
