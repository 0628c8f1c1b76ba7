"""Turns a contract into an assignment: all that decides its outcome, before anything is written."""

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot import __version__
from bot.coder.model.transcript import SIGNATURE, TRANSCRIPT, Transcript
from bot.contract.digest import contract_digest
from bot.contract.language.program import Program, compile_contract
from bot.contract.language.warmup import warmup
from bot.contract.load import LoadedContract
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.git.identity import TaskName, correlation_id
from bot.plan.todo import TodoList, make_plan
from bot.proof.targets import ADAPTER_ONLY, FREQTRADE, Targets

if TYPE_CHECKING:
    from bot.proof.searching import Searched


@dataclass(frozen=True)
class Origin:
    """Names where a candidate comes from."""

    correlation_id: str  # the name of the run
    contract_path: str  # the contract in the repository
    contract_digest: str  # of the contract's meaning
    contract_bytes: bytes  # the contract's file, which goes onto the branch with the candidate


@dataclass(frozen=True)
class Answers:
    """Holds what a model answered to a contract's prose, and the bot's signature over it."""

    transcript: Transcript
    signature: str = ""

    @property
    def files(self) -> dict[str, bytes]:
        """Gives the files of the evidence that hold it."""
        signed = {SIGNATURE: self.signature.encode()} if self.signature else {}
        return {TRANSCRIPT: self.transcript.content, **signed}


@dataclass(frozen=True)
class Assignment:
    """Holds what a contract asks for; it goes unchanged through write, prove, seal and propose."""

    contract: Contract
    program: Program
    data: MarketData  # the candles
    origin: Origin  # the names
    plan: TodoList
    targets: Targets = ADAPTER_ONLY  # which of its targets are delivered
    # The name of the run that would deliver all of them, where this one does not.
    fuller_id: str = ""
    answers: Answers | None = None  # where a model said what its prose means
    searched: "Searched | None" = None  # where its values were searched for

    @property
    def task(self) -> TaskName:
        """Gives the task's name."""
        return TaskName(self.contract.workflow, self.contract.task)

    @property
    def planned(self) -> frozenset[str]:
        """Gives the files that the plan gave to the candidate."""
        return frozenset(self.contract.planned_files)

    @property
    def folder(self) -> str:
        """Says where the evidence lies in the repository."""
        return f"artifacts/{self.task}"


def assign(
    contract: Contract,
    data: MarketData,
    origin: Origin,
    targets: Targets = ADAPTER_ONLY,
    fuller_id: str = "",
    answers: Answers | None = None,
) -> Assignment:
    """Compile a contract's rules, once, and plan it."""
    program = compile_contract(contract)
    plan = make_plan(contract, origin.contract_path, warmup(program))
    return Assignment(contract, program, data, origin, plan, targets, fuller_id, answers)


def assign_in(
    repository_id: str,
    loaded: LoadedContract,
    path: str,
    data: MarketData,
    targets: Targets,
    version: str = __version__,
    answers: Answers | None = None,
    searched: "Searched | None" = None,
) -> Assignment:
    """Name a contract by all that decides its outcome: candles, targets, answers, a search too."""
    digest = contract_digest(loaded.strategy)
    parts = (repository_id, path, digest, data.digest)
    said = f"+answers {answers.transcript.digest}" if answers else ""
    if searched is not None:
        said += f"+search {hashlib.sha256(searched.search.content).hexdigest()}"
    name = correlation_id(*parts, targets.generator(version) + said)
    origin = Origin(name, path, digest, loaded.data)
    fuller = FREQTRADE in loaded.strategy.targets and not targets.freqtrade
    whole = replace(targets, freqtrade=True).generator(version) + said if fuller else ""
    fuller_id = correlation_id(*parts, whole) if whole else ""
    work = assign(loaded.strategy, data, origin, targets, fuller_id, answers)
    return replace(work, searched=searched)
