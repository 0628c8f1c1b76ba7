"""The hub and its refs to a value that two runs can be compared by, and what was claimed there."""

import re
from typing import Any

from bot.report.hidden_block import read_hidden_block
from tests.bot.workflow.hub import World, git
from tests.doubles.github.state import Issue

_MARKER = re.compile(r"<!-- stratwright:([a-z][^ ]*)(?: run=[0-9]+)? -->\n?")
_PROPOSED = re.compile(r"(?:proposed in|so) #([0-9]+)")
OPENED = "- [x] Pull request opened"
_CLOSED = re.compile(r"#([0-9]+) is closed:")

Comments = dict[tuple[str, str], list[str]]


def plain(text: str, world: World) -> str:
    """A text without what differs from run to run."""
    text = text.replace(world.hub.url, "HUB").replace("\r\n", "\n")
    return re.sub(r"actions/runs/[0-9]+", "actions/runs/N", text).strip()


def refs(world: World) -> dict[str, str]:
    listed = git(world.bare, "for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split() for line in listed.splitlines())


def objects(world: World) -> dict[str, Any]:
    """Branches, tags, pull requests, labels, checks: all but what was said."""
    record = world.hosted.record
    latest = {(run.head_sha, run.name): run for _, run in sorted(record.checks.items())}
    return {
        "refs": refs(world),
        "issues": [_issue(issue, world) for _, issue in sorted(record.issues.items())],
        "checks": {
            key: (
                run.conclusion,
                run.external_id,
                run.output.get("title"),
                plain(run.output.get("summary") or "", world),
                len(run.annotations),
            )
            for key, run in latest.items()
        },
        "statuses": sorted((each.sha, each.context, each.state) for each in record.statuses),
    }


def _issue(issue: Issue, world: World) -> tuple[Any, ...]:
    head = (issue.pull.head, issue.pull.base, issue.pull.draft) if issue.pull else None
    body = plain(issue.body or "", world)
    return (issue.number, issue.state, issue.title, body, sorted(issue.labels), head)


def comments(world: World) -> Comments:
    """What the bot said, by thread and marker."""
    record = world.hosted.record
    found: Comments = {}
    rows = [(f"#{each.number}", each.author.login, each.body) for each in record.comments.values()]
    rows += [(each.sha, each.author.login, each.body) for each in record.commit_comments.values()]
    for thread, author, body in rows:
        marker = _MARKER.match(body)
        if author.endswith("[bot]"):
            name = marker[1] if marker else ""
            text = plain(body[marker.end() :] if marker else body, world)
            found.setdefault((thread, name), []).append(text)
    return found


def untrue(world: World, summary: str) -> str:
    """The first success that was told and is not there; empty if all that was told is true."""
    record, there = world.hosted.record, refs(world)
    tagged = {
        git(world.bare, "rev-parse", f"{name}^{{commit}}") for name in there if "/tags/ai/" in name
    }
    for run in record.checks.values():
        if run.conclusion == "success" and run.head_sha not in tagged:
            return f"a green check on {run.head_sha[:12]}, which no tag names"
    texts = [("the page of the run", summary)]
    texts += [(f"#{each.number}", each.body) for each in record.comments.values()]
    texts += [(each.sha[:12], each.body) for each in record.commit_comments.values()]
    for where, text in texts:
        for number in _PROPOSED.findall(text) if OPENED in text else ():
            issue = record.issues.get(int(number))
            if issue is None or not _stands(issue, there):
                return f"{where} says proposed in #{number}, which is not so"
        for number in _CLOSED.findall(text):
            if record.issues[int(number)].state != "closed":
                return f"{where} says that #{number} is closed, and it is open"
    return ""


def _stands(issue: Issue, there: dict[str, str]) -> bool:
    """Whether a pull request's branch and tag are at the remote."""
    block = read_hidden_block(issue.body or "")
    if issue.pull is None or block is None:
        return False
    return f"refs/heads/{issue.pull.head}" in there and f"refs/tags/{block['tag']}" in there
