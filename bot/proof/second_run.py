"""Runs the line again on the contract and the candles of a tag's own commit."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bot.coder.model.file_coder import MODEL_CODERS, StoredCoder, session_trouble
from bot.coder.model.replay import replay_trouble
from bot.coder.model.session import (
    SESSION,
    SESSION_SIGNATURE,
    Session,
    how_rebuilt,
    read_session,
)
from bot.coder.model.transcript import SIGNATURE, TRANSCRIPT, read_transcript
from bot.coder.port import Candidate, Coder
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData, read_market_data
from bot.errors import InputError, StratwrightError, WorldError
from bot.gates.freqtrade.installation import HOW_TO_INSTALL, find_freqtrade
from bot.gates.port import Case
from bot.gates.table import STATIC
from bot.proof.answers import as_asked, is_of, is_signed, is_signed_by
from bot.proof.assignment import Answers, Assignment, assign_in
from bot.proof.comparison import find_differences, written
from bot.proof.edges import Prover
from bot.proof.evidence import PROVENANCE, provenance_file, result_files, sha256, tool_versions
from bot.proof.examination import gate_names
from bot.proof.findings import Finding, Outcome, Stop, judged
from bot.proof.judge import decide, judge, with_tear_sheet
from bot.proof.line import prove, write
from bot.proof.origin import is_the_templates, template_files
from bot.proof.product import product_digest
from bot.proof.seal_check import SealCheck
from bot.proof.sealing import commit_message, seal_on
from bot.proof.searching import refuse_missing, search_again
from bot.proof.targets import FREQTRADE, Targets, without_freqtrade
from bot.sweep.search import FILE as SEARCH


class SecondRun:
    """The line run again on the contract and the candles of the tag's own commit."""

    work: Assignment
    candidate: Candidate
    has_candles = True  # whether the commit holds them
    answers: Answers | None = None  # what a model said of its prose

    def __init__(self, sealed: SealCheck, open_coder: Callable[[Contract], Coder]) -> None:
        self.sealed = sealed
        self.claim = sealed.claim
        self.loaded = self._contract()
        self.contract = self.loaded.strategy
        self.session = self._session()
        self.coder: Coder = (
            StoredCoder(*self.session) if self.session else open_coder(self.contract)
        )
        self.targets = self._targets()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What only a run in the sandbox shows."""
        files = self.candidate.contents
        written = template_files(self.contract, self.work.program, frozenset(files))
        foreign = not is_the_templates(files, written)
        gates = gate_names(self.targets, foreign, self.work.searched is not None)
        return (
            *gates[len(STATIC) :],
            "gates.json",
            "test_report.json",
            "report.html",
            "equity.svg",
        )

    def check(self) -> Iterator[Finding]:
        """Whose contract it is, who wrote the code, on which candles, under which name."""
        sealed, claim = self.sealed, self.claim
        same = f"{self.contract.workflow}/{self.contract.task}" == str(sealed.task)
        yield judged("contract", same, "it is another task's")
        if FREQTRADE in self.contract.targets:
            holds = self.targets.freqtrade or self.contract.targets != (FREQTRADE,)
            yield judged("targets", holds, *(self.targets.notes or ("",)))
        self.answers, named = self._answers(), self.coder.name
        if self.answers is not None:
            named = self.answers.transcript.coder
        if claim.coder != named:
            detail = f"contract and settings name {named}, not {claim.coder[:40]!a}"
            yield Finding("coder", Outcome.NOT_VERIFIED, detail)
        data, where = self._data()
        root = sealed.repository.root
        loose = [path for path in data.contents if sealed.held(path) is None]
        self.targets = self.targets.without_candles([p for p in loose if (root / p).is_file()])
        identity = sealed.repository.repository_id
        searched, told = None, sealed.held(f"{sealed.folder}/{SEARCH}")
        if told is None:
            refuse_missing(self.contract, data, claim.contract_path, sealed)
        else:
            searched = search_again(self.contract, data, told, sealed.parent, sealed.repository)
            said = searched.search.told
            detail = f"{said['sets_tried']} sets again, {said['trials_in_all']} in the ledger"
            yield Finding("search", Outcome.HOLDS, detail)
        self.work = assign_in(
            identity,
            self.loaded,
            claim.contract_path,
            data,
            self.targets,
            claim.version,
            self.answers,
            searched,
        )
        name = self.work.origin.correlation_id
        attempt = sealed.task.attempt(sealed.tag) or ("", 0)
        holds = name == claim.correlation_id == attempt[0]
        if not holds and not self.has_candles:
            detail = f"they are not those that it was proven on; {where}"
            raise Stop("candles", Outcome.CANNOT_CHECK, detail)
        yield judged("correlation id", holds, f"should be {name}; {where}", where)

    def other_makers(self) -> str | None:
        """What it was made with that is not here; None if all of it is."""
        claim = self.claim
        if self.targets.freqtrade and self.targets.packages is None:
            raise WorldError(
                "its Freqtrade file cannot be proven: Freqtrade is not installed here",
                f"Install it: {HOW_TO_INSTALL}.",
            )
        here = {**tool_versions(self.targets.freqtrade_version), "product": product_digest()}
        named = {**claim.makers, "stratwright": claim.version}
        other = [
            f"{key} {named.get(key, 'none')[:80]!a} and here is {here.get(key, 'none')}"
            for key in sorted({*here, *named})
            if named.get(key) != here.get(key)
        ]
        return f"it was made with {'; '.join(other)}" if other else None

    def check_results(self) -> Iterator[Finding]:
        """The code written again, the static gates and the backtest: all that runs no code."""
        self.candidate = write(self.work, self.coder)
        kept = self.targets.kept(self.contract, self.candidate)
        for path, content in kept.contents.items():
            holds = self.sealed.held(path) == content
            yield judged(f"code {path}", holds, "comes out otherwise", "written again, the same")
        yield from self._words(kept)
        case = Case(self.candidate.contents, self.work.planned)
        for verdict in (gate.judge(case) for gate in STATIC):
            yield judged(f"gate {verdict.name}", verdict.passed, verdict.reason, verdict.figure)
        work = self.work
        try:
            decisions = decide(work.contract, work.program, work.data)
            judgement = judge(work.contract, work.program, work.data, decisions)
            judgement = with_tear_sheet(judgement, work.data.candles)
        except StratwrightError as error:
            raise Stop("backtest", Outcome.BROKEN, f"not computed: {error.message}") from None
        for name, content in result_files(judgement, work.origin.correlation_id).items():
            holds = self.sealed.held(f"{self.sealed.folder}/{name}") == content
            yield judged(f"backtest {name}", holds, "comes out otherwise")

    def _words(self, kept: Candidate) -> Iterator[Finding]:
        """The statement and the message, as these files give them."""
        sealed, folder = self.sealed, f"{self.sealed.folder}/"
        listed = [path for path in self.claim.subjects if path.startswith(folder)]
        evidence = {path.removeprefix(folder): sealed.read(path) for path in listed}
        statement = provenance_file(self.work, kept, evidence, self.claim.versions)
        same = sealed.read(f"{folder}{PROVENANCE}") == statement
        yield judged("statement", same, "comes out otherwise")
        message, trailers = commit_message(self.work, kept, sha256(statement))
        there = sealed.repository.message_of(sealed.commit)
        yield judged("message", there == trailers.attached_to(message), "it was edited")

    def check_all(self, prover: Prover) -> Iterator[Finding]:
        """Every gate again in the sandbox, the evidence sealed again, every file compared."""
        sealed = self.sealed
        proven = prove(self.work, self.candidate, prover)
        for verdict in proven.verdicts[len(STATIC) :]:
            yield judged(f"gate {verdict.name}", verdict.passed, verdict.reason, verdict.figure)
        again = seal_on(sealed.parent, proven, sealed.tag, sealed.repository)
        writing = written(proven, again, sealed.tag, sealed.parent, sealed.repository)
        differences = list(find_differences(writing, sealed.commit, sealed.repository))
        for name, why in differences:
            yield Finding(name, Outcome.BROKEN, why)
        if not differences:
            detail = f"{len(writing.files)} files and both messages come out the same"
            yield Finding("every byte", Outcome.HOLDS, detail)

    def origin(self, signers: Sequence[str]) -> Iterator[Finding]:
        """Who gave the answers that the expressions follow from: proven only by a signature."""
        if self.session is not None:
            session, signature = self.session
            signed = is_signed_by(signature, session.digest, signers)
            outcome = Outcome.HOLDS if signed else Outcome.NOT_VERIFIED
            origin = "the bot signed the session" if signed else "origin unproven"
            yield Finding("session", outcome, f"{how_rebuilt(session.coder)}; {origin}")
        if self.answers is None:
            return
        trouble = replay_trouble(self._asked(self.answers), self.answers.transcript)
        if trouble:
            yield Finding("answers", Outcome.BROKEN, trouble)
        elif is_signed(self.answers, signers):
            detail = "rebuilt from the stored answers, which the bot signed"
            yield Finding("answers", Outcome.HOLDS, detail)
        else:
            yield Finding("answers", Outcome.NOT_VERIFIED, "rebuilt; origin unproven")

    def _asked(self, answers: Answers) -> dict[str | int, object]:
        return as_asked(self.loaded.source.root or {}, answers.transcript)

    def _answers(self) -> Answers | None:
        """What a model said, as the evidence has it; it must give this very contract."""
        sealed = self.sealed
        found = sealed.held(f"{sealed.folder}/{TRANSCRIPT}")
        if found is None:
            return None
        signature = sealed.held(f"{sealed.folder}/{SIGNATURE}") or b""
        try:
            answers = Answers(read_transcript(found), signature.decode("ascii"))
        except (InputError, UnicodeDecodeError) as error:
            raise Stop("answers", Outcome.BROKEN, str(error)[:300]) from None
        if not is_of(self.loaded, answers.transcript):
            detail = "the contract's expressions are not those of the transcript"
            raise Stop("answers", Outcome.BROKEN, detail)
        return answers

    def _session(self) -> tuple[Session, str] | None:
        """How a model wrote the files, as the evidence has it; they must follow from it."""
        sealed, contract = self.sealed, self.contract
        found = sealed.held(f"{sealed.folder}/{SESSION}")
        if contract.coder not in MODEL_CODERS:
            return None
        if found is None:
            raise Stop("session", Outcome.BROKEN, f"a model wrote it, and there is no {SESSION}")
        try:
            session = read_session(found)
        except InputError as error:
            raise Stop("session", Outcome.BROKEN, error.message) from None
        trouble = session_trouble(session, contract, self.claim.contract_path)
        if trouble:
            raise Stop("session", Outcome.BROKEN, trouble)
        signature = sealed.held(f"{sealed.folder}/{SESSION_SIGNATURE}") or b""
        return session, signature.decode("ascii", "replace")

    def _contract(self) -> LoadedContract:
        path = Path(self.claim.contract_path)
        content = self.sealed.read(path.as_posix())
        try:
            loaded = parse_contract(content, FORMS[path.suffix], path, models=True)
            loaded.strategy  # noqa: B018 - raises for a module's
        except (StratwrightError, KeyError) as error:
            detail = f"it cannot be read: {str(error)[:300]}"
            raise Stop("contract", Outcome.BROKEN, detail) from None
        return loaded

    def _targets(self) -> Targets:
        """What was delivered: the Freqtrade file may have been left out."""
        if self.contract.freqtrade_file not in self.claim.subjects:
            return without_freqtrade(self.contract)
        return Targets(freqtrade=True, packages=find_freqtrade())

    def _data(self) -> tuple[MarketData, str]:
        """The candles: from the commit, or from the checkout where they are not in Git."""
        sealed = self.sealed
        missing: list[str] = []

        def held(path: str) -> bytes | None:
            content = sealed.held(path)
            missing.extend([path] if content is None else [])
            return content

        try:
            if self.contract.data.source == "ccxt":
                self.has_candles = False
                return read_market_data(self.contract, sealed.repository.root), "candles downloaded"
            return read_market_data(self.contract, held), "candles from the commit"
        except InputError as error:
            if not missing:
                outcome = Outcome.BROKEN if self.has_candles else Outcome.CANNOT_CHECK
                raise Stop("candles", outcome, error.message) from None
        self.has_candles = False
        try:
            found = read_market_data(self.contract, sealed.repository.root)
        except InputError:
            detail = f"{missing[0]} is neither in the commit nor in the checkout"
            raise Stop("candles", Outcome.CANNOT_CHECK, detail) from None
        return found, "candles from the checkout: the commit does not hold them"
