"""Turns jobs into recorded outcomes and back, so that one job may run code and another judge.

The job that runs generated code records what the sandbox answered to each job, under the digest of
everything that was asked: command, files, limits. The job that holds the write token asks the same
questions of the record. It judges everything itself, runs nothing, and gets no answer to a question
that was not asked in exactly these bytes.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, TypeAdapter

from sandbox_runner.port import Job, Outcome, Sandbox, SandboxUnavailable


def _unpacked(text: object) -> bytes:
    if not isinstance(text, str):
        raise ValueError("packed bytes are a text")
    return base64.b64decode(text, validate=True)


Packed = Annotated[
    bytes,
    BeforeValidator(_unpacked),
    PlainSerializer(lambda data: base64.b64encode(data).decode("ascii")),
]


def job_digest(job: Job) -> str:
    """Gives the digest of a question; folders of the machine that asks are no part of it."""
    parts = {
        "command": list(job.command),
        "files": {path: hashlib.sha256(data).hexdigest() for path, data in job.files.items()},
        "collect": list(job.collect),
        "environment": dict(job.environment),
        "limits": [
            job.timeout_s,
            job.memory_mb,
            job.processes,
            job.output_limit,
            job.file_limit_mb,
        ],
        "hash_seed": job.hash_seed,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class RecordingSandbox:
    """Keeps what a sandbox answered."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.outcomes: dict[str, Outcome] = {}

    @property
    def name(self) -> str:
        """Gives the real one's."""
        return self._sandbox.name

    def run(self, job: Job) -> Outcome:
        """Run it for real."""
        outcome = self._sandbox.run(job)
        self.outcomes[job_digest(job)] = outcome
        return outcome


class ReplayingSandbox:
    """Answers what another sandbox answered, and runs nothing."""

    name = "recorded"

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None) -> None:
        self._outcomes = dict(outcomes or {})

    def run(self, job: Job) -> Outcome:
        """Find the answer."""
        try:
            return self._outcomes[job_digest(job)]
        except KeyError:
            message = "the gates job did not run what the write job asks about"
            hint = "Run the whole workflow again, not one job of it."
            raise SandboxUnavailable(message, hint) from None


class _Written(BaseModel):
    """Holds an outcome as JSON has it: bytes in base64, and no seconds, which differ every time."""

    model_config = ConfigDict(strict=True, extra="forbid")

    exit_code: int | None
    timed_out: bool
    out_of_memory: bool
    truncated: bool
    stdout: Packed
    stderr: Packed
    outputs: dict[str, Packed]
    refused: dict[str, str]


def outcomes_to_plain(outcomes: Mapping[str, Outcome]) -> dict[str, object]:
    """Turns outcomes into what JSON has."""
    return {
        digest: _Written.model_construct(
            **{name: getattr(outcome, name) for name in _Written.model_fields}
        ).model_dump()
        for digest, outcome in outcomes.items()
    }


def outcomes_from_plain(values: object) -> dict[str, Outcome]:
    """Reads outcomes strictly.

    Raises:
        ValueError: they are not of this form.
    """
    written = _OUTCOMES.validate_python(values)
    return {digest: Outcome(**dict(one), seconds=0.0) for digest, one in written.items()}


_OUTCOMES = TypeAdapter(dict[str, _Written], config=ConfigDict(strict=True))
