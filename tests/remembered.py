"""The real sandbox, asked each question once: the same job has the same outcome.

What it has answered lies in one folder for all tests, workers and processes of a test run. Who asks
first gets a fresh answer; tests of the sandbox itself do not use this. What the gates make of
answers that are remembered or recorded is a function of what they are given, and is kept there too.
"""

import fcntl
import hashlib
import os
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import bot.proof.examination
import bot.proof.line
from bot.gates.port import Case
from bot.proof.assignment import Assignment
from bot.proof.edges import Prover
from bot.proof.examination import Examination
from sandbox_runner.port import Job, Outcome, Sandbox, open_sandbox
from sandbox_runner.recording import RecordingSandbox, ReplayingSandbox, outcomes_to_plain

VARIABLE = "STRATWRIGHT_TEST_HEARD"
# What differs between contracts that ask for the same strategy; no code reads it.
_HEADER = re.compile(rb"sha256:[0-9a-f]{64}|contracts/[\w./-]+")


@dataclass(frozen=True)
class Remembering:
    """A sandbox with a folder of what it has heard, shared by processes and workers."""

    folder: Path
    inner: Sandbox

    @property
    def name(self) -> str:
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        self.folder.mkdir(parents=True, exist_ok=True)
        place = self.folder / _key(job)
        with place.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if place.exists():
                outcome: Outcome = pickle.loads(place.read_bytes())  # noqa: S301 - our own
                return outcome
            outcome = self.inner.run(job)
            draft = place.with_suffix(".part")
            draft.write_bytes(pickle.dumps(replace(outcome, seconds=0.0)))
            draft.rename(place)
            return outcome


def remembering(open_it: Callable[..., Sandbox] = open_sandbox) -> Callable[..., Sandbox]:
    """The same opener, of a sandbox that remembers in the folder that the variable names."""
    folder = Path(os.environ[VARIABLE])
    remember_examinations(folder)
    return lambda *arguments: Remembering(folder, open_it(*arguments))


def remember_examinations(folder: Path) -> None:
    """Let the gates of this process judge the same case with the same answers once."""
    bot.proof.line.examine = examining_once(folder)  # type: ignore[assignment,attr-defined]


def examining_once(folder: Path) -> Callable[[Assignment, Case, Prover], Examination]:
    """The gates, with a folder of what they have said; a sandbox that runs code is always asked."""

    def examine(work: Assignment, case: Case, prover: Prover) -> Examination:
        answers = _answers(prover.sandbox)
        if answers is None or prover.memory is not None:
            return bot.proof.examination.examine(work, case, prover)
        place = folder / "judged" / _case_key(work, case, prover, answers)
        if not place.exists():
            said: list[str] = []
            found = bot.proof.examination.examine(work, case, replace(prover, say=said.append))
            recorded = getattr(prover.sandbox, "outcomes", {})
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_suffix(f".{os.getpid()}")
            draft.write_bytes(pickle.dumps((found, said, recorded)))
            draft.rename(place)
        kept: tuple[Examination, list[str], dict[str, Outcome]]
        kept = pickle.loads(place.read_bytes())  # noqa: S301 - our own
        found, said, recorded = kept
        if isinstance(prover.sandbox, RecordingSandbox):
            prover.sandbox.outcomes.update(recorded)
        for line in said:
            prover.say(line)
        return found

    return examine


def _answers(sandbox: Sandbox) -> str | None:
    """What decides a sandbox's answers; None if only running the code does."""
    if isinstance(sandbox, ReplayingSandbox):
        return repr(sorted(outcomes_to_plain(sandbox._outcomes).items()))
    if isinstance(sandbox, RecordingSandbox):
        inner = _answers(sandbox._sandbox)
        return inner and f"recorded {inner}"
    return f"remembered {sandbox.name}" if isinstance(sandbox, Remembering) else None


def _case_key(work: Assignment, case: Case, prover: Prover, answers: str) -> str:
    parts = (
        (work.contract, work.origin, work.plan, work.targets, work.fuller_id, work.data.digest),
        (sorted(case.files.items()), sorted(case.planned), sorted(case.links)),
        (prover.limits, prover.mypy_cache, answers),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _key(job: Job) -> str:
    digest = hashlib.sha256()
    for part in (job.command, job.collect, sorted(job.environment.items()), job.hash_seed):
        digest.update(repr(part).encode() + b"\0")
    for limit in (job.timeout_s, job.memory_mb, job.processes, sorted(job.shared)):
        digest.update(repr(limit).encode() + b"\0")
    for path, content in sorted(job.files.items()):
        digest.update(path.encode() + b"\0" + _HEADER.sub(b"", content) + b"\0")
    return digest.hexdigest()
