"""A repository on a GitHub of our own, a clone of it, and events as GitHub would send them."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.doubles.github import GitHubServer, HostedRepository
from tests.templates import copy_template

HOUSE = Path(__file__).parents[3]
NAME = "acme/strategies"
ADDRESS = f"https://github.com/{NAME}.git"
OWNER, STRANGER = 1001, 2002
WRITE = {
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
    "statuses": "write",
}
READ = {"contents": "read", "issues": "read", "pull_requests": "read"}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@dataclass
class World:
    """What a test has in hand."""

    hub: GitHubServer
    hosted: HostedRepository
    bare: Path
    clone: Path
    main: str = "main"

    def token(self, permissions: dict[str, str] | None = None) -> str:
        """What a job gets as GITHUB_TOKEN."""
        given = WRITE if permissions is None else permissions
        return self.hub.token_for("github-actions[bot]", given, NAME)

    def environment(self, event: str, payload: dict[str, Any], **more: str) -> dict[str, str]:
        """A job's variables; Git reaches the bare folder under GitHub's address."""
        path = self.clone.parent / "event.json"
        path.write_text(json.dumps(payload))
        return {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": NAME,
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": "100",
            "STRATWRIGHT_PACE": "0",
            **self.git_variables,
            **more,
        }

    @property
    def git_variables(self) -> dict[str, str]:
        """GitHub's address is the bare folder here."""
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{self.bare}.insteadOf",
            "GIT_CONFIG_VALUE_0": ADDRESS,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }

    def commit(
        self, files: dict[str, str | bytes | None], message: str = "change"
    ) -> tuple[str, str]:
        """Commit and push to main; gives the commits before and after."""
        before = git(self.clone, "rev-parse", "HEAD")
        for path, content in files.items():
            place = self.clone / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "-q", "-m", message)
        git(self.clone, "push", "-q", str(self.bare), f"refs/heads/{self.main}")
        git(self.clone, "update-ref", f"refs/remotes/origin/{self.main}", "HEAD")
        return before, git(self.clone, "rev-parse", "HEAD")

    @property
    def branches(self) -> list[str]:
        """The branches of generated code at the remote."""
        listed = git(self.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads/ai")
        return listed.split()

    def fetch(self) -> None:
        """What checkout with the whole history does."""
        git(self.clone, "fetch", "-q", str(self.bare), "+refs/heads/*:refs/remotes/origin/*")


def _make(folder: Path, main: str) -> None:
    bare, clone = folder / "bare.git", folder / "clone"
    subprocess.run(["git", "init", "-q", "--bare", "-b", main, str(bare)], check=True)
    subprocess.run(["git", "init", "-q", "-b", main, str(clone)], check=True)
    git(clone, "config", "user.name", "Somebody")
    git(clone, "config", "user.email", "somebody@example.com")
    git(clone, "remote", "add", "origin", ADDRESS)
    (clone / "tests/fixtures").mkdir(parents=True)
    for name in ("sample_btc.csv", "sample_eth.csv"):
        shutil.copy(HOUSE / "tests/fixtures" / name, clone / "tests/fixtures" / name)
    (clone / "README.md").write_text("Strategies.\n")
    git(clone, "add", "--all")
    git(clone, "commit", "-q", "-m", "first")
    git(clone, "push", "-q", str(bare), f"refs/heads/{main}")
    git(clone, "update-ref", f"refs/remotes/origin/{main}", "HEAD")
    git(clone, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{main}")


def make_world(folder: Path, hub: GitHubServer, main: str = "main") -> World:
    """A repository with candles, people and one commit on its default branch."""
    copy_template(folder, ("hub", main), lambda place: _make(place, main))
    bare, clone = folder / "bare.git", folder / "clone"
    hosted = hub.create_repository(NAME, bare=bare, default_branch=main)
    hub.add_user("alice", id=OWNER)
    hub.add_user("mallory", id=STRANGER)
    hosted.set_permission("alice", "write")
    return World(hub, hosted, bare, clone, main)


def user(login: str = "alice", number: int = OWNER, kind: str = "User") -> dict[str, Any]:
    return {"id": number, "login": login, "type": kind}


def repository() -> dict[str, Any]:
    return {"full_name": NAME, "default_branch": "main", "name": "strategies"}


def push(before: str, after: str, ref: str = "refs/heads/main") -> dict[str, Any]:
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "deleted": False,
        "repository": repository(),
        "sender": user(),
    }


def issue(
    number: int, body: str, action: str = "opened", sender: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "action": action,
        "label": {"name": "stratwright"},
        "issue": {
            "number": number,
            "title": "Strategy: ",
            "body": body,
            "state": "open",
            "labels": [{"name": "stratwright"}],
            "user": sender or user(),
            "updated_at": "2026-11-07T14:30:00Z",
        },
        "repository": repository(),
        "sender": sender or user(),
    }


def comment(
    number: int,
    body: str,
    sender: dict[str, Any] | None = None,
    issue_body: str = "",
    on_pull: bool = False,
    comment_id: int = 5001,
) -> dict[str, Any]:
    who = sender or user()
    under: dict[str, Any] = {
        "number": number,
        "title": "x",
        "body": issue_body,
        "state": "open",
        "labels": [{"name": "stratwright"}],
        "user": user(),
        "updated_at": "2026-11-07T14:30:00Z",
    }
    if on_pull:
        under["pull_request"] = {"url": "https://example.invalid"}
    return {
        "action": "created",
        "issue": under,
        "comment": {
            "id": comment_id,
            "body": body,
            "user": who,
            "created_at": "2026-11-07T14:30:00Z",
            "updated_at": "2026-11-07T14:30:00Z",
        },
        "repository": repository(),
        "sender": who,
    }


ANSWERS = {
    "Name": "OversoldDip",
    "Description": "Buy oversold dips while the long trend is up.",
    "Symbols": "BTC/USDT",
    "Timeframe": "1h",
    "Market type": "spot",
    "Candles": "tests/fixtures/sample_btc.csv",
    "Parameters": "```yaml\noversold: {default: 35, range: [15, 40]}\n```",
    "Indicators": "```yaml\nrsi: {function: RSI, timeperiod: 14}\n"
    "trend: {function: SMA, timeperiod: 200}\n```",
    "Enter long": "rsi < oversold and close > trend",
    "Exit long": "rsi > 70 or crossed_below(close, trend)",
    "Enter short": "_No response_",
    "Exit short": "_No response_",
    "Stop loss": "0.02",
    "Take profit": "0.04",
    "Anything else": "_No response_",
}


def form(**changes: str) -> str:
    """An issue's body as GitHub makes it of the form's answers."""
    answers = {**ANSWERS, **{key.replace("_", " "): value for key, value in changes.items()}}
    return "\n\n".join(f"### {heading}\n\n{answer}" for heading, answer in answers.items())
