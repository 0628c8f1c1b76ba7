"""Lets a model write the files of a contract, round by round, and keeps how it did."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.coder.by_text import ByText
from bot.coder.constitution import check_changes, keep
from bot.coder.model.brief import (
    asked_digest,
    debug_text,
    first_files,
    system_text,
    task_text,
    wrong_text,
)
from bot.coder.model.jail import Jail
from bot.coder.model.loop import NotWritten, Service, ToolLoop
from bot.coder.model.meter import Meter
from bot.coder.model.prices import is_known
from bot.coder.model.session import (
    MOST_BYTES,
    SESSION,
    SESSION_SIGNATURE,
    Exchange,
    Lesson,
    Session,
    rebuild_trouble,
)
from bot.coder.model.tools import schemas
from bot.coder.port import Candidate, Failure
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import AnyContract, Contract
from bot.errors import InputError, SafetyStop, StratwrightError
from bot.redaction import known_secrets, redact
from bot.settings import CoderSettings

ROUNDS = 3
MODEL_CODERS = ("agent", "cli")
_MOST_LESSONS = 10


@dataclass
class Bench:
    """Holds what a coder that writes files works with.

    Attributes:
        adopted: gives a session that may be taken over for what is asked, and its signature.
        snapshot: gives the repository's files that may be read.
        sign: signs a session's digest; empty without a key.
        root: the repository's folder, none of whose programs is run.
    """

    settings: CoderSettings
    open_service: Callable[[], Service]
    say: Callable[[str], None] = lambda line: None
    adopted: Callable[[str], tuple[Session, str] | None] = lambda asked: None
    snapshot: Callable[[], Mapping[str, bytes]] = dict
    sign: Callable[[str], str] = lambda digest: ""
    wait: Callable[[float], None] | None = None
    root: Path | None = None


@dataclass
class Round:
    """Holds the work of one round: which contract, what may be written, where the files are."""

    contract: Contract
    path: str
    number: int
    files: dict[str, str]
    writable: frozenset[str]
    failure: Failure | None
    tree: Path

    @property
    def words(self) -> str:
        """Gives what the coder is asked in this round."""
        asked = (self.contract, self.path)
        if self.failure is None:
            return task_text(*asked, self.writable)
        return debug_text(*asked, self.failure, self.writable)


class FileCoder(ByText):
    """Writes files by a model with the seven tools, in a jail."""

    name = "agent"
    rounds = ROUNDS

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._exchanges: list[Exchange] = []
        self._lessons: list[Lesson] = []
        self._meter: Meter | None = None
        self._wrong = ""

    def loaded(self, text: str, path: Path, error: str = "") -> tuple[LoadedContract, int, int]:
        """Read a contract's text; the model is shown the error."""
        self._wrong = error
        form = FORMS.get(path.suffix, "yaml")
        return parse_contract(text.encode(), form, path, models=True), 0, 0

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Write all files, or the component that was refused again.

        Raises:
            NotWritten: the model gave no candidate.
            ConstitutionViolated: it touched what it may not.
            StratwrightError: no key, no money, no time, no answer; `cost` says what was spent.
        """
        if not isinstance(contract, Contract):
            raise InputError("kind: module cannot be written yet", "Write a kind: strategy.")
        begun = first_files(contract, contract_path)
        asked = asked_digest(contract, contract_path, begun)
        known = None if failures or self._wrong else self._bench.adopted(asked)
        # Its files are written to disk in a later round, so they are judged before the gates do.
        if known is not None and not session_trouble(known[0], contract, contract_path):
            self._exchanges, self._lessons = list(known[0].exchanges), list(known[0].lessons)
            return candidate_of(*known)
        if failures:
            self._learn(len(failures), failures[-1])
        else:
            self._exchanges, self._lessons, self._meter = [], [], None
        files = dict(failures[-1].candidate.files) if failures else begun
        meter = self._meter = self._meter or Meter(self._bench.settings)
        meter.begin()
        try:
            files = self._round(contract, contract_path, files, failures, meter)
            session = self._session(asked, files, meter)
        except StratwrightError as error:
            error.cost = sum(each.cost for each in self._exchanges)
            error.turns = len(self._exchanges)
            raise
        finally:
            meter.pause()
        return candidate_of(session, self._bench.sign(session.digest))

    def _round(self, contract: Contract, path: str, files: dict[str, str],
               failures: tuple[Failure, ...], meter: Meter) -> dict[str, str]:  # fmt: skip
        failure = failures[-1] if failures else None
        may = writable(contract, failure)
        with tempfile.TemporaryDirectory() as place:
            tree = Path(place) / "tree"
            tree.mkdir()
            shown = {name: _shown(data) for name, data in self._bench.snapshot().items()}
            before = {**shown, **{name: text.encode() for name, text in files.items()}}
            keep(tree, before)
            self.work(Round(contract, path, len(failures) + 1, files, may, failure, tree), meter)
            check_changes(tree, before, may)
            there = [name for name in contract.planned_files if (tree / name).is_file()]
            try:
                return {name: (tree / name).read_bytes().decode() for name in there}
            except UnicodeDecodeError:
                raise NotWritten("the model wrote a file that is not UTF-8") from None

    def work(self, todo: Round, meter: Meter) -> None:
        """Let the model work in the round's folder; each mode has its own."""
        bench = self._bench
        native = is_known(bench.settings.model)
        loop = ToolLoop(bench.open_service(), meter, native, bench.say)
        loop.wait = bench.wait or loop.wait
        loop.exchanges = self._exchanges
        jail = Jail(todo.tree, todo.writable, bench.settings.max_file_changes)
        try:
            loop.run(todo.number, todo.words + self.wrong_words(), jail)
        finally:
            jail.close()

    def wrong_words(self) -> str:
        """Gives what was wrong with earlier work, as the model is shown it."""
        return wrong_text(self._wrong)

    def told(self) -> tuple[str, str]:
        """Gives our instructions and tools, as the model is sent them."""
        native = is_known(self._bench.settings.model)
        return system_text(native=native), json.dumps(schemas()) if native else ""

    def _learn(self, number: int, failure: Failure) -> None:
        self._lessons += [
            Lesson(round=number, gate=v.name, where=v.where, reason=v.reason[:1000])
            for v in failure.verdicts[:_MOST_LESSONS]
        ]

    def _session(self, asked: str, files: dict[str, str], meter: Meter) -> Session:
        system, tools = self.told()
        made = Session(
            coder=self.name,
            asked=asked,
            model=self._bench.settings.model,
            prices=meter.price.date,
            system=system,
            tools=tools,
            exchanges=tuple(self._exchanges),
            lessons=tuple(self._lessons),
            files=files,
        )
        if len(made.content) > MOST_BYTES:
            raise SafetyStop("what the model was sent and answered is too large to be kept")
        return made


class StoredCoder(ByText):
    """Writes what a stored session gives, and asks nobody."""

    rounds = 1

    def __init__(self, session: Session, signature: str = "") -> None:
        super().__init__()
        self.session = session
        self.signature = signature

    @property
    def name(self) -> str:
        """Names who wrote it first."""
        return self.session.coder

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Give the session's files."""
        return candidate_of(self.session, self.signature)


def session_trouble(session: Session, contract: Contract, path: str) -> str:
    """Say why a session does not give the files of a contract; empty if it does."""
    begun = first_files(contract, path)
    if (session.coder, session.asked) != (contract.coder, asked_digest(contract, path, begun)):
        return "the session is of another contract, or of other instructions"
    if set(session.files) != set(contract.planned_files):
        return "the session gives other files than the contract plans"
    return rebuild_trouble(session, begun)


def candidate_of(session: Session, signature: str) -> Candidate:
    """Give the candidate of a session, which goes into the evidence with it."""
    signed = {SESSION_SIGNATURE: signature.encode()} if signature else {}
    return Candidate(
        dict(session.files),
        session.coder,
        session.model,
        f"sha256:{hashlib.sha256(session.content).hexdigest()}",
        evidence={SESSION: session.content, **signed},
        refused=session.refused,
        round=session.rounds,
        cost=session.cost,
        turns=len(session.exchanges),
    )


def _shown(data: bytes) -> bytes:
    return redact(data.decode("utf-8", "replace"), known_secrets()).encode()


def writable(contract: Contract, failure: Failure | None) -> frozenset[str]:
    """Give the files that a round may write: all that are the model's, or what failed."""
    own = {contract.strategy_file, contract.tests_file}
    if failure is None:
        return frozenset(own)
    named = {verdict.where.partition(":")[0] for verdict in failure.verdicts} & own
    return frozenset({contract.strategy_file, *named})
