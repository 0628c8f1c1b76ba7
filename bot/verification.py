"""A tag to whether its evidence holds: every digest and the backtest, computed again."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import __version__
from bot.coder.template import TemplateCoder
from bot.contract.digest import contract_digest
from bot.contract.load import FORMS, parse_contract
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.errors import InputError, StratwrightError
from bot.evidence import PREDICATE, PROVENANCE, STATEMENT, result_files, sha256
from bot.gates.examination import NAMES
from bot.identity import TaskName, correlation_id, parse_trailers
from bot.judge import decide, judge
from bot.market_data import MarketData, read_market_data
from bot.repository import Repository
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
        InputError: there is no such tag.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        raise InputError(f"there is no tag {tag}", "List them with: git tag --list 'ai/*'")
    checks = _Checks(tag, commit, repository)
    found: list[Finding] = []
    try:
        for finding in checks.run():
            found.append(finding)
    except _Broken as error:
        found.append(Finding("evidence", False, str(error)))
    return tuple(found)


class _Checks:
    def __init__(self, tag: str, commit: str, repository: Repository) -> None:
        self.tag = tag
        self.commit = commit
        self.repository = repository
        self.files: dict[str, bytes] = {}

    def run(self) -> Iterator[Finding]:
        """Every check, in the order in which they build on each other."""
        task = self.task()
        yield from self.messages()
        folder = f"artifacts/{task}"
        statement = self.statement(folder)
        yield self.seal(folder)
        yield from self.subjects(statement, folder)
        predicate = statement["predicate"]
        contract = self.contract(predicate)
        yield self.contract_meaning(contract, predicate, task)
        data, where = self.data(contract, predicate)
        yield Finding("data", data.digest == predicate["data"]["digest"], where)
        yield self.name(predicate, data)
        yield from self.backtest(contract, predicate, data, folder)
        yield self.code(contract, predicate)
        yield self.gates(folder)
        yield self.report(folder)

    def read(self, path: str) -> bytes:
        """A file of the tagged commit."""
        if path not in self.files:
            content = self.repository.read(self.commit, path)
            if content is None:
                raise _Broken(f"{path} is not in the commit")
            self.files[path] = content
        return self.files[path]

    def task(self) -> TaskName:
        """Whose tag it is."""
        parts = self.tag.split("/")
        try:
            task = TaskName(parts[1], parts[2])
        except (IndexError, InputError):
            raise _Broken(f"{self.tag} is not named like a tag of ours") from None
        if task.attempt(self.tag) is None:
            raise _Broken(f"{self.tag} carries no correlation id")
        return task

    def messages(self) -> Iterator[Finding]:
        """The tag is annotated, and tag and commit tell the same story."""
        tag_message = self.repository.message_of(f"refs/tags/{self.tag}")
        commit_message = self.repository.message_of(self.commit)
        trailers = parse_trailers(commit_message)
        same = trailers is not None and parse_trailers(tag_message) == trailers
        yield Finding("trailers", same, "" if same else "tag and commit do not carry the same ones")
        same = tag_message.strip() == commit_message.strip()
        yield Finding("messages", same, "" if same else "tag and commit messages differ")

    def statement(self, folder: str) -> dict[str, Any]:
        """The in-toto statement, of the agreed form."""
        raw = self.read(f"{folder}/{PROVENANCE}")
        try:
            statement: dict[str, Any] = json.loads(raw)
            canonical = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
            kinds = (statement["_type"], statement["predicateType"])
        except (ValueError, KeyError, TypeError):
            raise _Broken(f"{PROVENANCE} is not a statement") from None
        if canonical != raw or kinds != (STATEMENT, PREDICATE):
            raise _Broken(f"{PROVENANCE} is not in the form that stratwright writes")
        return statement

    def seal(self, folder: str) -> Finding:
        """The commit's message names the digest of the statement."""
        match = _EVIDENCE.search(self.repository.message_of(self.commit))
        digest = sha256(self.read(f"{folder}/{PROVENANCE}"))
        holds = match is not None and match.groups() == (folder, digest)
        return Finding(
            "seal", holds, "" if holds else "the statement is not the one that was sealed"
        )

    def subjects(self, statement: Mapping[str, Any], folder: str) -> Iterator[Finding]:
        """Every file that the statement lists has its digest, and no file is unlisted."""
        listed = {item["name"]: item["digest"]["sha256"] for item in statement["subject"]}
        for name, digest in listed.items():
            found = sha256(self.read(name)).removeprefix("sha256:")
            holds = found == digest
            yield Finding(name, holds, "" if holds else f"is {found[:12]}, was {digest[:12]}")
        there = set(self.repository.paths(self.commit, folder))
        strange = sorted(there - set(listed) - {f"{folder}/{PROVENANCE}"})
        detail = f"nobody listed {strange[0]}" if strange else f"{len(listed)} files"
        yield Finding("completeness", not strange, detail)

    def contract(self, predicate: Mapping[str, Any]) -> Contract:
        """The contract as it is in the commit."""
        path = Path(predicate["contract"]["path"])
        try:
            return parse_contract(self.read(path.as_posix()), FORMS[path.suffix], path).strategy
        except (StratwrightError, KeyError) as error:
            raise _Broken(f"the contract cannot be read: {error}") from None

    def contract_meaning(
        self, contract: Contract, predicate: Mapping[str, Any], task: TaskName
    ) -> Finding:
        """The contract means what it meant, and is this task's."""
        same = contract_digest(contract) == predicate["contract"]["digest"]
        same &= (contract.workflow, contract.task) == (task.workflow, task.task)
        return Finding("contract", same, "" if same else "it says something else now")

    def data(self, contract: Contract, predicate: Mapping[str, Any]) -> tuple[MarketData, str]:
        """The candles: from the commit, or from the checkout where they are not in Git."""
        inside = {
            path: self.repository.read(self.commit, path) for path in predicate["data"]["files"]
        }
        try:
            if any(content is None for content in inside.values()):
                found = read_market_data(contract, self.repository.root)
                return found, "from the checkout: the commit does not hold the candles"
            with tempfile.TemporaryDirectory() as folder:
                for path, content in inside.items():
                    place = Path(folder, path)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content or b"")
                return read_market_data(contract, Path(folder)), "from the commit"
        except InputError as error:
            raise _Broken(f"the candles cannot be read: {error.message}") from None

    def name(self, predicate: Mapping[str, Any], data: MarketData) -> Finding:
        """The correlation id is the digest of what decided the run."""
        found = correlation_id(
            self.repository.repository_id,
            predicate["contract"]["path"],
            predicate["contract"]["digest"],
            data.digest,
            predicate["versions"]["stratwright"],
        )
        holds = found == predicate["correlation_id"] and f"/{found}" in self.tag
        return Finding("correlation id", holds, found if holds else f"should be {found}")

    def backtest(
        self, contract: Contract, predicate: Mapping[str, Any], data: MarketData, folder: str
    ) -> Iterator[Finding]:
        """Trades, equity, events and summary come out the same, from the contract's own rules."""
        program = compile_contract(contract)
        judgement = judge(contract, program, data, decide(contract, program, data))
        for name, content in result_files(judgement, predicate["correlation_id"]).items():
            holds = self.read(f"{folder}/{name}") == content
            yield Finding(f"backtest {name}", holds, "" if holds else "comes out otherwise")

    def code(self, contract: Contract, predicate: Mapping[str, Any]) -> Finding:
        """The template coder writes the same bytes, where it was the coder and this version."""
        if predicate["coder"] != "template" or predicate["versions"]["stratwright"] != __version__:
            return Finding("code", True, "not written again: another coder or version wrote it")
        candidate = TemplateCoder().write(contract, predicate["contract"]["path"])
        odd = [path for path, text in candidate.contents.items() if self.read(path) != text]
        same_prompt = candidate.prompt_hash == predicate["prompt_hash"]
        holds = not odd and same_prompt
        return Finding("code", holds, "written again, the same" if holds else "comes out otherwise")

    def gates(self, folder: str) -> Finding:
        """Every gate is there and passed."""
        try:
            gates = json.loads(self.read(f"{folder}/gates.json"))["gates"]
            names = tuple(gate["name"] for gate in gates)
            passed = all(gate["passed"] is True for gate in gates)
        except (ValueError, KeyError, TypeError):
            return Finding("gates", False, "gates.json is malformed")
        missing = [name for name in NAMES if name not in names]
        if missing:
            return Finding("gates", False, f"{missing[0]} is missing")
        return Finding("gates", passed, f"{len(names)} passed" if passed else "one did not pass")

    def report(self, folder: str) -> Finding:
        """The test report is valid and has only passed tests."""
        try:
            report = read_report(self.read(f"{folder}/test_report.json"))
        except NotAReport as error:
            return Finding("test report", False, str(error))
        problems = find_problems(report)
        failed = [test for test in report["tests"] if test["outcome"] != "passed"]
        if problems or failed:
            return Finding("test report", False, problems[0] if problems else "a test did not pass")
        return Finding("test report", True, f"{len(report['tests'])} tests")
