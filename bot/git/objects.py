"""Files to Git objects: blobs, trees, a commit and a tag, without an index or a checkout.

Objects are named by their content, so writing them twice writes nothing new, and a run that dies
half-way leaves no more than a few objects that nothing points to, which `git gc` removes.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import InputError
from bot.git.command import GitCommand


@dataclass(frozen=True)
class Ground:
    """What a new commit takes over from the commit it stands on."""

    commit: str
    tree: str
    date: bytes


@dataclass(frozen=True)
class Entry:
    """A file of a commit: its mode, its blob and how large that is."""

    mode: str
    id: str
    size: int


@dataclass(frozen=True)
class _Entry:
    mode: str
    kind: str
    id: str


def read_ground(git: GitCommand, commit: str) -> Ground:
    """Read tree and committer date of a commit."""
    header = git.ask("cat-file", "commit", commit).out.partition(b"\n\n")[0].split(b"\n")
    tree = header[0].removeprefix(b"tree ").decode()
    committer = next(line for line in header if line.startswith(b"committer "))
    return Ground(commit, tree, b" ".join(committer.rsplit(b" ", 2)[1:]))


def write_tree(
    git: GitCommand, tree: str, files: Mapping[str, bytes], replaced: tuple[str, ...] = ()
) -> str:
    """Write a tree with the files added to it.

    Args:
        git: the repository's Git.
        tree: the tree to start from.
        files: bytes by path; written as they are, no filter and no line-end conversion.
        replaced: folders of which nothing is taken over.

    Raises:
        InputError: if a path is not plain, or a file and a folder would share a name.
    """
    for path in files:
        check_path(path)
    blobs = {path: write_object(git, "blob", data) for path, data in sorted(files.items())}
    return _write_folder(git, tree, "", blobs, frozenset(folder.strip("/") for folder in replaced))


def write_commit(git: GitCommand, ground: Ground, tree: str, person: bytes, message: str) -> str:
    """Write a commit whose id depends on its content alone: the ground's date stands for the time.

    It is written as an object, so neither commit.gpgSign nor i18n.commitEncoding of the user's
    configuration takes part.
    """
    head = f"tree {tree}\nparent {ground.commit}\n".encode()
    signed = person + b" " + ground.date
    body = b"author " + signed + b"\ncommitter " + signed + b"\n\n" + message.encode()
    return write_object(git, "commit", head + body)


def write_tag(
    git: GitCommand, ground: Ground, commit: str, name: str, person: bytes, message: str
) -> str:
    """Write an annotated tag, dated as the commit's ground."""
    head = f"object {commit}\ntype commit\ntag {name}\n".encode()
    body = b"tagger " + person + b" " + ground.date + b"\n\n" + message.encode()
    return write_object(git, "tag", head + body)


def write_object(git: GitCommand, kind: str, data: bytes) -> str:
    """Write one object and give its id."""
    return git.ask("hash-object", "-w", "-t", kind, "--stdin", data=data).text


def blob_id(data: bytes, length: int = 40) -> str:
    """Name bytes as Git does; `length` tells SHA-1 from the longer SHA-256."""
    algorithm = "sha1" if length == 40 else "sha256"
    content = b"blob %d\0" % len(data) + data
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()


def check_path(path: str) -> None:
    """Refuse a path that leaves the repository, reaches into .git or has odd characters."""
    parts = path.split("/")
    plain = path.isprintable() and "\\" not in path and ":" not in path
    if not plain or any(part in ("", ".", "..") for part in parts):
        raise InputError(f"{path!r} is not a plain path inside the repository")
    if any(part.lower().rstrip(" .") == ".git" for part in parts):
        raise InputError(f"{path!r} reaches into Git's own folder")


def _write_folder(
    git: GitCommand, tree: str, place: str, blobs: Mapping[str, str], replaced: frozenset[str]
) -> str:
    """Write one folder: what it had, with its own new files and its changed folders."""
    entries = {} if place in replaced else _read_folder(git, tree)
    below: dict[str, dict[str, str]] = {}
    for path, blob in blobs.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = blob
            continue
        if name in entries and entries[name].kind == "tree":
            raise _collision(f"{place}/{name}".strip("/"), "a folder", "a file")
        entries[name] = _Entry("100644", "blob", blob)
    for name, inner in below.items():
        inner_place = f"{place}/{name}".strip("/")
        old = entries.get(name, _Entry("040000", "tree", ""))
        if old.kind != "tree":
            raise _collision(inner_place, "no folder", "a folder")
        written = _write_folder(git, old.id, inner_place, inner, replaced)
        entries[name] = _Entry("040000", "tree", written)
    lines = [f"{entry.mode} {entry.kind} {entry.id}\t{name}\0" for name, entry in entries.items()]
    # --missing: in a partial clone, what is taken over need not be here.
    text = "".join(lines).encode("utf-8", "surrogateescape")
    return git.ask("mktree", "-z", "--missing", data=text).text


def _read_folder(git: GitCommand, tree: str) -> dict[str, _Entry]:
    if not tree:
        return {}
    entries = {}
    listed = git.ask("ls-tree", "-z", "--full-tree", tree).out
    for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        head, _, name = line.partition("\t")
        entries[name] = _Entry(*head.split())
    return entries


def _collision(path: str, found: str, wanted: str) -> InputError:
    message = f"{path} is {found} in the base commit, the candidate needs {wanted} there"
    return InputError(message, "Rename one of them, or give the contract another name.")
