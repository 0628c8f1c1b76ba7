"""Real repositories with bare remotes, and candidates to propose to them."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.git.identity import TaskName, Trailers, correlation_id
from bot.git.proposal import Proposal
from bot.git.repository import Repository, open_repository
from tests.templates import copy_template

HOUSE = Path(__file__).resolve().parents[3]
TASK = TaskName("oversold-dip", "strategy")


def quiet_environment() -> dict[str, str]:
    """No configuration but the repository's own, and a clock that does not matter."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def sh(folder: Path, *arguments: str, ok: bool = True) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=quiet_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 or not ok, done.stderr
    return done.stdout.strip()


@dataclass(frozen=True)
class World:
    """A checkout and its bare remote."""

    work: Path
    remote: Path

    def open(self) -> Repository:
        return open_repository(self.work)

    def refs(self) -> dict[str, str]:
        """Every ref on both sides."""
        both = {"here": self.work, "there": self.remote}
        return {
            f"{side}:{line.split()[1]}": line.split()[0]
            for side, folder in both.items()
            if folder.exists()
            for line in sh(folder, "show-ref", ok=False).splitlines()
        }

    def left_behind(self) -> list[Path]:
        """Lock files and drafts that a run should have removed."""
        found = [*self.work.glob(".git/**/*.lock"), *self.remote.glob("**/*.lock")]
        return [*found, *self.work.glob(".git/**/*.part")]


def make_world(folder: Path, *, remote: bool = True) -> World:
    copy_template(folder, ("trader", remote), lambda place: _make(place, remote))
    return World(folder / "work", folder / "remote.git")


def _make(folder: Path, remote: bool) -> None:
    world = World(folder / "work", folder / "remote.git")
    world.work.mkdir(parents=True)
    sh(world.work, "init", "-q", "-b", "main")
    sh(world.work, "config", "user.name", "Ada Trader")
    sh(world.work, "config", "user.email", "ada@example.com")
    commit_file(world.work, "README.md", "a trader's repository\n")
    if remote:
        sh(folder, "init", "-q", "--bare", "-b", "main", str(world.remote))
        sh(world.work, "remote", "add", "origin", str(world.remote))
        sh(world.work, "push", "-q", "-u", "origin", "main")


def commit_file(work: Path, path: str, text: str) -> str:
    target = work / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    sh(work, "add", path)
    sh(work, "commit", "-q", "-m", f"write {path}")
    return sh(work, "rev-parse", "HEAD")


def identify(content: str, task: TaskName = TASK) -> str:
    return correlation_id("r", f"contracts/{task.workflow}.yaml", content, "data", "0.1.0")


def draft(
    repository: Repository,
    content: str = "one",
    task: TaskName = TASK,
    files: Mapping[str, bytes] | None = None,
    tag: str = "",
) -> Proposal:
    """A candidate whose contract says `content`."""
    name = identify(content, task)
    return Proposal(
        task=task,
        tag=tag or task.tag(name),
        base=repository.base(),
        files=files
        or {
            f"Backtest/codes/{task.workflow.replace('-', '_')}.py": f"# {content}\n".encode(),
            f"artifacts/{task}/summary.json": b'{"win_rate": 0.5}\r\n',
        },
        message=f"{task}: propose a candidate",
        trailers=Trailers(name, "sha256:prompt", f"sha256:{content}", "template"),
        replaced=(f"artifacts/{task}",),
    )


def run_child(world: World, code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program of its own that has the repository as `world`."""
    head = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom tests.bot.git.worlds import *\n"
        f"world = World(Path({str(world.work)!r}), Path({str(world.remote)!r}))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *arguments],
        cwd=HOUSE,
        env=quiet_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(child: "subprocess.Popen[str]", *, killed: bool = False) -> str:
    out, err = child.communicate(timeout=60)
    assert child.returncode == (-signal.SIGKILL if killed else 0), err
    return out
