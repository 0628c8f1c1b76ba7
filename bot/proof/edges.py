"""Names the edges that the line works with; bot/workshop.py opens them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapters.clock import Clock
from bot.bus.port import Bus
from bot.clock import MACHINE_CLOCK
from bot.coder.port import Coder
from bot.contract.model import Contract
from bot.forge.port import Forge
from bot.git.repository import Repository
from sandbox_runner.answer_cache import Memory
from sandbox_runner.port import USUAL_LIMITS, Limits, Sandbox


@dataclass(frozen=True)
class Prover:
    """Holds what proving a candidate needs.

    Attributes:
        sandbox: where its code runs, and nowhere else.
        mypy_cache: mypy's cache of the libraries, only read.
        limits: time and memory of each job in the sandbox.
        memory: answers of the sandbox that are not asked for again; None to ask always.
        say: shows one line of progress.
    """

    sandbox: Sandbox
    mypy_cache: Path | None = None
    limits: Limits = USUAL_LIMITS
    memory: Memory | None = None
    say: Callable[[str], None] = lambda line: None


@dataclass(frozen=True)
class Workshop:
    """Holds the edges of one line.

    Attributes:
        open_coder: opens the coder that a contract and the settings name.
        open_prover: opens what proving needs; called where something is to be proven.
        regenerate: whether one more candidate is asked for.
        freqtrade: the folder of packages with Freqtrade; None if it is not installed.
        freqtrade_elsewhere: whether another job has Freqtrade and runs what needs it.
        require_targets: whether a target that cannot be proven stops the line.
        say: shows one line of progress.
        at: is called at each boundary between steps; the tests end the process there.
    """

    repository: Repository
    forge: Forge
    bus: Bus
    open_coder: Callable[[Contract], Coder]
    open_prover: Callable[[], Prover]
    regenerate: bool = False
    freqtrade: Path | None = None
    freqtrade_elsewhere: bool = False
    require_targets: bool = False
    say: Callable[[str], None] = lambda line: None
    at: Callable[[str], None] = lambda step: None
    clock: Clock = MACHINE_CLOCK
