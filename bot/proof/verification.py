"""Says whether a tag's evidence holds: runs the whole line again from the tag's own commit."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from bot.coder.port import Candidate, Coder
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData, read_market_data
from bot.errors import InputError, StratwrightError, WorldError
from bot.gates.freqtrade.installation import HOW_TO_INSTALL, find_freqtrade
from bot.gates.port import Case
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.assignment import Assignment, assign_in
from bot.proof.comparison import find_differences, written
from bot.proof.edges import Prover
from bot.proof.evidence import (
    PREDICATE,
    PROVENANCE,
    STATEMENT,
    provenance_file,
    result_files,
    sha256,
    tool_versions,
)
from bot.proof.examination import STATIC, gate_names
from bot.proof.judge import decide, judge
from bot.proof.line import prove, write
from bot.proof.origin import is_the_templates, template_files
from bot.proof.product import product_digest
from bot.proof.sealing import commit_message, seal_on
from bot.proof.targets import FREQTRADE, Targets, without_freqtrade

_EVIDENCE = re.compile(r"^Evidence: (\S+) (sha256:[0-9a-f]{64})$", re.ASCII | re.MULTILINE)
_MOST_FILES = 200
_MOST_BYTES = 200_000_000


class Outcome(StrEnum):
    """What can be said of a tag, or of one thing about it."""

    HOLDS = "holds"  # it was computed again and is the same
    CANNOT_CHECK = "cannot-check"  # something that is needed is not here
    NOT_VERIFIED = "not-verified"  # it cannot be computed again, or was not
    BROKEN = "broken"  # it was computed again and is not the same


_WORST = (Outcome.BROKEN, Outcome.NOT_VERIFIED, Outcome.CANNOT_CHECK, Outcome.HOLDS)


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    name: str
    outcome: Outcome
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether it was computed again and is the same."""
        return self.outcome is Outcome.HOLDS


@dataclass(frozen=True)
class Verification:
    """What came out of checking a tag.

    Attributes:
        findings: everything that was checked, in the order of checking.
        left_out: what was not checked because nobody asked for it.
    """

    findings: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of all; what was left out is not verified, and nothing checked is nothing."""
        found = {finding.outcome for finding in self.findings}
        if self.left_out or not found:
            found.add(Outcome.NOT_VERIFIED)
        return next(outcome for outcome in _WORST if outcome in found)

    @property
    def exit_code(self) -> int:
        """0 it holds; 4 what is needed is not here; 1 anything else."""
        return {Outcome.HOLDS: 0, Outcome.CANNOT_CHECK: 4}.get(self.outcome, 1)


@dataclass(frozen=True)
class Claim:
    """What a statement says, of the agreed form and not yet believed."""

    subjects: Mapping[str, str]
    correlation_id: str
    contract_path: str
    coder: str
    version: str
    product: str
    versions: Mapping[str, str]

    @property
    def makers(self) -> dict[str, str]:
        """The product and the tools that it says it was made with."""
        return {**self.versions, "product": self.product}


Elsewhere = Callable[[str, Claim, Repository], Verification]
"""Lets the product and the tools that a claim names check a tag.

Raises WorldError where they cannot be had.
"""


@dataclass(frozen=True)
class Checker:
    """Holds what checking a tag needs.

    Attributes:
        open_coder: opens the coder that a contract and the settings name.
        open_prover: opens the sandbox and what else the gates need; None leaves out what they say.
        elsewhere: asks the version that made the tag, where that is not this one.
    """

    open_coder: Callable[[Contract], Coder]
    open_prover: Callable[[], Prover] | None = None
    elsewhere: Elsewhere | None = None


class _Stop(Exception):
    """The rest cannot be checked."""

    def __init__(self, name: str, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.finding = Finding(name, outcome, detail)


def verify(tag: str, repository: Repository, checker: Checker) -> Verification:
    """Check everything that a tag claims, by computing it again.

    Raises:
        InputError: there is no such tag, or not enough of its history.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        raise InputError(f"there is no tag {tag}", "List them with: git tag --list 'ai/*'")
    sealed = _Sealed(tag, commit, repository)
    found: list[Finding] = []
    left_out: tuple[str, ...] = ()
    try:
        found += sealed.check()
        # Where something was changed, it is named by now; what follows would only repeat it.
        if all(finding.holds for finding in found):
            left_out = _compute_again(sealed, found, checker)
    except _Stop as stop:
        found.append(stop.finding)
    except WorldError as error:
        detail = f"{error.message}. {error.hint}".rstrip(". ")
        found.append(Finding("here", Outcome.CANNOT_CHECK, detail))
    return Verification(tuple(found), left_out)


def _compute_again(sealed: "_Sealed", found: list[Finding], checker: Checker) -> tuple[str, ...]:
    """Run the line again, the cheapest parts first, and add to the findings; give what is left."""
    try:
        again = _Again(sealed, checker.open_coder)
        for finding in again.check():
            found.append(finding)
            if not finding.holds:
                return ()
        other = again.other_makers()
        if other is not None:
            if checker.elsewhere is None or checker.open_prover is None:
                raise _Stop("made with", Outcome.CANNOT_CHECK, other)
            asked = checker.elsewhere(sealed.tag, sealed.claim, sealed.repository)
            found += asked.findings
            return asked.left_out
        found += again.check_results()
        if not all(finding.holds for finding in found):
            return ()
        if checker.open_prover is None:
            return again.left_out
        found += again.check_all(checker.open_prover())
    except InputError as error:
        raise _Stop("contract", Outcome.NOT_VERIFIED, error.message) from None
    return ()


def _found(name: str, holds: bool, detail: str = "", good: str = "") -> Finding:
    """A finding that holds, or that is broken for a reason."""
    return Finding(name, Outcome.HOLDS if holds else Outcome.BROKEN, good if holds else detail)


def _read_claim(raw: bytes) -> Claim:
    form = f"{PROVENANCE} is not in the form that stratwright writes"
    try:
        statement = json.loads(raw)
        canonical = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
        if canonical != raw or (statement["_type"], statement["predicateType"]) != (
            STATEMENT,
            PREDICATE,
        ):
            raise _Stop("statement", Outcome.BROKEN, form)
        predicate = statement["predicate"]
        if not isinstance(predicate["versions"], dict):
            raise TypeError("versions are an object")
        claim = Claim(
            {item["name"]: item["digest"]["sha256"] for item in statement["subject"]},
            predicate["correlation_id"],
            predicate["contract"]["path"],
            predicate["coder"],
            predicate["product"]["version"],
            predicate["product"]["digest"],
            dict(predicate["versions"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _Stop("statement", Outcome.BROKEN, form) from None
    texts = [*claim.subjects, *claim.subjects.values(), *claim.makers, *claim.makers.values()]
    texts += [claim.correlation_id, claim.contract_path, claim.coder, claim.version]
    plain = all(isinstance(text, str) and text.isprintable() for text in texts)
    if not plain or len(claim.subjects) > _MOST_FILES:
        raise _Stop("statement", Outcome.BROKEN, form)
    if any(not _is_inner(path) for path in (*claim.subjects, claim.contract_path)):
        detail = f"{PROVENANCE} names a file outside the repository"
        raise _Stop("statement", Outcome.BROKEN, detail)
    return claim


def _is_inner(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and path.isprintable()
        and PurePosixPath(path).as_posix() == path
        and not {"..", "/"} & {*parts}
    )


class _Sealed:
    """The tag, its commit and the digests: has any byte been changed since they were sealed?"""

    claim: Claim
    parent: str

    def __init__(self, tag: str, commit: str, repository: Repository) -> None:
        self.tag = tag
        self.commit = commit
        self.repository = repository
        self.task = self._task()
        self.folder = f"artifacts/{self.task}"
        self._files: dict[str, bytes | None] = {}

    def check(self) -> Iterator[Finding]:
        """Everything that needs no computing."""
        yield self._annotation()
        message = self.repository.message_of(self.commit)
        same = self.repository.message_of(f"refs/tags/{self.tag}") == message
        yield _found("messages", same, "tag and commit messages differ")
        statement = self.read(f"{self.folder}/{PROVENANCE}")
        match = _EVIDENCE.search(message)
        holds = match is not None and match.groups() == (self.folder, sha256(statement))
        yield _found("seal", holds, "the statement is not the one that was sealed")
        self.claim = _read_claim(statement)
        self._load(self.claim.subjects)
        for name, digest in self.claim.subjects.items():
            found = sha256(self.read(name)).removeprefix("sha256:")
            yield _found(name, found == digest, f"is {found[:12]}, was {digest[:12]!a}")
        yield self._changes()
        yield self._base()

    def read(self, path: str) -> bytes:
        """A plain file of the tagged commit."""
        content = self.held(path)
        if content is None:
            raise _Stop(path, Outcome.BROKEN, "it is not in the commit as a plain file")
        return content

    def held(self, path: str) -> bytes | None:
        """A plain file of the tagged commit; None if it has none."""
        if path not in self._files:
            self._load((path,))
        return self._files[path]

    def _load(self, paths: Iterable[str]) -> None:
        """Read files with two processes of Git, however many there are."""
        there = self.repository.entries(self.commit, paths)
        plain = {
            path: there[path].id
            for path in paths
            if path in there and there[path].mode in ("100644", "100755")
        }
        size = sum(there[path].size for path in plain)
        if size > _MOST_BYTES:
            largest = max(plain, key=lambda path: there[path].size)
            raise _Stop(largest, Outcome.BROKEN, f"it is too large: {size} bytes in all")
        found = self.repository.blobs(plain.values()) if plain else {}
        self._files |= {path: found[plain[path]] if path in plain else None for path in paths}

    def _task(self) -> TaskName:
        parts = self.tag.split("/")
        try:
            task = TaskName(parts[1], parts[2])
        except (IndexError, InputError):
            task = None
        if task is None or task.attempt(self.tag) is None:
            hint = "Tags of evidence are called ai/<workflow>/<task>/<correlation_id>."
            raise InputError(f"{self.tag} is not a tag of ours", hint) from None
        return task

    def _annotation(self) -> Finding:
        """The tag is an annotated one, made under this name for this commit."""
        found = self.repository.git.run("cat-file", "tag", f"refs/tags/{self.tag}")
        head = found.text.partition("\n\n")[0].splitlines()[:3]
        wanted = [f"object {self.commit}", "type commit", f"tag {self.tag}"]
        return _found("tag", found.code == 0 and head == wanted, "it is not the tag that was made")

    def _changes(self) -> Finding:
        """On top of its base, the commit changes what the statement lists and nothing else."""
        repository = self.repository
        if repository.git.ask("rev-parse", "--is-shallow-repository").text == "true":
            message = "this is a shallow clone: what the tag changes cannot be seen"
            raise InputError(message, "Fetch the rest of its history: git fetch --unshallow")
        parents = repository.parents(self.commit)
        if len(parents) != 1:
            detail = f"the commit has {len(parents)} parents, not one"
            raise _Stop("changes", Outcome.BROKEN, detail)
        self.parent = parents[0]
        listed = {*self.claim.subjects, f"{self.folder}/{PROVENANCE}"}
        there = repository.entries(self.commit, (self.folder, *listed))
        strange = sorted(set(there) - listed)
        odd = [path for path, entry in there.items() if entry.mode != "100644"]
        changed = repository.changed(self.parent, self.commit)
        beside = [
            path
            for path in changed
            if path not in listed and not path.startswith(f"{self.folder}/")
        ]
        if strange or beside:
            path = (*strange, *beside)[0]
            return _found("changes", False, f"nobody listed what it does to {path!a}")
        detail = f"{odd[0]!a} is not a plain file" if odd else ""
        good = f"{len(changed)} files on top of {self.parent[:12]}"
        return _found("changes", not odd, detail, good)

    def _base(self) -> Finding:
        """It stands on a commit that some branch has, other than those of generated code."""
        options = ("--format=%(refname)", "--contains", self.parent)
        refs = self.repository.git.ask("for-each-ref", *options, "refs/heads", "refs/remotes").text
        names = [
            name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
            for name in refs.splitlines()
            if "/ai/generated/" not in name
        ]
        if names:
            return Finding("base", Outcome.HOLDS, f"in {names[0]}")
        detail = f"no branch here has the commit {self.parent[:12]} that it stands on"
        return Finding("base", Outcome.NOT_VERIFIED, detail)


class _Again:
    """The line run again on the contract and the candles of the tag's own commit."""

    work: Assignment
    candidate: Candidate
    has_candles = True  # whether the commit holds them

    def __init__(self, sealed: _Sealed, open_coder: Callable[[Contract], Coder]) -> None:
        self.sealed = sealed
        self.claim = sealed.claim
        self.loaded = self._contract()
        self.contract = self.loaded.strategy
        self.coder = open_coder(self.contract)
        self.targets = self._targets()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What only a run in the sandbox shows."""
        files = self.candidate.contents
        written = template_files(self.contract, self.work.program, frozenset(files))
        gates = gate_names(self.targets, foreign=not is_the_templates(files, written))
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
        yield _found("contract", same, "it is another task's")
        if FREQTRADE in self.contract.targets:
            holds = self.targets.freqtrade or self.contract.targets != (FREQTRADE,)
            yield _found("targets", holds, *(self.targets.notes or ("",)))
        if claim.coder != self.coder.name:
            detail = f"contract and settings name {self.coder.name}, not {claim.coder[:40]!a}"
            yield Finding("coder", Outcome.NOT_VERIFIED, detail)
        data, where = self._data()
        root = sealed.repository.root
        loose = [path for path in data.contents if sealed.held(path) is None]
        self.targets = self.targets.without_candles([p for p in loose if (root / p).is_file()])
        identity = sealed.repository.repository_id
        self.work = assign_in(
            identity, self.loaded, claim.contract_path, data, self.targets, claim.version
        )
        name = self.work.origin.correlation_id
        attempt = sealed.task.attempt(sealed.tag) or ("", 0)
        holds = name == claim.correlation_id == attempt[0]
        if not holds and not self.has_candles:
            detail = f"they are not those that it was proven on; {where}"
            raise _Stop("candles", Outcome.CANNOT_CHECK, detail)
        yield _found("correlation id", holds, f"should be {name}; {where}", where)

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
            yield _found(f"code {path}", holds, "comes out otherwise", "written again, the same")
        yield from self._words(kept)
        case = Case(self.candidate.contents, self.work.planned)
        for verdict in (gate.judge(case) for gate in STATIC):
            yield _found(f"gate {verdict.name}", verdict.passed, verdict.reason, verdict.figure)
        work = self.work
        try:
            decisions = decide(work.contract, work.program, work.data)
            judgement = judge(work.contract, work.program, work.data, decisions)
        except StratwrightError as error:
            raise _Stop("backtest", Outcome.BROKEN, f"not computed: {error.message}") from None
        for name, content in result_files(judgement, work.origin.correlation_id).items():
            holds = self.sealed.held(f"{self.sealed.folder}/{name}") == content
            yield _found(f"backtest {name}", holds, "comes out otherwise")

    def _words(self, kept: Candidate) -> Iterator[Finding]:
        """The statement and the message, as these files give them."""
        sealed, folder = self.sealed, f"{self.sealed.folder}/"
        listed = [path for path in self.claim.subjects if path.startswith(folder)]
        evidence = {path.removeprefix(folder): sealed.read(path) for path in listed}
        statement = provenance_file(self.work, kept, evidence, self.claim.versions)
        same = sealed.read(f"{folder}{PROVENANCE}") == statement
        yield _found("statement", same, "comes out otherwise")
        message, trailers = commit_message(self.work, kept, sha256(statement))
        there = sealed.repository.message_of(sealed.commit)
        yield _found("message", there == trailers.attached_to(message), "it was edited")

    def check_all(self, prover: Prover) -> Iterator[Finding]:
        """Every gate again in the sandbox, the evidence sealed again, every file compared."""
        sealed = self.sealed
        proven = prove(self.work, self.candidate, prover)
        for verdict in proven.verdicts[len(STATIC) :]:
            yield _found(f"gate {verdict.name}", verdict.passed, verdict.reason, verdict.figure)
        again = seal_on(sealed.parent, proven, sealed.tag, sealed.repository)
        writing = written(proven, again, sealed.tag)
        differences = list(find_differences(writing, sealed.commit, sealed.repository))
        for name, why in differences:
            yield Finding(name, Outcome.BROKEN, why)
        if not differences:
            detail = f"{len(writing.files)} files and both messages come out the same"
            yield Finding("every byte", Outcome.HOLDS, detail)

    def _contract(self) -> LoadedContract:
        path = Path(self.claim.contract_path)
        content = self.sealed.read(path.as_posix())
        try:
            loaded = parse_contract(content, FORMS[path.suffix], path)
            loaded.strategy  # noqa: B018 - raises for a module's
        except (StratwrightError, KeyError) as error:
            detail = f"it cannot be read: {str(error)[:300]}"
            raise _Stop("contract", Outcome.BROKEN, detail) from None
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
                raise _Stop("candles", outcome, error.message) from None
        self.has_candles = False
        try:
            found = read_market_data(self.contract, sealed.repository.root)
        except InputError:
            detail = f"{missing[0]} is neither in the commit nor in the checkout"
            raise _Stop("candles", Outcome.CANNOT_CHECK, detail) from None
        return found, "candles from the checkout: the commit does not hold them"
