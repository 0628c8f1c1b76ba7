"""A forger who knows the form of the evidence from its documentation, and nothing of the product.

It takes the files of an honest tag, changes them, and seals them again: every digest, trailer and
message agrees. Only Git, JSON and SHA-256 are used. `Forgery.make` gives a commit; what carries it
(a tag, a branch, a pull request) is the caller's choice, so that every road can be tried.
"""

import hashlib
import json
import os
import subprocess
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NOBODY = "Mallory <mallory@example.com>"


def git(place: Path, *arguments: str, data: bytes = b"", index: Path | None = None) -> bytes:
    names = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    names |= {"GIT_INDEX_FILE": str(index)} if index else {}
    done = subprocess.run(
        ["git", *arguments],
        cwd=place,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", **names},
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout


@dataclass
class Case:
    """The parts of a sealed candidate, as lists and dictionaries to change.

    Attributes:
        files: bytes by path; None takes a file away.
        modes: modes other than 100644, by path.
        statement: provenance.json.
        trailers: the last lines of the messages.
        unlisted: files that the statement does not name.
    """

    task: str
    tag: str
    parents: list[str]
    date: str
    files: dict[str, bytes | None]
    statement: dict[str, Any]
    subject: str
    trailers: list[tuple[str, str]]
    modes: dict[str, str] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    more_words: str = ""
    tag_words: str = ""
    annotated: bool = True
    raw_statement: bytes | None = None

    @property
    def folder(self) -> str:
        return f"artifacts/{self.task}"

    def replace(self, path: str, old: bytes, new: bytes) -> None:
        content = self.files[path]
        assert content is not None, f"nothing in {path} to change"
        assert old in content, f"{old!r} is not in {path}"
        self.files[path] = content.replace(old, new, 1)

    def change_json(self, name: str, change: Callable[[Any], object]) -> None:
        path = f"{self.folder}/{name}"
        content = self.files[path]
        assert content is not None
        value = json.loads(content)
        change(value)
        self.files[path] = (json.dumps(value, indent=2) + "\n").encode()

    def trailer(self, name: str, value: str) -> None:
        self.trailers = [(key, value if key == name else old) for key, old in self.trailers]


def read_case(place: Path, tag: str) -> Case:
    """Take an honest tag apart."""
    commit = git(place, "rev-parse", f"{tag}^{{commit}}").decode().strip()
    head, _, message = git(place, "cat-file", "commit", commit).decode().partition("\n\n")
    lines = dict(line.split(" ", 1) for line in head.splitlines())
    task = "/".join(tag.split("/")[1:3])
    statement = json.loads(
        git(place, "cat-file", "blob", f"{commit}:artifacts/{task}/provenance.json")
    )
    names = [item["name"] for item in statement["subject"]]
    files: dict[str, bytes | None] = dict(zip(names, _read(place, commit, names), strict=True))
    subject, _, rest = message.partition("\n\n")
    trailers = [
        (line.split(": ", 1)[0], line.split(": ", 1)[1])
        for line in rest.partition("\n\n")[2].strip().splitlines()
    ]
    date = " ".join(lines["committer"].rsplit(" ", 2)[1:])
    return Case(task, tag, [lines["parent"]], date, files, statement, subject, trailers)


def _read(place: Path, commit: str, names: list[str]) -> Iterator[bytes]:
    """The content of files of a commit, by one process."""
    asked = "".join(f"{commit}:{name}\n" for name in names)
    answer = git(place, "cat-file", "--batch", data=asked.encode())
    for _ in names:
        head, _, answer = answer.partition(b"\n")
        size = int(head.split()[2])
        yield answer[:size]
        answer = answer[size + 1 :]


def seal(place: Path, case: Case) -> str:
    """Write the commit of a changed case, sealed so that everything agrees."""
    for name, content in case.files.items():
        if content is None or name in case.unlisted:
            continue
        digest = hashlib.sha256(content).hexdigest()
        named = {item["name"]: item for item in case.statement.get("subject") or []}
        if name in named:
            named[name]["digest"]["sha256"] = digest
        else:
            case.statement["subject"].append({"name": name, "digest": {"sha256": digest}})
    gone = {name for name, content in case.files.items() if content is None}
    subjects = [item for item in case.statement["subject"] if item["name"] not in gone]
    case.statement["subject"] = sorted(subjects, key=lambda item: str(item["name"]))
    statement = case.raw_statement
    if statement is None:
        statement = (json.dumps(case.statement, indent=2, sort_keys=True) + "\n").encode()
    sealed = hashlib.sha256(statement).hexdigest()
    words = f"{case.subject}\n\nEvidence: {case.folder} sha256:{sealed}\n\n{case.more_words}"
    words += "".join(f"{key}: {value}\n" for key, value in case.trailers)
    tree = _write_tree(place, case, {**case.files, f"{case.folder}/provenance.json": statement})
    person = f"{NOBODY} {case.date}"
    parents = "".join(f"parent {parent}\n" for parent in case.parents)
    head = f"tree {tree}\n{parents}author {person}\ncommitter {person}\n\n{words}"
    return _write(place, "commit", head.encode())


def write_tag(place: Path, case: Case, commit: str, name: str) -> str:
    """The object that a tag of this name would be."""
    if not case.annotated:
        return commit
    words = git(place, "cat-file", "commit", commit).partition(b"\n\n")[2].decode()
    head = f"object {commit}\ntype commit\ntag {name}\ntagger {NOBODY} {case.date}\n\n"
    return _write(place, "tag", (head + (case.tag_words or words)).encode())


def write_evil_base(place: Path, case: Case) -> str:
    """A commit on top of the honest base that brings a workflow of the forger's own."""
    blob = _write(place, "blob", b"on: push\njobs: {}\n")
    index = place / f".git/evil-index-{os.getpid()}"
    git(place, "read-tree", case.parents[0], index=index)
    entry = f"100644,{blob},.github/workflows/evil.yml"
    git(place, "update-index", "--add", "--cacheinfo", entry, index=index)
    tree = git(place, "write-tree", index=index).decode().strip()
    index.unlink()
    person = f"{NOBODY} {case.date}"
    head = f"tree {tree}\nparent {case.parents[0]}\nauthor {person}\ncommitter {person}\n\nchore\n"
    return _write(place, "commit", head.encode())


def _write_tree(place: Path, case: Case, files: Mapping[str, bytes | None]) -> str:
    index = place / f".git/forged-index-{os.getpid()}"
    index.unlink(missing_ok=True)
    if case.parents:
        git(place, "read-tree", case.parents[0], index=index)
    listed = "".join(
        f"0 {'0' * 40}\t{path}\0"
        if content is None
        else f"{case.modes.get(path, '100644')} {_write(place, 'blob', content)}\t{path}\0"
        for path, content in files.items()
    )
    git(place, "update-index", "-z", "--index-info", data=os.fsencode(listed), index=index)
    tree = git(place, "write-tree", index=index).decode().strip()
    index.unlink()
    return tree


def _write(place: Path, kind: str, data: bytes) -> str:
    """Put an object where Git keeps loose ones, as Git itself would: no process for each."""
    whole = f"{kind} {len(data)}\0".encode() + data
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = place / ".git/objects" / name[:2] / name[2:]
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole, 1))
    return name


@dataclass(frozen=True)
class Forgery:
    """One way to change a sealed candidate."""

    name: str
    change: Callable[[Path, Case], object]
    verified_as: tuple[str, ...] = ("broken",)

    def make(self, place: Path, honest: str) -> tuple[Case, str]:
        """The changed case and its commit."""
        case = read_case(place, honest)
        self.change(place, case)
        return case, seal(place, case)
