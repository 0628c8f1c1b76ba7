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
from typing import Any

from sandbox_runner.port import Job, Outcome, Sandbox, SandboxUnavailable

_FLAGS = ("timed_out", "out_of_memory", "truncated")


def job_digest(job: Job) -> str:
    """The digest of a question; folders of the machine that asks are no part of it."""
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
    """A sandbox that keeps what it answered."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.outcomes: dict[str, Outcome] = {}

    @property
    def name(self) -> str:
        """The real one's."""
        return self._sandbox.name

    def run(self, job: Job) -> Outcome:
        """Run it for real."""
        outcome = self._sandbox.run(job)
        self.outcomes[job_digest(job)] = outcome
        return outcome


class ReplayingSandbox:
    """A sandbox that runs nothing and knows what another answered."""

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


def outcomes_to_plain(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Outcomes as JSON has them."""
    return {
        digest: {
            "exit_code": outcome.exit_code,
            **{flag: getattr(outcome, flag) for flag in _FLAGS},
            "stdout": _packed(outcome.stdout),
            "stderr": _packed(outcome.stderr),
            "outputs": {name: _packed(data) for name, data in outcome.outputs.items()},
            "refused": dict(outcome.refused),
        }
        for digest, outcome in outcomes.items()
    }


def outcomes_from_plain(values: object) -> dict[str, Outcome]:
    """Read outcomes strictly.

    Raises:
        ValueError: they are not of this form.
    """
    return {digest: _outcome(value) for digest, value in _mapping(values).items()}


def _outcome(value: object) -> Outcome:
    fields = _mapping(value)
    if set(fields) != {"exit_code", *_FLAGS, "stdout", "stderr", "outputs", "refused"}:
        raise ValueError("an outcome has other fields")
    code = fields["exit_code"]
    if not (code is None or type(code) is int) or any(type(fields[f]) is not bool for f in _FLAGS):
        raise ValueError("an outcome's fields are of other types")
    refused = _mapping(fields["refused"])
    if not all(isinstance(reason, str) for reason in refused.values()):
        raise ValueError("a refusal's reason is a text")
    return Outcome(
        exit_code=code,
        **{flag: fields[flag] for flag in _FLAGS},
        stdout=_unpacked(fields["stdout"]),
        stderr=_unpacked(fields["stderr"]),
        outputs={name: _unpacked(data) for name, data in _mapping(fields["outputs"]).items()},
        refused=refused,
        seconds=0.0,
    )


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _unpacked(text: object) -> bytes:
    if not isinstance(text, str):
        raise ValueError("packed bytes are a text")
    return base64.b64decode(text, validate=True)
