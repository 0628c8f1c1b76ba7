"""A tag to whether its evidence holds: every digest and the backtest, computed again."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bot import __version__
from bot.coder.port import Candidate
from bot.coder.template import TemplateCoder
from bot.contract.digest import contract_digest
from bot.contract.load import FORMS, parse_contract
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.earlier import EarlierVersion, find_earlier_version
from bot.errors import InputError, StratwrightError
from bot.evidence import (
    PREDICATE,
    PROVENANCE,
    STATEMENT,
    Origin,
    provenance_file,
    read_gates,
    result_files,
    sha256,
)
from bot.gates.behaviour import report_problem
from bot.gates.engine_parity import judge_engine_parity
from bot.gates.examination import Examination, gate_names
from bot.gates.port import Verdict
from bot.identity import TaskName, correlation_id
from bot.judge import Judgement, decide, judge
from bot.market_data import MarketData, data_paths, read_market_data
from bot.plan import freqtrade_file, planned_files
from bot.report.page import report_html
from bot.report.picture import picture
from bot.repository import Repository
from bot.sealing import commit_message, evidence_folder, tell_story
from bot.targets import FREQTRADE, Delivery, without_freqtrade
from sandbox_runner.test_report import NotAReport, find_problems, read_report

_EVIDENCE = re.compile(r"^Evidence: (\S+) (sha256:[0-9a-f]{64})$", re.ASCII | re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    name: str
    holds: bool
    detail: str = ""


class _Broken(Exception):
    """The rest cannot be checked; says why."""


def verify(tag: str, repository: Repository) -> tuple[Finding, ...]:
    """Check everything that a tag claims, from the tag alone.

    Raises:
        InputError: there is no such tag, or not enough of its history.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        raise InputError(f"there is no tag {tag}", "List them with: git tag --list 'ai/*'")
    sealed = _Sealed(tag, commit, repository)
    found: list[Finding] = []
    try:
        for finding in sealed.check():
            found.append(finding)
        if all(finding.holds for finding in found):
            # Whatever was changed is named by now; what follows would only repeat it.
            for finding in _Recomputed(sealed).check():
                found.append(finding)
    except _Broken as error:
        found.append(Finding("evidence", False, str(error)))
    return tuple(found)


@dataclass(frozen=True)
class _Claim:
    """What the statement says, of the agreed form and not yet believed."""

    subjects: Mapping[str, str]
    correlation_id: str
    contract_path: str
    coder: str
    model: str
    prompt_hash: str
    versions: Mapping[str, str]


def _read_claim(raw: bytes) -> _Claim:
    try:
        statement = json.loads(raw)
        canonical = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
        if canonical != raw or (statement["_type"], statement["predicateType"]) != (
            STATEMENT,
            PREDICATE,
        ):
            raise _Broken(f"{PROVENANCE} is not in the form that stratwright writes")
        predicate = statement["predicate"]
        claim = _Claim(
            {item["name"]: item["digest"]["sha256"] for item in statement["subject"]},
            predicate["correlation_id"],
            predicate["contract"]["path"],
            predicate["coder"],
            predicate["model"],
            predicate["prompt_hash"],
            dict(predicate["versions"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _Broken(f"{PROVENANCE} is not a statement") from None
    texts = [*claim.subjects, *claim.subjects.values(), *claim.versions, *claim.versions.values()]
    texts += [claim.correlation_id, claim.contract_path]
    texts += [claim.coder, claim.model, claim.prompt_hash]
    if not all(isinstance(text, str) for text in texts):
        raise _Broken(f"{PROVENANCE} is not a statement")
    if any(not _is_inner(path) for path in (*claim.subjects, claim.contract_path)):
        raise _Broken(f"{PROVENANCE} names a file outside the repository")
    return claim


def _is_inner(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and PurePosixPath(path).as_posix() == path and not {"..", "/"} & {*parts}


class _Sealed:
    """The tag, its commit and the digests: has any byte been changed since they were sealed?"""

    def __init__(self, tag: str, commit: str, repository: Repository) -> None:
        self.tag = tag
        self.commit = commit
        self.repository = repository
        self.task = self._task()
        self.folder = f"artifacts/{self.task}"
        self._files: dict[str, bytes] = {}

    def check(self) -> Iterator[Finding]:
        """Everything that needs no computing."""
        yield self._annotation()
        message = self.repository.message_of(self.commit)
        same = self.repository.message_of(f"refs/tags/{self.tag}") == message
        yield Finding("messages", same, "" if same else "tag and commit messages differ")
        statement = self.read(f"{self.folder}/{PROVENANCE}")
        match = _EVIDENCE.search(message)
        holds = match is not None and match.groups() == (self.folder, sha256(statement))
        detail = "" if holds else "the statement is not the one that was sealed"
        yield Finding("seal", holds, detail)
        self.claim = _read_claim(statement)
        for name, digest in self.claim.subjects.items():
            found = sha256(self.read(name)).removeprefix("sha256:")
            detail = "" if found == digest else f"is {found[:12]}, was {digest[:12]}"
            yield Finding(name, found == digest, detail)
        yield self._completeness()
        yield self._changes()

    def read(self, path: str) -> bytes:
        """A file of the tagged commit."""
        if path not in self._files:
            content = self.repository.read(self.commit, path)
            if content is None:
                raise _Broken(f"{path} is not in the commit")
            self._files[path] = content
        return self._files[path]

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
        holds = found.code == 0 and head == wanted
        return Finding("tag", holds, "" if holds else "it is not the tag that was made")

    def _completeness(self) -> Finding:
        """No file lies among the evidence that the statement does not list."""
        there = set(self.repository.paths(self.commit, self.folder))
        strange = sorted(there - set(self.claim.subjects) - {f"{self.folder}/{PROVENANCE}"})
        detail = f"nobody listed {strange[0]}" if strange else f"{len(self.claim.subjects)} files"
        return Finding("completeness", not strange, detail)

    def _changes(self) -> Finding:
        """On top of its base, the commit changes what the statement lists and nothing else."""
        git = self.repository.git
        if git.ask("rev-parse", "--is-shallow-repository").text == "true":
            message = "this is a shallow clone: what the tag changes cannot be seen"
            raise InputError(message, "Fetch the rest of its history: git fetch --unshallow")
        parents = git.ask("rev-list", "--parents", "--max-count=1", self.commit).text.split()[1:]
        if len(parents) != 1:
            return Finding("changes", False, f"the commit has {len(parents)} parents, not one")
        options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev")
        raw = git.ask("diff-tree", *options, parents[0], self.commit).out
        fields = raw.decode("utf-8", "surrogateescape").split("\0")[:-1]
        for entry, path in zip(fields[::2], fields[1::2], strict=True):
            _, mode, _, _, status = entry.split()
            listed = path in self.claim.subjects or path == f"{self.folder}/{PROVENANCE}"
            dropped = status == "D" and path.startswith(f"{self.folder}/") and not listed
            if not dropped and not (listed and mode == "100644"):
                return Finding("changes", False, f"nobody listed what it does to {path!a}")
        return Finding("changes", True, f"{len(fields) // 2} files on top of {parents[0][:12]}")


class _Recomputed:
    """The evidence made again: from the contract and the candles, without the candidate."""

    def __init__(self, sealed: _Sealed) -> None:
        self.sealed = sealed
        self.claim = sealed.claim
        self.contract = self._contract()
        self.digest = contract_digest(self.contract)
        self.candidate = self._candidate()
        proven = freqtrade_file(self.contract) in self.claim.subjects
        self.delivery = Delivery(proven) if proven else without_freqtrade(self.contract)

    def check(self) -> Iterator[Finding]:
        """Every check, in the order in which they build on each other."""
        sealed, claim = self.sealed, self.claim
        same = evidence_folder(self.contract) == sealed.folder
        yield Finding("contract", same, "" if same else "it is another task's")
        if FREQTRADE in self.contract.targets:
            yield self._targets()
        data, where = self._data()
        found = correlation_id(
            sealed.repository.repository_id,
            claim.contract_path,
            self.digest,
            data.digest,
            self.delivery.generator(claim.versions.get("stratwright", "")),
        )
        attempt = sealed.task.attempt(sealed.tag) or ("", 0)
        holds = found == claim.correlation_id == attempt[0]
        yield Finding("correlation id", holds, where if holds else f"should be {found}; {where}")
        origin = Origin(found, claim.contract_path, self.digest, sealed.read(claim.contract_path))
        yield self._statement(origin, data)
        yield self._message(origin)
        decisions = self._decisions(data)
        judgement = self._judgement(data, decisions)
        for name, content in result_files(judgement, found).items():
            yield self._same(f"backtest {name}", name, content)
        yield self._parity(data, decisions)
        yield self._code()
        verdicts = self._verdicts()
        passed = all(verdict.passed is True for verdict in verdicts)
        names = tuple(verdict.name for verdict in verdicts)
        detail = f"{len(names)} passed" if passed else "one did not pass"
        whole = names == gate_names(self.delivery)
        yield Finding("gates", passed and whole, detail if whole else "not all")
        yield self._report()
        yield from self._pages(origin, data, verdicts, judgement)

    def _targets(self) -> Finding:
        """A target may have been left out, but not the only one."""
        holds = self.delivery.freqtrade or self.contract.targets != (FREQTRADE,)
        return Finding("targets", holds, *self.delivery.notes)

    def _contract(self) -> Contract:
        path = Path(self.claim.contract_path)
        content = self.sealed.read(path.as_posix())
        try:
            return parse_contract(content, FORMS[path.suffix], path).strategy
        except (StratwrightError, KeyError) as error:
            raise _Broken(f"the contract cannot be read: {error}") from None

    def _candidate(self) -> Candidate:
        paths = [path for path in planned_files(self.contract) if path in self.claim.subjects]
        try:
            files = {path: self.sealed.read(path).decode("utf-8") for path in paths}
        except UnicodeDecodeError:
            raise _Broken("the code is not UTF-8") from None
        return Candidate(files, self.claim.coder, self.claim.model, self.claim.prompt_hash)

    def _data(self) -> tuple[MarketData, str]:
        """The candles: from the commit, or from the checkout where they are not in Git."""
        sealed = self.sealed
        try:
            held = {
                path: sealed.repository.read(sealed.commit, path)
                for path in data_paths(self.contract)
            }
            if any(content is None for content in held.values()):
                found = read_market_data(self.contract, sealed.repository.root)
                return found, "candles from the checkout: the commit does not hold them"
            with tempfile.TemporaryDirectory() as folder:
                for path, content in held.items():
                    place = Path(folder, path)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content or b"")
                return read_market_data(self.contract, Path(folder)), "candles from the commit"
        except InputError as error:
            raise _Broken(f"the candles cannot be read: {error.message}") from None

    def _statement(self, origin: Origin, data: MarketData) -> Finding:
        """The statement is, to the byte, what these files and candles give."""
        folder = self.sealed.folder
        evidence = {
            path.removeprefix(f"{folder}/"): self.sealed.read(path)
            for path in self.claim.subjects
            if path.startswith(f"{folder}/")
        }
        content = provenance_file(
            origin, self.candidate, data, evidence, folder, self.claim.versions
        )
        return self._same("statement", PROVENANCE, content)

    def _message(self, origin: Origin) -> Finding:
        """Commit and tag say what they must, and no more."""
        digest = sha256(self.sealed.read(f"{self.sealed.folder}/{PROVENANCE}"))
        try:
            text, trailers = commit_message(self.contract, origin, self.candidate, digest)
        except InputError as error:
            raise _Broken(error.message) from None
        holds = self.sealed.repository.message_of(self.sealed.commit) == trailers.attached_to(text)
        return Finding("message", holds, "" if holds else "it was edited")

    def _decisions(self, data: MarketData) -> dict[str, Any]:
        try:
            return decide(self.contract, compile_contract(self.contract), data)
        except StratwrightError as error:
            raise _Broken(f"the decisions cannot be computed: {error.message}") from None

    def _parity(self, data: MarketData, decisions: Mapping[str, Any]) -> Finding:
        """Both paths of the broker give the same trades, here as well."""
        program = compile_contract(self.contract)
        verdict = judge_engine_parity(self.contract, program, data, decisions)
        return Finding(verdict.name, verdict.passed, verdict.reason or verdict.figure)

    def _judgement(self, data: MarketData, decisions: Mapping[str, Any]) -> Judgement:
        try:
            program = compile_contract(self.contract)
            return judge(self.contract, program, data, decisions)
        except StratwrightError as error:
            raise _Broken(f"the backtest cannot be computed: {error.message}") from None

    def _code(self) -> Finding:
        """The template coder writes the same bytes, where it was the coder and this version."""
        if self.claim.coder != "template" or not self._is_this_version:
            return Finding("code", True, "not written again: another coder or version wrote it")
        again = TemplateCoder().write(self.contract, self.claim.contract_path)
        holds = self.delivery.kept(self.contract, again) == self.candidate
        return Finding("code", holds, "written again, the same" if holds else "comes out otherwise")

    @property
    def _is_this_version(self) -> bool:
        return self.claim.versions.get("stratwright") == __version__

    def _verdicts(self) -> tuple[Verdict, ...]:
        raw = self.sealed.read(f"{self.sealed.folder}/gates.json")
        try:
            return read_gates(raw, self.delivery.notes)
        except ValueError as error:
            raise _Broken(str(error)) from None

    def _report(self) -> Finding:
        """The test report is valid, and has every test of the file and only passed ones."""
        tests = f"tests/test_{self.contract.file_stem}.py"
        try:
            report = read_report(self.sealed.read(f"{self.sealed.folder}/test_report.json"))
        except NotAReport as error:
            return Finding("test report", False, str(error))
        problems = find_problems(report)
        problem = problems[0] if problems else self._report_problem(report, tests)
        return Finding("test report", not problem, problem or f"{len(report['tests'])} tests")

    def _report_problem(self, report: dict[str, Any], tests: str) -> str:
        return report_problem(report, tests, self.sealed.read(tests))[0]

    def _pages(
        self,
        origin: Origin,
        data: MarketData,
        verdicts: tuple[Verdict, ...],
        judgement: Judgement,
    ) -> Iterator[Finding]:
        """The picture and the page show these results, where this version drew them."""
        if not self._is_this_version:
            yield Finding("pages", True, "not drawn again: another version drew them")
            return
        story = tell_story(
            self.contract,
            compile_contract(self.contract),
            origin,
            self.candidate,
            data,
            Examination(verdicts, {}, judgement),
            self.sealed.tag,
            self.claim.versions,
            self._earlier(data),
            self.delivery.notes,
        )
        yield self._same("page equity.svg", "equity.svg", picture(story).encode())
        yield self._same("page report.html", "report.html", report_html(story).encode())

    def _earlier(self, data: MarketData) -> EarlierVersion | None:
        """The version that the candidate was compared with: its parent commit's."""
        repository = self.sealed.repository
        base = repository.commit_of(f"{self.sealed.commit}^")
        task = TaskName(self.contract.workflow, self.contract.task)
        return find_earlier_version(repository, base, task, data) if base else None

    def _same(self, label: str, name: str, content: bytes) -> Finding:
        holds = self.sealed.read(f"{self.sealed.folder}/{name}") == content
        return Finding(label, holds, "" if holds else "comes out otherwise")
