"""What the bot says on GitHub: comments that are found again by marker and author, edited in place.

They stand under an issue or pull request, or, where a push asked, on the commit.

The marker is the comment's first line. Strangers can write it too, so a comment counts as ours
only if we wrote it; and a run never edits what a later run said.
"""

import re
from dataclasses import dataclass
from typing import Any

from bot.errors import InputError
from bot.forge.github_api import GitHubApi, Missing
from bot.forge.port import Comment

_MARKER = re.compile(r"[a-z][a-z0-9:/._-]{0,150}", re.ASCII)
_FIRST_LINE = re.compile(r"<!-- stratwright:([a-z][a-z0-9:/._-]{0,150})(?: run=([0-9]{1,18}))? -->")
MOST_CHARACTERS = 64_000


@dataclass(frozen=True)
class Said:
    """A comment as GitHub has it."""

    id: int
    author: str
    created: str
    marker: str
    run: int
    body: str


@dataclass(frozen=True)
class Thread:
    """Where comments stand: under an issue or pull request, or on a commit."""

    number: int = 0
    commit: str = ""

    @property
    def listed(self) -> str:
        """Where its comments are listed and made."""
        return (
            f"issues/{self.number}/comments" if self.number else f"commits/{self.commit}/comments"
        )

    @property
    def one(self) -> str:
        """Where single comments of its kind are changed."""
        return "issues/comments" if self.number else "comments"

    def __str__(self) -> str:
        return f"#{self.number}" if self.number else f"commit {self.commit[:12]}"


class GitHubComments:
    """The comments of one repository's issues, pull requests and commits."""

    def __init__(self, api: GitHubApi, login: str) -> None:
        self._api = api
        self._default_login = login
        self._login = ""

    @property
    def login(self) -> str:
        """Under which name we write; the settings say it where GitHub does not."""
        if not self._login:
            self._login = self._api.viewer() or self._default_login
        return self._login

    def all(self, thread: Thread) -> list[Said]:
        """Everything said there, oldest first."""
        return [_said(row) for row in self._api.pages(thread.listed)]

    def find(self, thread: Thread, marker: str) -> Said | None:
        """Our own comment under a marker, if there is one."""
        mine = self._mine(thread, marker)
        return mine[0] if mine else None

    def stick(self, thread: Thread, marker: str, body: str, run: int = 0) -> Said:
        """Say something once under a marker: edit the earlier comment, or write the first.

        Args:
            thread: where.
            marker: which of our comments.
            body: Markdown.
            run: counts up from run to run; what a later run said stays.
        """
        if not _MARKER.fullmatch(marker):
            raise InputError(f"{marker!r} is not a comment's marker")
        head = f"<!-- stratwright:{marker}{f' run={run}' if run else ''} -->"
        text = f"{head}\n{clipped(body)}".rstrip()

        seen: list[Said] = []

        def look() -> Said | None:
            seen[:] = self._mine(thread, marker)
            current = seen[0] if seen else None
            if current and (current.run > run or (same(current.body, text))):
                self._remove(thread, seen[1:])
                return current
            return None

        def write() -> None:
            if seen:
                self._api.write("PATCH", f"{thread.one}/{seen[0].id}", {"body": text})
                return
            thought = self._login
            self._learn(self._api.write("POST", thread.listed, {"body": text}))
            if thought and thought.casefold() != self._login.casefold():
                # Under another name than thought: an earlier run may have written already.
                mine = self._mine(thread, marker)
                if len(mine) > 1 and mine[0].run <= run:
                    self._api.write("PATCH", f"{thread.one}/{mine[0].id}", {"body": text})

        return self._api.ensure(f"the comment under {thread}", look, write)

    def _mine(self, thread: Thread, marker: str) -> list[Said]:
        return [
            said
            for said in self.all(thread)
            if said.marker == marker and said.author.casefold() == self.login.casefold()
        ]

    def _learn(self, made: dict[str, Any]) -> None:
        """Take over the name under which GitHub noted a comment: an App's token does not tell."""
        self._login = str((made.get("user") or {}).get("login") or self.login)

    def _remove(self, thread: Thread, doubles: list[Said]) -> None:
        """Two runs at once, or an answer that got lost, may have left a second comment of ours."""
        for said in doubles:
            try:
                self._api.write("DELETE", f"{thread.one}/{said.id}", {})
            except Missing:
                continue


def clipped(body: str) -> str:
    """A body that GitHub takes."""
    if len(body) <= MOST_CHARACTERS:
        return body
    return f"{body[:MOST_CHARACTERS]}\n\nToo long for a comment; the rest is in the run's summary."


def same(one: str, other: str) -> bool:
    """Whether two bodies are the same but for line ends."""
    return one.replace("\r\n", "\n").rstrip() == other.replace("\r\n", "\n").rstrip()


def as_comment(said: Said) -> Comment:
    """A comment as every forge has it."""
    body = said.body.partition("\n")[2] if said.marker else said.body
    return Comment(said.id, said.author, said.created, body, said.marker)


def _said(row: dict[str, Any]) -> Said:
    body = row.get("body") or ""
    found = _FIRST_LINE.fullmatch(body.split("\n", 1)[0].rstrip("\r"))
    user = row.get("user") or {}
    return Said(
        int(row["id"]),
        str(user.get("login", "")),
        str(row.get("created_at", "")),
        found[1] if found else "",
        int(found[2] or 0) if found else 0,
        body,
    )
