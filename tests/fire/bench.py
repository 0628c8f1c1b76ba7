"""A repository on a GitHub of our own that can be set back, and the workflow's jobs run on it.

Git goes over HTTP to the same server, so that its requests can be hit like the API's. What the
sandbox answered to a candidate is kept, and the gates of the same candidate are not run again; nor
are the same answers judged twice, for judging them is a function of nothing else. Pauses between
two attempts at Git are short.
"""

import contextlib
import copy
import hashlib
import io
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.cli import main
from bot.workflow.handover import case_path, handed_text
from tests.bot.workflow.hub import NAME, World, git, make_world
from tests.bot.workflow.line import Legs, permissions, read_matrix, variables
from tests.doubles.github import GitHubServer
from tests.doubles.github.git_store import GitStore
from tests.doubles.github.messages import Exchange
from tests.fire.judging import judged_once

STAGES = ("plan", "announce", "generate", "gates", "write")
_PLAIN = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_DATE": "2026-11-01T10:00:00Z",
    "GIT_COMMITTER_DATE": "2026-11-01T10:00:00Z",
    "GIT_TEMPLATE_DIR": "",  # no sample hooks to copy
}


class WiredWorld(World):
    """A world whose Git goes over the wire too."""

    @property
    def git_variables(self) -> dict[str, str]:
        return {
            "GITHUB_SERVER_URL": self.hub.url,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }


@dataclass
class Ran:
    """What the jobs of one run did.

    Attributes:
        code: the worst exit code of all jobs.
        log: what they wrote to their logs.
        summary: the page of the run.
        calls: the requests that they made, in order.
        jobs: the jobs that ran, in order.
    """

    code: int = 0
    log: str = ""
    summary: str = ""
    calls: tuple[Exchange, ...] = ()
    jobs: tuple[str, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)

    def then(self, other: "Ran") -> "Ran":
        """This and what came after it; the page is one."""
        return Ran(
            max(self.code, other.code),
            self.log + other.log,
            other.summary,
            self.calls + other.calls,
            self.jobs + other.jobs,
            other.outputs,
        )


@dataclass(frozen=True)
class Kept:
    """A moment to go back to."""

    folder: Path
    state: dict[str, Any]


def plain_git() -> None:
    """Meet a Git that nobody configured, with a clock that stands."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ.update(_PLAIN)


@contextlib.contextmanager
def open_bench(folder: Path, memory: Path) -> Iterator["Bench"]:
    """Start a server with one repository on it."""
    before = dict(os.environ)
    plain_git()
    try:
        with GitHubServer() as hub, judged_once(memory):
            yield Bench(folder, memory, hub)
    finally:
        os.environ.clear()
        os.environ.update(before)


class Bench:
    """The repository, its clone, and the moments kept of both."""

    def __init__(self, folder: Path, memory: Path, hub: GitHubServer) -> None:
        self.folder, self.memory, self.hub = folder, memory, hub
        self._place = 0
        self._clones = 0
        start = folder / "start"
        start.mkdir(parents=True)
        made = make_world(start, hub)
        made.hosted.settings.can_approve_pull_request_reviews = True
        git(made.clone, "remote", "set-url", "origin", f"{hub.url}/{NAME}.git")
        self.world = WiredWorld(hub, made.hosted, made.bare, made.clone)

    def keep(self) -> Kept:
        """Remember the world as it is now."""
        self._place += 1
        folder = self.folder / f"kept-{self._place}"
        shutil.copytree(self.world.bare.parent, folder)
        state = {key: value for key, value in vars(self.hub.state).items() if key != "now"}
        return Kept(folder, copy.deepcopy(state))

    def go_back(self, kept: Kept) -> None:
        """Make the world what it was."""
        shutil.rmtree(self.world.bare.parent)
        self._place += 1
        folder = self.folder / f"cell-{self._place}"
        shutil.copytree(kept.folder, folder)
        self.hub.faults.clear()
        del self.hub.requests[:]
        self.hub.limits._windows.clear()
        vars(self.hub.state).update(copy.deepcopy(kept.state))
        record = self.hub.state.repositories[NAME]
        record.git = GitStore(folder / "bare.git")
        hosted = self.hub.repository(NAME)
        self.world = WiredWorld(self.hub, hosted, folder / "bare.git", folder / "clone")

    def handed_over(self, run: int = 100) -> dict[str, Any]:
        """What the jobs of a run left for those that follow."""
        folder = self.world.clone.parent / f"run-{run}"
        files = {path.name: path.read_bytes() for path in (folder / "handover").glob("*/*.json")}
        return {"outputs": read_matrix(folder / "output-plan-"), "files": files}

    def another_clone(self, kept: Kept) -> WiredWorld:
        """A checkout of its own, as every run of Actions has it."""
        self._clones += 1
        place = self.world.bare.parent / f"clone-{self._clones}"
        shutil.copytree(kept.folder, place, ignore=shutil.ignore_patterns("bare.git"))
        clone = place / "clone"
        return WiredWorld(self.hub, self.world.hosted, self.world.bare, clone)

    def run(
        self,
        event: str,
        payload: dict[str, Any],
        run: int = 100,
        world: WiredWorld | None = None,
        stages: tuple[str, ...] = STAGES,
        job: Callable[..., int] | None = None,
        tokens: Mapping[str, str] | None = None,
    ) -> Ran:
        """Let an event go through the workflow's jobs, or through some of them.

        Args:
            event: the event's name.
            payload: what GitHub sends.
            run: the run's number; a second call with the same number goes on with its files.
            world: with the clone to use.
            stages: which jobs.
            job: runs one job, `main` in this process by default.
            tokens: of the jobs; made here by default.
        """
        here = world or self.world
        here.fetch()
        folder = here.clone.parent / f"run-{run}"
        folder.mkdir(exist_ok=True)
        ran, begun = Ran(), len(self.hub.requests)
        base = here.environment(
            event,
            payload,
            GITHUB_STEP_SUMMARY=str(folder / "summary"),
            GITHUB_RUN_ID=str(run),
        )

        legs = Legs(folder)

        def one(stage: str, row: dict[str, Any]) -> None:
            if stage not in stages:
                return
            ran.jobs = (*ran.jobs, stage)
            token = (tokens or {}).get(stage) or self._token(stage)
            arguments = ["event", stage, *legs.arguments(stage, row)]
            arguments += ["--handover", str(folder / "handover"), "--repository", str(here.clone)]
            heard, output = io.StringIO(), legs.output(stage, row)
            with variables({**base, "GITHUB_TOKEN": token, "GITHUB_OUTPUT": str(output)}):
                code = (
                    self._gates(arguments, row["keys"], folder / "handover", output, heard)
                    if stage == "gates"
                    else (job or in_process)(arguments, heard)
                )
            ran.code, ran.log = max(ran.code, code), ran.log + heard.getvalue()

        one("plan", {})
        ran.outputs = read_matrix(legs.output("plan", {}))
        for row in ran.outputs.get("announce", []):
            one("announce", row)
        for row in ran.outputs.get("build", []):
            one("generate", row)
            one("gates", row)
        for row in ran.outputs.get("write", []):
            one("write", row)
        if (folder / "summary").exists():
            ran.summary = (folder / "summary").read_text()
        ran.calls = tuple(self.hub.requests[begun:])
        return ran

    def at_once(
        self,
        runs: Sequence[tuple[str, dict[str, Any], int, WiredWorld]],
        stages: tuple[str, ...] = STAGES,
    ) -> list[int]:
        """Let several runs go at the same time, each in a process and a clone of its own."""
        tokens = [{stage: self._token(stage) for stage in STAGES} for _ in runs]
        pids = []
        for (event, payload, run, world), own in zip(runs, tokens, strict=True):
            pid = os.fork()
            if pid == 0:
                code = 3
                with contextlib.suppress(BaseException):
                    ran = self.run(event, payload, run, world, stages, tokens=own)
                    code = ran.code
                    if code:
                        (world.clone.parent / f"log-{run}").write_text(ran.log)
                os._exit(code)
            pids.append(pid)
        return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]

    def _token(self, stage: str) -> str:
        return self.world.token(permissions(stage)) if permissions(stage) else ""

    def _gates(
        self, arguments: list[str], keys: str, handover: Path, output: Path, heard: io.StringIO
    ) -> int:
        """The gates of a candidate run once; its outcomes are handed over again after that."""
        cases = [case_path(handover, key) for key in keys.split(",")]
        there = [case for case in cases if case.exists()]
        digest = hashlib.sha256(b"".join(case.read_bytes() for case in there)).hexdigest()
        kept = self.memory / digest
        if there and not kept.exists():
            code = in_process(arguments, heard)
            if code:
                return code
            draft = self.memory / f"{digest}.{os.getpid()}"
            shutil.copytree(handover / "gates", draft)
            with contextlib.suppress(OSError):  # another worker was quicker
                draft.rename(kept)
            return 0
        handed = {}
        for path in kept.glob("*.json") if there else ():
            (handover / "gates").mkdir(exist_ok=True)
            shutil.copy(path, handover / "gates" / path.name)
            handed[path.stem] = hashlib.sha256(path.read_bytes()).hexdigest()
        with output.open("a") as file:
            file.write(f"handed<<end\n{handed_text(handed)}\nend\n")
        return 0


def in_process(arguments: list[str], heard: io.StringIO) -> int:
    """Run a job here."""
    with contextlib.redirect_stderr(heard), contextlib.redirect_stdout(io.StringIO()):
        return main(arguments)


@dataclass
class Child:
    """A job in a process of its own, which may be killed, or interrupted as a runner does first."""

    number: signal.Signals = signal.SIGKILL
    pid: int = 0
    code: int | None = None

    def __call__(self, arguments: list[str], heard: io.StringIO) -> int:
        self.start(arguments)
        return self.wait()

    def start(self, arguments: list[str]) -> None:
        self.code = None
        self.pid = os.fork()
        if self.pid == 0:
            try:
                with open(os.devnull, "w") as nothing:
                    sys.stdout = sys.stderr = nothing
                    code = main(arguments)
            except BaseException:
                code = 3
            os._exit(code)

    def kill(self) -> None:
        if self.pid:
            os.kill(self.pid, self.number)

    def wait(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        self.code = os.waitstatus_to_exitcode(status)
        return 137 if self.code < 0 else self.code
