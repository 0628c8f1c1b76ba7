"""The real sandbox, asked each question once: the same job has the same outcome.

What it has answered lies in one folder for all tests, workers and processes of a test run. Who asks
first gets a fresh answer; tests of the sandbox itself do not use this.
"""

import fcntl
import hashlib
import os
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox_runner.port import Job, Outcome, Sandbox, open_sandbox

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
    return lambda *arguments: Remembering(folder, open_it(*arguments))


def _key(job: Job) -> str:
    digest = hashlib.sha256()
    for part in (job.command, job.collect, sorted(job.environment.items()), job.hash_seed):
        digest.update(repr(part).encode() + b"\0")
    for limit in (job.timeout_s, job.memory_mb, job.processes, sorted(job.shared)):
        digest.update(repr(limit).encode() + b"\0")
    for path, content in sorted(job.files.items()):
        digest.update(path.encode() + b"\0" + _HEADER.sub(b"", content) + b"\0")
    return digest.hexdigest()
