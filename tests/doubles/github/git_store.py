"""A bare repository as GitHub's Git database: what pushes bring and what the API writes agree."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from bot.git.command import Answer, GitCommand, explain
from tests.doubles.github.messages import Json

SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Person:
    """Who wrote or committed, and when."""

    name: str
    email: str
    date: datetime

    @property
    def line(self) -> str:
        """As a commit object has it."""
        offset = self.date.strftime("%z") or "+0000"
        return f"{self.name} <{self.email}> {int(self.date.timestamp())} {offset}"

    @property
    def json(self) -> Json:
        """As the API has it."""
        date = self.date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"name": self.name, "email": self.email, "date": date}


@dataclass(frozen=True)
class Commit:
    """A commit object, read."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


@dataclass(frozen=True)
class Entry:
    """A line of a tree."""

    mode: str
    kind: str
    sha: str
    size: int | None = None


@dataclass(frozen=True)
class FileChange:
    """What a diff does to one file."""

    path: str
    status: str
    sha: str
    additions: int
    deletions: int
    patch: str
    previous: str = ""


class GitStore:
    """One bare repository. A copy of it keeps the refs it had when it was copied."""

    def __init__(self, path: Path, refs: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._git = GitCommand(path, path)
        self._then = refs
        self._facts: dict[tuple[str, ...], Answer] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "GitStore":
        copied = GitStore(self.path, self.refs())
        copied._facts = self._facts
        return copied

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """All refs that begin with a prefix, with what they point to."""
        if self._then is not None:
            return {name: sha for name, sha in self._then.items() if name.startswith(prefix)}
        listed = self._git.ask("for-each-ref", "--format=%(refname) %(objectname)").text
        pairs = (line.split(" ") for line in listed.splitlines())
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    def ref(self, name: str) -> str | None:
        """What a full ref name points to."""
        return self.refs(name).get(name)

    def resolve(self, name: str) -> str | None:
        """The commit that a branch, a tag, a full ref name or a SHA stands for."""
        refs = self.refs()
        names = (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name)
        sha = next((refs[each] for each in names if each in refs), name)
        if not re.fullmatch(r"[0-9a-f]{4,40}", sha):
            return None
        found = self._fact("rev-parse", "--verify", "--quiet", f"{sha}^{{commit}}")
        return found.text if found.code == 0 else None

    def kind(self, sha: str) -> str | None:
        """blob, tree, commit or tag; None if there is no such object."""
        if not SHA.fullmatch(sha):
            return None
        found = self._fact("cat-file", "-t", sha)
        return found.text if found.code == 0 else None

    def blob(self, sha: str) -> bytes:
        """A file's bytes."""
        return self._read("cat-file", "blob", sha)

    def commit(self, sha: str) -> Commit:
        """Read a commit."""
        raw = self._read("cat-file", "commit", sha).decode("utf-8", "replace")
        head, _, message = raw.partition("\n\n")
        fields = [line.partition(" ")[::2] for line in head.splitlines()]
        found = dict(reversed(fields))
        parents = tuple(value for name, value in fields if name == "parent")
        author, committer = _person(found["author"]), _person(found["committer"])
        return Commit(sha, found["tree"], parents, author, committer, message.rstrip("\n"))

    def tree(self, sha: str) -> dict[str, Entry]:
        """A tree's lines by path."""
        listed = self._read("ls-tree", "-z", "-l", "--full-tree", sha)
        entries = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            head, _, path = line.partition("\t")
            mode, kind, entry, size = head.split()
            entries[path] = Entry(mode, kind, entry, None if size == "-" else int(size))
        return entries

    def entry(self, commit: str, path: str) -> Entry | None:
        """What a commit has at a path."""
        if not path:
            return Entry("040000", "tree", self.commit(commit).tree)
        listed = self._read("ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
        if not listed:
            return None
        mode, kind, sha, size = listed.decode("utf-8", "replace").partition("\t")[0].split()
        return Entry(mode, kind, sha, None if size == "-" else int(size))

    def write_commit(
        self, tree: str, parents: Iterable[str], author: Person, committer: Person, message: str
    ) -> str:
        """Write a commit."""
        lines = [f"tree {tree}", *(f"parent {sha}" for sha in parents)]
        lines += [f"author {author.line}", f"committer {committer.line}", "", message]
        data = "\n".join(lines).encode()
        return self._git.ask("hash-object", "-w", "-t", "commit", "--stdin", data=data).text

    def set_ref(self, name: str, sha: str) -> bool:
        """Point a ref at an object; False if Git refuses the name."""
        return self._git.run("update-ref", name, sha).code == 0

    def fetch(self, other: "GitStore", sha: str) -> None:
        """Take over another repository's objects."""
        self._git.ask("fetch", "-q", "--no-write-fetch-head", str(other.path), sha)

    def contains(self, commit: str, ancestor: str) -> bool:
        """Whether a commit has another one in its history."""
        return self._fact("merge-base", "--is-ancestor", ancestor, commit).code == 0

    def merge_base(self, one: str, other: str) -> str | None:
        """Where two histories part."""
        found = self._fact("merge-base", one, other)
        return found.text if found.code == 0 else None

    def log(self, tip: str, without: str = "") -> list[str]:
        """Commits reachable from a tip, newest first."""
        hidden = [f"^{without}"] if without else []
        return self._read("rev-list", tip, *hidden).decode().split()

    def merge(self, base: str, head: str) -> str | None:
        """The tree of a merge; None if the two are in conflict."""
        found = self._fact("merge-tree", "--write-tree", base, head)
        return found.text.split("\n")[0] if found.code == 0 else None

    def changes(self, old: str, new: str) -> list[FileChange]:
        """What lies between two commits or trees, file by file."""
        raw = self._read("diff-tree", "-r", "-M", "-z", "--raw", "--numstat", old, new)
        parts = raw.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return [self._change(old, new, *each) for each in _read_changes(parts)]

    def _fact(self, *arguments: str) -> Answer:
        """Ask what can never change, because it is about objects by their names; so ask once."""
        known = self._facts.get(arguments)
        if known is not None:
            return known
        answer = self._git.run(*arguments)
        no = answer.code == 1 and arguments[0] in ("merge-base", "merge-tree")
        if answer.code == 0 or no:
            self._facts[arguments] = answer
        return answer

    def _read(self, *arguments: str) -> bytes:
        answer = self._fact(*arguments)
        if answer.code:
            raise explain(answer)
        return answer.out

    def _change(
        self, old: str, new: str, letter: str, sha: str, path: str, previous: str, counts: str
    ) -> FileChange:
        names = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}
        added, _, removed = counts.partition("\t")
        paths = [each for each in (previous, path) if each]
        shown = self._read("diff-tree", "-r", "-M", "-p", old, new, "--", *paths)
        patch = shown.decode("utf-8", "replace").partition("\n@@")
        text = f"@@{patch[2]}".rstrip("\n") if patch[1] else ""
        additions, deletions = (int(each) if each.isdigit() else 0 for each in (added, removed))
        return FileChange(path, names[letter], sha, additions, deletions, text, previous)


def _read_changes(parts: list[str]) -> Iterable[tuple[str, str, str, str, str]]:
    """Join the raw lines and the counts that `diff-tree -z --raw --numstat` gives after them."""
    raw: list[tuple[str, str, str, str]] = []
    counts: list[str] = []
    at = 0
    while at < len(parts):
        if parts[at].startswith(":"):
            _, _, old, new, letter = parts[at].split(" ")
            renamed = letter[0] == "R"
            paths = parts[at + 1 : at + 2 + renamed]
            sha = old if letter == "D" else new
            raw.append((letter[0], sha, paths[-1], paths[0] if renamed else ""))
            at += 2 + renamed
        else:
            count, _, path = parts[at].rpartition("\t")
            counts.append(count)
            at += 1 if path else 3
    return [(*line, count) for line, count in zip(raw, counts, strict=True)]


def _person(line: str) -> Person:
    found = re.fullmatch(r"(.*?) ?<(.*)> (\d+) ([+-])(\d\d)(\d\d)", line)
    if found is None:
        return Person(line, "", datetime.fromtimestamp(0, UTC))
    name, email, seconds, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    return Person(name, email, datetime.fromtimestamp(int(seconds), timezone(offset)))
