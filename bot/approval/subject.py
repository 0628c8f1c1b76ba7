"""Reads from Git what an approval is about: a tag's bytes, by digests, as they are now."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.approval.reasons import refuse
from bot.approval.record import digest_of
from bot.contract.load import FORMS, parse_contract
from bot.errors import InputError
from bot.git.identity import TaskName
from bot.git.repository import Repository

_EVIDENCE = re.compile(r"^Evidence: (\S+) (sha256:[0-9a-f]{64})$", re.ASCII | re.MULTILINE)
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
_TAGGER = re.compile(rb"^tagger [^<\n]*<([^>\n]*)>", re.MULTILINE)


@dataclass(frozen=True)
class Subject:
    """A tag as it is now.

    Attributes:
        commit: what the tag names; tips: where the task's branch is, here and at the remote.
        broken: the first file that is not the one that the evidence names; empty if all are.
        green: whether every gate of the evidence passed.
        author: who changed the contract last; requester: who had the tag made.
        path: the contract's; changed_by: the commit that changed it last.
    """

    tag: str
    task: TaskName
    correlation_id: str
    commit: str
    tips: frozenset[str]
    contract: str
    strategy: str
    evidence: str
    candles: str
    version: str
    product: str
    symbols: tuple[str, ...]
    warmup: int
    author: str
    requester: str
    broken: str
    green: bool
    path: str = ""
    changed_by: str = ""


def read_subject(repository: Repository, tag: str) -> Subject:
    """Reads a tag; everything comes from the one commit that the tag names at this moment.

    Raises:
        InputError: it is not the name of a tag of ours.
        ApprovalRefused: no-tag or other-bytes, if there is nothing to read.
    """
    task, correlation_id = name_of(tag)
    found = repository.objects.find(f"refs/tags/{tag}")
    raw = repository.objects.read(found.id, "tag") if found else None
    if found is None or raw is None:
        raise refuse("no-tag", f"{tag} is not here, or is no annotated tag")
    commit = repository.commit_of(found.id)
    folder = f"artifacts/{task}"
    statement = repository.read(commit, f"{folder}/provenance.json") or b""
    try:
        said = json.loads(statement)
        predicate = said["predicate"]
        listed = {item["name"]: item["digest"]["sha256"] for item in said["subject"]}
        path, candles = predicate["contract"]["path"], predicate["data"]["digest"]
        product = predicate["product"]
        summary = json.loads(repository.read(commit, f"{folder}/summary.json") or b"")
        gates = json.loads(repository.read(commit, f"{folder}/gates.json") or b"")
        files = {name: repository.read(commit, name) for name in listed}
        tagger = _TAGGER.search(raw)
        changed_by, author = _last_change(repository, commit, path)
        return Subject(
            tag,
            task,
            correlation_id,
            commit,
            repository.tips(task),
            digest_of(files[path] or b""),
            _digest_of_code(listed),
            digest_of(statement),
            str(candles),
            str(product["version"]),
            str(product["digest"]),
            _symbols(path, files[path] or b""),
            int(summary["signals"]["warmup"]),
            author,
            tagger[1].decode("utf-8", "replace") if tagger else "",
            _broken(repository.message_of(commit), statement, files, listed),
            gates["passed"] is True and all(each["passed"] is True for each in gates["gates"]),
            path,
            changed_by,
        )
    except (*_UNREADABLE, InputError):
        raise refuse("other-bytes", f"{tag} holds no evidence that can be read") from None


def name_of(tag: str) -> tuple[TaskName, str]:
    """Reads task and correlation id from a tag's name.

    Raises:
        InputError: it is not the name of a tag of ours.
    """
    parts = tag.split("/")
    if len(parts) == 4 and parts[0] == "ai":
        task = TaskName(parts[1], parts[2])
        attempt = task.attempt(tag)
        if attempt:
            return task, attempt[0]
    hint = "Tags of evidence are called ai/<workflow>/<task>/<correlation_id>."
    raise InputError(f"{tag!a} is not a tag of ours", hint)


def _broken(
    message: str,
    statement: bytes,
    files: Mapping[str, bytes | None],
    listed: Mapping[str, str],
) -> str:
    sealed = _EVIDENCE.search(message)
    if sealed is None or sealed[2] != digest_of(statement):
        return "provenance.json"
    for name, digest in sorted(listed.items()):
        if digest_of(files[name] or b"") != f"sha256:{digest}":
            return name
    return ""


def _digest_of_code(listed: Mapping[str, str]) -> str:
    rows = (f"{digest}  {name}\n" for name, digest in listed.items() if name[:9] == "Backtest/")
    return digest_of("".join(sorted(rows)).encode())


def _symbols(path: str, data: bytes) -> tuple[str, ...]:
    loaded = parse_contract(data, FORMS[Path(path).suffix], Path(path), models=True)
    return tuple(sorted(loaded.strategy.market.symbols))


def _last_change(repository: Repository, commit: str, path: str) -> tuple[str, str]:
    form = "--format=%H %ae"
    options = ("-1", "--no-show-signature", form, "--end-of-options", commit, "--", path)
    changed_by, _, author = repository.git.ask("log", *options).text.partition(" ")
    return changed_by, author
