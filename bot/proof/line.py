"""A contract taken on, a candidate proven, its evidence sealed: what every run of the line does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot import __version__
from bot.bus.port import Bus
from bot.coder.port import Candidate, Coder
from bot.contract.digest import contract_digest
from bot.contract.language.program import Program, compile_contract
from bot.contract.language.warmup import warmup
from bot.contract.load import LoadedContract
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.forge.port import Forge
from bot.gates.port import Case
from bot.git.identity import TaskName, correlation_id
from bot.git.repository import Repository
from bot.plan.todo import TodoList, make_plan
from bot.proof.comparison import Writing
from bot.proof.earlier import find_earlier_version
from bot.proof.evidence import Origin
from bot.proof.examination import Examination, examine
from bot.proof.sealing import Sealed, commit_message, seal
from bot.proof.targets import Delivery
from sandbox_runner.cache import Memory
from sandbox_runner.port import USUAL_LIMITS, Limits, Sandbox


@dataclass(frozen=True)
class Workshop:
    """The edges that a line works with.

    Attributes:
        freqtrade: the folder of packages with Freqtrade; None if it is not installed.
        require_targets: whether a target that cannot be proven here stops the line.
        memory: answers of the sandbox that are not asked for again; None to ask always.
        say: shows one line of progress.
        at: told each boundary between steps; the tests end the process there.
    """

    repository: Repository
    forge: Forge
    bus: Bus
    coder: Coder
    sandbox: Sandbox
    mypy_cache: Path | None = None
    regenerate: bool = False
    limits: Limits = USUAL_LIMITS
    freqtrade: Path | None = None
    require_targets: bool = False
    memory: Memory | None = None
    say: Callable[[str], None] = lambda line: None
    at: Callable[[str], None] = lambda step: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True)
class Commission:
    """A contract taken on: everything that decides the outcome, before anything is written.

    Attributes:
        delivery: which of its targets are delivered.
        fuller_id: the name of the run that would deliver all of them, where this one does not.
    """

    contract: Contract
    program: Program
    data: MarketData
    origin: Origin
    plan: TodoList
    delivery: Delivery = field(default_factory=Delivery)
    fuller_id: str = ""
    task: TaskName = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", TaskName(self.contract.workflow, self.contract.task))


def name_work(
    loaded: LoadedContract,
    path: str,
    data: MarketData,
    delivery: Delivery,
    repository: Repository,
    version: str = __version__,
) -> Commission:
    """Name a contract by all that decides its outcome: the candles and the delivery too."""
    contract, digest = loaded.strategy, contract_digest(loaded.strategy)
    program = compile_contract(contract)
    parts = (repository.repository_id, path, digest, data.digest)
    name = correlation_id(*parts, delivery.generator(version))
    whole = Delivery(freqtrade=True).generator(version) if delivery.notes else ""
    return Commission(
        contract,
        program,
        data,
        Origin(name, path, digest, loaded.data),
        make_plan(contract, path, warmup(program)),
        delivery,
        correlation_id(*parts, whole) if whole else "",
    )


def written(work: Commission, candidate: Candidate, sealed: Sealed, tag: str) -> Writing:
    """Everything that a run writes for a candidate."""
    evidence = sealed.evidence
    files = candidate.contents
    files |= {f"{evidence.folder}/{name}": data for name, data in evidence.files.items()}
    files[work.origin.contract_path] = work.origin.contract_bytes
    message, trailers = commit_message(work.contract, work.origin, candidate, evidence.digest)
    return Writing(tag, evidence.folder, files, trailers.attached_to(message))


def prove(work: Commission, candidate: Candidate, shop: Workshop) -> Examination:
    """Let every gate judge the candidate; its code runs in the sandbox and nowhere else."""
    planned = planned_paths(work)
    examination = examine(
        work.contract,
        work.program,
        Case(candidate.contents, planned),
        work.data,
        work.origin.correlation_id,
        shop.sandbox,
        shop.mypy_cache,
        lambda part: shop.say(f"{work.task}: {part} done"),
        shop.limits,
        work.delivery,
        shop.memory,
    )
    shop.at("proven")
    return examination


def seal_on(
    base: str,
    work: Commission,
    candidate: Candidate,
    examination: Examination,
    tag: str,
    repository: Repository,
) -> Sealed:
    """Write the evidence, and compare the trades with those of the base commit's version."""
    earlier = find_earlier_version(repository, base, work.task, work.data)
    return seal(
        work.contract,
        work.program,
        work.origin,
        candidate,
        work.data,
        examination,
        tag,
        earlier,
        work.delivery,
    )


def planned_paths(work: Commission) -> frozenset[str]:
    """The files that the plan gave to the candidate."""
    return frozenset(work.contract.planned_files)
