"""Turns files into Git objects: blobs, trees, a commit and a tag, without an index or a checkout.

Objects are named by their content, so writing them twice writes nothing new, and a run that dies
half-way leaves no more than a few objects that nothing points to, which `git gc` removes. All of
them are written by one process of Git, which gets them as a pack and keeps them as they are.
"""

import hashlib
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.errors import InputError
from bot.git.command import GitCommand
from bot.git.object_reader import ObjectReader, TreeEntry

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}


@dataclass(frozen=True)
class Ground:
    """Holds what a new commit takes over from the commit it is made on."""

    commit: str
    tree: str
    date: bytes


@dataclass(frozen=True)
class Entry:
    """Holds a file of a commit: its mode, its blob and how large that is."""

    mode: str
    id: str
    size: int


def object_id(kind: str, data: bytes, length: int = 40) -> str:
    """Name an object as Git does; `length` tells SHA-1 from the longer SHA-256."""
    return _digest(f"{kind} {len(data)}\0".encode() + data, length).hex()


def read_ground(header: bytes, commit: str) -> Ground:
    """Read tree and committer date from the object of a commit."""
    lines = header.partition(b"\n\n")[0].split(b"\n")
    committer = next(line for line in lines if line.startswith(b"committer "))
    tree = lines[0].removeprefix(b"tree ").decode()
    return Ground(commit, tree, b" ".join(committer.rsplit(b" ", 2)[1:]))


@dataclass
class NewObjects:
    """Gathers objects that one process of Git then writes.

    A commit's id depends on its content alone: its ground's date is used for the time. Neither
    commit.gpgSign nor i18n.commitEncoding of the user's configuration takes part.
    """

    reader: ObjectReader
    ground: Ground
    objects: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def tree(self, files: Mapping[str, bytes], replaced: tuple[str, ...] = ()) -> str:
        """Add the ground's tree with files added to it, of `replaced` folders nothing else.

        The bytes are taken as they are, without filters or line-end conversion.

        Raises:
            InputError: if a path is not plain, or a file and a folder would share a name.
        """
        for path in files:
            check_path(path)
        blobs = {path: self._add("blob", data) for path, data in files.items()}
        folders = frozenset(folder.strip("/") for folder in replaced)
        return self._folder(self.ground.tree, "", blobs, folders)

    def commit(self, tree: str, person: bytes, message: str) -> str:
        """Add a commit on the ground."""
        head = f"tree {tree}\nparent {self.ground.commit}\n".encode()
        signed = person + b" " + self.ground.date
        body = b"author " + signed + b"\ncommitter " + signed + b"\n\n" + message.encode()
        return self._add("commit", head + body)

    def tag(self, commit: str, name: str, person: bytes, message: str) -> str:
        """Add an annotated tag, dated as the commit's ground."""
        head = f"object {commit}\ntype commit\ntag {name}\n".encode()
        body = b"tagger " + person + b" " + self.ground.date + b"\n\n" + message.encode()
        return self._add("tag", head + body)

    def write(self, git: GitCommand) -> None:
        """Write all of them."""
        parts = [b"PACK" + struct.pack(">II", 2, len(self.objects))]
        for kind, data in self.objects.values():
            parts.append(_pack_header(_KINDS[kind], len(data)) + zlib.compress(data))
        pack = b"".join(parts)
        pack += _digest(pack, len(self.ground.commit))
        git.ask("unpack-objects", "-q", data=pack)

    def _add(self, kind: str, data: bytes) -> str:
        oid = object_id(kind, data, len(self.ground.commit))
        self.objects[oid] = (kind, data)
        return oid

    def _folder(
        self, tree: str, place: str, blobs: Mapping[str, str], replaced: frozenset[str]
    ) -> str:
        """Add one folder: what it had, with its own new files and its changed folders."""
        entries = self.reader.folder(tree) if tree and place not in replaced else {}
        below: dict[str, dict[str, str]] = {}
        for path, blob in blobs.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = blob
                continue
            if name in entries and entries[name].is_folder:
                raise _collision(f"{place}/{name}".strip("/"), "a folder", "a file")
            entries[name] = TreeEntry("100644", blob)
        for name, inner in below.items():
            inner_place = f"{place}/{name}".strip("/")
            old = entries.get(name, TreeEntry("40000", ""))
            if not old.is_folder:
                raise _collision(inner_place, "no folder", "a folder")
            written = self._folder(old.id, inner_place, inner, replaced)
            entries[name] = TreeEntry("40000", written)
        rows = ((name.encode("utf-8", "surrogateescape"), entry) for name, entry in entries.items())
        # Git sorts a folder as if its name ended in a slash.
        ordered = sorted(rows, key=lambda row: row[0] + b"/" * row[1].is_folder)
        lines = (e.mode.encode() + b" " + name + b"\0" + bytes.fromhex(e.id) for name, e in ordered)
        return self._add("tree", b"".join(lines))


def check_path(path: str) -> None:
    """Refuse a path that leaves the repository, reaches into .git or has odd characters."""
    parts = path.split("/")
    plain = path.isprintable() and "\\" not in path and ":" not in path
    if not plain or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{path!r} is not a plain path inside the repository")
    if any(part.lower().rstrip(" .") == ".git" for part in parts):
        raise InputError(f"{path!r} reaches into Git's own folder")


def _digest(data: bytes, length: int) -> bytes:
    return hashlib.new("sha1" if length == 40 else "sha256", data, usedforsecurity=False).digest()


def _pack_header(kind: int, size: int) -> bytes:
    """Write an object's kind and size as a pack has them: seven bits a byte, the last first."""
    byte, size, header = kind << 4 | size & 15, size >> 4, bytearray()
    while size:
        header.append(byte | 128)
        byte, size = size & 127, size >> 7
    header.append(byte)
    return bytes(header)


def _collision(path: str, found: str, wanted: str) -> InputError:
    message = f"{path} is {found} in the base commit, the candidate needs {wanted} there"
    return InputError(message, "Rename one of them, or give the contract another name.")
