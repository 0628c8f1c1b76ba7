"""Asks the sandbox, or remembers what it answered to the same question before."""

from pathlib import Path

from bot.errors import WorldError
from sandbox_runner.answer_cache import Memory
from sandbox_runner.port import Job, Outcome, Sandbox, SandboxUnavailable


def ask(
    job: Job, sandbox: Sandbox, memory: Memory | None = None, packages: Path | None = None
) -> tuple[Outcome, bool]:
    """Runs a job; says with its outcome whether that is a remembered one.

    `packages` is a folder of packages that the job uses beside ours.

    Raises:
        WorldError: the sandbox itself failed.
    """
    known = None if memory is None else memory.recall(job, sandbox, packages)
    if known is not None:
        return known, True
    try:
        outcome = sandbox.run(job)
    except SandboxUnavailable as error:
        raise WorldError(error.message, error.hint) from None
    if memory is not None:
        memory.keep(job, sandbox, outcome, packages)
    return outcome, False
