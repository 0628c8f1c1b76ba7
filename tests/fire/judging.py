"""What the gates make of recorded answers, computed once: it is a function of what it is given."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bot.git.delivery
import bot.git.remote
import bot.pipeline
import bot.proof.examination
from bot.contract.digest import contract_digest
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.gates.port import Case
from bot.proof.examination import Examination
from sandbox_runner.recording import ReplayingSandbox, outcomes_to_plain

_SHORT_S = 0.01


@contextmanager
def judged_once() -> Iterator[None]:
    """Remember examinations of recorded answers, and do not wait long for Git's server."""
    examine: Callable[..., Examination] = bot.proof.examination.examine
    kept: dict[str, Examination] = {}

    def once(
        contract: Contract,
        program: Any,
        case: Case,
        data: MarketData,
        name: str,
        sandbox: Any,
        *rest: Any,
    ) -> Examination:
        key = digest(contract, case, data, name, sandbox, rest[3])
        if key not in kept:
            kept[key] = examine(contract, program, case, data, name, sandbox, *rest)
        return kept[key]

    replaced = (
        (bot.pipeline, "examine", once),
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


def digest(
    contract: Contract, case: Case, data: MarketData, name: str, sandbox: Any, delivery: Any
) -> str:
    """All that an examination is a function of."""
    assert isinstance(sandbox, ReplayingSandbox)
    parts = (
        contract_digest(contract),
        sorted(case.files.items()),
        sorted(case.planned),
        data.digest,
        name,
        outcomes_to_plain(sandbox._outcomes),
        delivery,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()
