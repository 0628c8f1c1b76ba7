"""Says things on GitHub: comments are found again by marker and author, and edited in place.

They stand under an issue or pull request, or, where a push asked, on the commit.

The marker is the comment's first line. Strangers can write it too, so a comment counts as ours
only if we wrote it; and a run never edits what a later run said.
"""

import re
from hashlib import sha256

from bot.errors import InputError
from bot.forge.github.api import GitHubApi, Missing, Row
from bot.forge.port import Comment, Thread

_MARKER = re.compile(r"[a-z][a-z0-9:/._-]{0,150}", re.ASCII)
_FIRST_LINE = re.compile(r"<!-- stratwright:([a-z][a-z0-9:/._-]{0,150})(?: run=([0-9]{1,18}))? -->")
MOST_CHARACTERS = 64_000


class GitHubThreads:
    """The comments of one repository's issues, pull requests and commits."""

    def __init__(self, api: GitHubApi, login: str, address: str) -> None:
        self._api = api
        self._address = address
        self._default_login = login
        self._login = ""

    @property
    def login(self) -> str:
        """Under which name we write; the settings say it where GitHub does not."""
        if not self._login:
            self._login = self._api.viewer() or self._default_login
        return self._login

    def all(self, thread: Thread) -> tuple[Comment, ...]:
        """Return everything said there, oldest first."""
        return tuple(_comment(row) for row in self._api.pages(_listed(thread)))

    def find(self, thread: Thread, marker: str) -> Comment | None:
        """Return our own comment under a marker, if there is one."""
        mine = self._mine(thread, marker)
        return mine[0] if mine else None

    def address(self, thread: Thread) -> str:
        """Return the page of an issue, a pull request or a commit."""
        below = f"issues/{thread.number}" if thread.number else f"commit/{thread.commit}"
        return f"{self._address}/{below}"

    def anchor(self, comment: int) -> str:
        """Return what leads from an issue's page to a comment."""
        return f"#issuecomment-{comment}"

    def say(self, thread: Thread, body: str, marker: str = "", run: int = 0) -> Comment:
        """Say something once: edit the earlier comment under the marker, or write the first.

        Without a `marker`, what it says is its own. `run` counts up: what a later run said stays.
        """
        marker = marker or f"said:{sha256(body.encode()).hexdigest()[:16]}"
        if not _MARKER.fullmatch(marker):
            raise InputError(f"{marker!r} is not a comment's marker")
        head = f"<!-- stratwright:{marker}{f' run={run}' if run else ''} -->"
        shown = clipped(body).rstrip()
        text = f"{head}\n{shown}"

        seen: list[Comment] = []

        def look() -> Comment | None:
            seen[:] = self._mine(thread, marker)
            current = seen[0] if seen else None
            right = current and current.run == run and same(current.body, shown)
            if current and (right or current.run > run):
                self._remove(thread, seen[1:])
                return current
            return None

        def write() -> None:
            if seen:
                self._api.write("PATCH", f"{_one(thread)}/{seen[0].id}", {"body": text})
                return
            thought = self._login
            self._learn(self._api.write("POST", _listed(thread), {"body": text}))
            if thought and thought.casefold() != self._login.casefold():
                # Under another name than thought: an earlier run may have written already.
                mine = self._mine(thread, marker)
                if len(mine) > 1 and mine[0].run <= run:
                    self._api.write("PATCH", f"{_one(thread)}/{mine[0].id}", {"body": text})

        # Jobs of one run may edit the same comment at once; who looks and sees another's text
        # writes its own again.
        return self._api.ensure(
            f"the comment under {thread}", look, write, harmless=lambda: bool(seen)
        )

    def _mine(self, thread: Thread, marker: str) -> list[Comment]:
        return [
            said
            for said in self.all(thread)
            if said.marker == marker and said.author.casefold() == self.login.casefold()
        ]

    def _learn(self, made: Row) -> None:
        """Take over the name under which GitHub noted a comment: an App's token does not tell."""
        self._login = str((made.get("user") or {}).get("login") or self.login)

    def _remove(self, thread: Thread, doubles: list[Comment]) -> None:
        """Two runs at once, or an answer that got lost, may have left a second comment of ours."""
        for said in doubles:
            try:
                self._api.write("DELETE", f"{_one(thread)}/{said.id}", {})
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


def _listed(thread: Thread) -> str:
    """Return where the comments of a thread are listed and made."""
    return (
        f"issues/{thread.number}/comments" if thread.number else f"commits/{thread.commit}/comments"
    )


def _one(thread: Thread) -> str:
    """Return where single comments of a thread's kind are changed."""
    return "issues/comments" if thread.number else "comments"


def _comment(row: Row) -> Comment:
    body = row.get("body") or ""
    first, _, rest = body.partition("\n")
    found = _FIRST_LINE.fullmatch(first.rstrip("\r"))
    user = row.get("user") or {}
    return Comment(
        int(row["id"]),
        str(user.get("login", "")),
        str(row.get("created_at", "")),
        rest if found else body,
        found[1] if found else "",
        int(found[2] or 0) if found else 0,
    )
