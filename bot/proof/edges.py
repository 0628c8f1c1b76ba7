"""Names the edges that the line works with; bot/workshop.py opens them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.clock import Clock
from bot.bus.port import Bus
from bot.clock import MACHINE_CLOCK
from bot.coder.model.transcript import Transcript
from bot.coder.port import Coder
from bot.contract.model import Contract
from bot.forge.port import Forge
from bot.git.repository import Repository
from bot.proof.compared_before import ComparedBefore
from sandbox_runner.answer_cache import Memory
from sandbox_runner.port import Limits, Sandbox
from sandbox_runner.rules import USUAL_LIMITS

Ask = Callable[[Mapping[str | int, object]], Transcript]


@dataclass(frozen=True)
class Prover:
    """Holds what proving a candidate needs."""

    sandbox: Sandbox  # where its code runs, and nowhere else
    mypy_cache: Path | None = None  # mypy's cache of the libraries, only read
    limits: Limits = USUAL_LIMITS  # time and memory of each job in the sandbox
    # Answers of the sandbox that are not asked for again; None to ask always.
    memory: Memory | None = None
    # Shows one line of progress, for each part that has ended.
    say: Callable[[str], None] = lambda line: None
    expect: Callable[[int], None] = lambda parts: None  # is told how many more parts come


@dataclass(frozen=True)
class Workshop:
    """Holds the edges of one line."""

    repository: Repository
    forge: Forge
    bus: Bus
    open_coder: Callable[[Contract], Coder]  # opens the coder that a contract and the settings name
    # Opens what proving needs; called where something is to be proven.
    open_prover: Callable[[], Prover]
    # What earlier runs wrote; None to write and prove always.
    compared: ComparedBefore | None = None
    regenerate: bool = False  # whether one more candidate is asked for
    # The folder of packages with Freqtrade; None if it is not installed.
    freqtrade: Path | None = None
    freqtrade_elsewhere: bool = False  # whether another job has Freqtrade and runs what needs it
    require_targets: bool = False  # whether a target that cannot be proven stops the line
    say: Callable[[str], None] = lambda line: None  # shows one line of progress
    # Is called at each boundary between steps; the tests end the process there.
    at: Callable[[str], None] = lambda step: None
    clock: Clock = MACHINE_CLOCK
    # Asks a model about the prose of a contract's document; None where there is none to ask.
    ask: Ask | None = None
    kept_answers: Path = Path()  # where this machine keeps what it was answered
    kept_sessions: Path | None = None  # where it keeps how models wrote files that passed
    sign: Callable[[str], str] = lambda digest: ""  # the bot's signature; empty without a key
    signers: tuple[str, ...] = ()  # the public keys of that signature
