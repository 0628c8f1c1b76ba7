"""What the bot says on GitHub: comments that are found again by marker and author, edited in place.

The marker is the comment's first line. Strangers can write it too, so a comment counts as ours
only if we wrote it; and a run never edits what a later run said.
"""

import re
from dataclasses import dataclass
from typing import Any

from bot.errors import InputError
from bot.forge.github_api import Forbidden, GitHubApi, Missing
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


class GitHubComments:
    """The comments of one repository's issues and pull requests."""

    def __init__(self, api: GitHubApi, login: str) -> None:
        self._api = api
        self._default_login = login
        self._login = ""

    @property
    def login(self) -> str:
        """Under which name we write. A workflow's token may not ask; then the settings say it."""
        if not self._login:
            try:
                self._login = str(self._api.get("/user")["login"])
            except (Forbidden, Missing):
                self._login = self._default_login
        return self._login

    def all(self, number: int) -> list[Said]:
        """Everything said under an issue or pull request, oldest first."""
        return [_said(row) for row in self._api.pages(f"issues/{number}/comments")]

    def find(self, number: int, marker: str) -> Said | None:
        """Our own comment under a marker, if there is one."""
        mine = self._mine(number, marker)
        return mine[0] if mine else None

    def stick(self, number: int, marker: str, body: str, run: int = 0) -> Said:
        """Say something once under a marker: edit the earlier comment, or write the first.

        Args:
            number: the issue's or pull request's.
            marker: which of our comments.
            body: Markdown.
            run: counts up from run to run; what a later run said stays.
        """
        if not _MARKER.fullmatch(marker):
            raise InputError(f"{marker!r} is not a comment's marker")
        head = f"<!-- stratwright:{marker}{f' run={run}' if run else ''} -->"
        text = f"{head}\n{clipped(body)}".rstrip()

        def look() -> Said | None:
            mine = self._mine(number, marker)
            current = mine[0] if mine else None
            if current and (current.run > run or (same(current.body, text))):
                self._remove(mine[1:])
                return current
            return None

        def write() -> None:
            mine = self._mine(number, marker)
            if mine:
                self._api.write("PATCH", f"issues/comments/{mine[0].id}", {"body": text})
            else:
                self._api.write("POST", f"issues/{number}/comments", {"body": text})

        return self._api.ensure(f"the comment under #{number}", look, write)

    def _mine(self, number: int, marker: str) -> list[Said]:
        return [
            said
            for said in self.all(number)
            if said.marker == marker and said.author.casefold() == self.login.casefold()
        ]

    def _remove(self, doubles: list[Said]) -> None:
        """Two runs at once, or an answer that got lost, may have left a second comment of ours."""
        for said in doubles:
            try:
                self._api.write("DELETE", f"issues/comments/{said.id}", {})
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
