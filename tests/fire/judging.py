"""What the sandbox answers and the gates make of it, once, and short pauses before Git's server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bot.git.delivery
import bot.git.remote
import bot.proof.line
import bot.workshop
from sandbox_runner.port import Sandbox, open_sandbox
from tests.remembered import Remembering, examining_once

_SHORT_S = 0.01


@contextmanager
def judged_once(memory: Path) -> Iterator[None]:
    """Remember answers and examinations, and do not wait long for Git's server."""

    def open_it(*kind: str) -> Sandbox:
        return Remembering(memory, open_sandbox(*kind))

    replaced = (
        (bot.proof.line, "examine", examining_once(memory)),
        (bot.workshop, "open_sandbox", open_it),
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
