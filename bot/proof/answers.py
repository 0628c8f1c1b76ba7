"""Finds what a model answered to a contract's prose: kept here, merged, signed, or asked for now.

Anybody who may push can write a transcript. So one is adopted only if this machine kept it when it
asked, if the base branch has it beside the very contract, or if the bot signed it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bot.approval.reasons import ApprovalRefused
from bot.approval.signers import parse_key
from bot.approval.sshsig import verify
from bot.coder.model.prompt import asked_digest
from bot.coder.model.replay import fits
from bot.coder.model.transcript import SIGNATURE, TRANSCRIPT, Transcript, read_transcript
from bot.contract.answering import answered_prose, open_questions, prose_of, with_answers
from bot.contract.document.problems import ContractError
from bot.contract.document.source import Source, read_source
from bot.contract.load import FORMS, LoadedContract, load_contract, parse_contract, read_file
from bot.contract.model import Contract
from bot.errors import InputError, StratwrightError
from bot.files import path_in_repository, write_files
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.assignment import Answers
from bot.proof.edges import Workshop

NAMESPACE = "stratwright-transcript@v1"
_MOST_BYTES = 1_000_000


def open_contract(path: Path, shop: Workshop) -> tuple[LoadedContract, Answers | None]:
    """Read a contract; where it has prose without expressions, put the answers in.

    Raises:
        ContractError: the contract has mistakes, or prose that nobody can be asked about.
        NotAnswered: a model was asked, and no expression came of it.
        StratwrightError: no money, no time, no answer.
    """
    try:
        return load_contract(path, models=True), None
    except ContractError as error:
        if not open_questions(error) or shop.ask is None:
            raise
        data = read_file(path)
        source = read_source(data, FORMS[path.suffix.lower()])
        if (source.root or {}).get("coder") in ("template", "agent", "cli"):
            raise  # the author wants no model, or one that writes code from exact rules
    return answer_contract(data, path, shop)


def answer_contract(data: bytes, path: Path, shop: Workshop) -> tuple[LoadedContract, Answers]:
    """Put answers into a contract whose prose is open: known ones, else those of a model.

    Raises:
        NotAnswered: a model was asked, and no expression came of it.
        StratwrightError: no money, no time, no answer.
    """
    form = FORMS[path.suffix.lower()]
    source = read_source(data, form)
    # Where no answer could be put in, none is paid for.
    with_answers(data, form, dict.fromkeys(prose_of(source.root or {}), "never"))
    answers = _known(source, shop) or _asked(source, shop)
    written = with_answers(data, form, answers.transcript.expressions)
    return parse_contract(written, form, path), answers


def merged_answers(loaded: LoadedContract, repository: Repository) -> Answers | None:
    """Give the answers that the base branch has beside this very contract, if it has some."""
    contract = loaded.contract
    if not isinstance(contract, Contract):
        return None
    base = repository.base().commit
    with suppress(InputError):
        if repository.read(base, path_in_repository(loaded.path, repository.root)) == loaded.data:
            answers = _at(repository, base, TaskName(contract.workflow, contract.task))
            return answers if answers and is_of(loaded, answers.transcript) else None
    return None


def as_asked(root: dict[str | int, object], transcript: Transcript) -> dict[str | int, object]:
    """Give a contract as it was before the answers were put in."""
    rules = root.get("rules")
    known = dict(rules) if isinstance(rules, dict) else {}
    for name in transcript.answers:
        rule = known.get(name)
        if isinstance(rule, dict):
            known[name] = {key: value for key, value in rule.items() if key != "expression"}
    return {**root, "rules": known}


def is_of(loaded: LoadedContract, transcript: Transcript) -> bool:
    """Say whether a contract's expressions are the answers of a transcript to this contract."""
    contract = loaded.contract
    if not isinstance(contract, Contract) or loaded.source.root is None:
        return False
    if transcript.draft is not None:
        return not transcript.answers and loaded.data == transcript.draft.text.encode()
    has = {name: text for name, (_, text) in answered_prose(contract).items()}
    same = all(has.get(name) == text for name, text in transcript.expressions.items())
    return (
        bool(transcript.answers)
        and same
        and asked_digest(as_asked(loaded.source.root, transcript)) == transcript.asked
    )


def is_signed(answers: Answers, signers: Sequence[str]) -> bool:
    """Say whether one of the bot's keys signed the transcript's digest."""
    return is_signed_by(answers.signature, answers.transcript.digest, signers)


def is_signed_by(signature: str, digest: str, signers: Sequence[str]) -> bool:
    """Say whether one of the bot's keys signed a digest."""
    keys = set()
    for line in signers:
        with suppress(ValueError):
            keys.add(parse_key(line))
    try:
        key = verify(signature, digest.encode(), NAMESPACE)
    except ApprovalRefused:
        return False
    return key in keys


def _known(source: Source, shop: Workshop) -> Answers | None:
    """Find the answers that this machine kept, or that the bot signed on the task's branch."""
    root = source.root or {}
    kept = shop.kept_answers / f"{asked_digest(root).removeprefix('sha256:')}.json"
    found = _read(kept)
    if found is not None and fits(root, found):
        return Answers(found, shop.sign(found.digest))
    with suppress(InputError):
        task = TaskName(str(root.get("workflow")), str(root.get("task")))
        for place in (f"refs/heads/{task.branch}", f"refs/remotes/origin/{task.branch}"):
            commit = shop.repository.commit_of(place)
            there = _at(shop.repository, commit, task) if commit else None
            if there and fits(root, there.transcript) and is_signed(there, shop.signers):
                return there
    return None


def _asked(source: Source, shop: Workshop) -> Answers:
    if shop.ask is None:
        raise InputError("no model is set up")
    transcript = shop.ask(source.root or {})
    name = f"{transcript.asked.removeprefix('sha256:')}.json"
    write_files(shop.kept_answers, {name: transcript.content})
    return Answers(transcript, shop.sign(transcript.digest))


def _at(repository: Repository, commit: str, task: TaskName) -> Answers | None:
    folder = f"artifacts/{task}"
    found = repository.read(commit, f"{folder}/{TRANSCRIPT}")
    signature = repository.read(commit, f"{folder}/{SIGNATURE}") or b""
    try:
        return Answers(read_transcript(found), signature.decode("ascii")) if found else None
    except (StratwrightError, UnicodeDecodeError):
        return None


def _read(path: Path) -> Transcript | None:
    try:
        return read_transcript(path.read_bytes()) if path.stat().st_size <= _MOST_BYTES else None
    except (OSError, InputError):
        return None
