"""Reads the environment of a job of GitHub Actions: the event, and the ways to tell the runner."""

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import InputError
from bot.forge.github.opening import git_credentials, open_github
from bot.forge.github.payload import parse_event
from bot.forge.port import Forge
from bot.forge.reasons import Ignored
from bot.forge.trigger import Trigger
from bot.git.repository import Repository
from bot.redaction import inert
from bot.settings import Settings

_OUTPUT = re.compile(r"[a-z][a-z0-9_-]{0,40}", re.ASCII)
MOST_SUMMARY = 900_000


@dataclass(frozen=True)
class Actions:
    """One job of one run."""

    event: str
    event_path: Path
    repository: str
    run: int = 0  # counts up from run to run; a later run's word stands
    run_url: str = ""  # where people watch it
    environment: Mapping[str, str] = field(default_factory=dict)

    def trigger(self, label: str) -> Trigger | Ignored:
        """Read the event file."""
        try:
            data = self.event_path.read_bytes()
        except OSError as error:
            message = f"the event file cannot be read: {error.strerror}"
            raise InputError(message, "Set GITHUB_EVENT_PATH.") from None
        return parse_event(self.event, data, label)

    def credentials(self) -> dict[str, str]:
        """Return variables that let Git push with the job's token."""
        return git_credentials(self.environment)

    def open_forge(self, repository: Repository, settings: Settings) -> Forge:
        """Open the forge that the job belongs to."""
        return open_github(repository, settings, self.environment)

    def output(self, name: str, value: str) -> None:
        """Set an output of the step; nothing in the value can set another."""
        if not _OUTPUT.fullmatch(name):
            raise InputError(f"{name!r} is not an output's name")
        mark = f"end-{secrets.token_hex(16)}"
        self._append("GITHUB_OUTPUT", f"{name}<<{mark}\n{value}\n{mark}\n")

    def summary(self, markdown: str) -> None:
        """Add to the page of the run."""
        self._append("GITHUB_STEP_SUMMARY", f"{markdown[:MOST_SUMMARY].rstrip()}\n\n")

    def _append(self, variable: str, text: str) -> None:
        path = self.environment.get(variable)
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)


def open_actions(environment: Mapping[str, str] | None = None) -> Actions:
    """Read what the runner says.

    Raises:
        InputError: this is not a job of GitHub Actions.
    """
    variables = dict(os.environ if environment is None else environment)
    name, path = variables.get("GITHUB_EVENT_NAME", ""), variables.get("GITHUB_EVENT_PATH", "")
    if not name or not path:
        raise InputError(
            "there is no event: GITHUB_EVENT_NAME and GITHUB_EVENT_PATH are not set",
            "`stratwright event` runs inside GitHub Actions; at home use `stratwright run`.",
        )
    repository, run = variables.get("GITHUB_REPOSITORY", ""), variables.get("GITHUB_RUN_ID", "0")
    server = variables.get("GITHUB_SERVER_URL", "https://github.com")
    url = f"{server}/{repository}/actions/runs/{run}" if run.isdecimal() and repository else ""
    number = int(run) if run.isdecimal() else 0
    return Actions(name, Path(path), repository, number, url, variables)


def say_in_log(line: str) -> str:
    """A line for the runner's log that the runner only shows."""
    return inert(" ".join(line.splitlines()))
