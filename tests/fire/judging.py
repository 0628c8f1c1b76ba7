"""What the gates make of recorded answers, computed once: it is a function of what it is given."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bot.git.delivery
import bot.git.remote
import bot.proof.examination
import bot.proof.line
from bot.contract.digest import contract_digest
from bot.gates.port import Case
from bot.proof.assignment import Assignment
from bot.proof.edges import Prover
from bot.proof.examination import Examination
from sandbox_runner.recording import ReplayingSandbox, outcomes_to_plain

_SHORT_S = 0.01


@contextmanager
def judged_once() -> Iterator[None]:
    """Remember examinations of recorded answers, and do not wait long for Git's server."""
    examine: Callable[..., Examination] = bot.proof.examination.examine
    kept: dict[str, Examination] = {}

    def once(work: Assignment, case: Case, prover: Prover) -> Examination:
        if not isinstance(prover.sandbox, ReplayingSandbox):
            return examine(work, case, prover)  # the gates job asks a sandbox that runs code
        key = digest(work, case, prover.sandbox)
        if key not in kept:
            kept[key] = examine(work, case, prover)
        return kept[key]

    replaced = (
        (bot.proof.line, "examine", once),
        (bot.git.remote, "_FIRST_PAUSE_S", _SHORT_S),
        (bot.git.delivery, "_PAUSE_S", _SHORT_S),
    )
    before = [getattr(module, name) for module, name, _ in replaced]
    for module, name, value in replaced:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(replaced, before, strict=True):
            setattr(module, name, value)


def digest(work: Assignment, case: Case, sandbox: ReplayingSandbox) -> str:
    """All that an examination is a function of."""
    parts = (
        contract_digest(work.contract),
        sorted(case.files.items()),
        sorted(case.planned),
        work.data.digest,
        work.origin.correlation_id,
        outcomes_to_plain(sandbox._outcomes),
        work.targets,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()
