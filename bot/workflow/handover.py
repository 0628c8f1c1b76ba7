"""Turns values into the files that one job hands to the next, and back, strictly.

The job that wrote a file tells its digest to GitHub as an output; the next one gets the digest from
there and refuses every other file before it parses it. Then it is read as a stranger's: closed sets
of fields, sizes limited, no path taken from it without a check. Nothing in a file says who wrote
it, what is delivered or under which name: the write job computes that; see docs/decisions.
"""

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bot.coder.port import Candidate
from bot.errors import InputError, SafetyStop, WorldError
from bot.files import write_files
from sandbox_runner.port import Outcome
from sandbox_runner.recording import outcomes_from_plain, outcomes_to_plain

MOST_BYTES = 512_000_000
MOST_ROUNDS = 10
TAMPERED = "Run the whole workflow again; if it stays so, somebody tampered with the artifacts."
_CASE = ("version", "contract_path", "contract", "candles", "candidate", "refused", "talk")
_TALK = ("transcript", "signature", "model", "cost", "error", "hint", "exit_code", "once")
_MOST_COST = 10**12
_CANDIDATE = ("files", "coder", "model", "prompt_hash")


@dataclass(frozen=True)
class Talk:
    """What the job with the model's key was told, and what it paid: the next jobs ask nobody.

    Attributes:
        transcript: everything that was sent and received; empty where nothing came of it.
        cost: in millionths of a US dollar; 0 where the answers were known.
        error, hint, exit_code: what stopped it; empty and 0 where it was answered.
        once: is in no other talk, so two that end alike are two files and are booked twice.
    """

    transcript: str = ""
    signature: str = ""
    model: str = ""
    cost: int = 0
    error: str = ""
    hint: str = ""
    exit_code: int = 0
    once: str = field(default_factory=lambda: secrets.token_hex(16), compare=False)


@dataclass(frozen=True)
class Handover:
    """A candidate with all that the gates need to judge it."""

    contract_path: str  # of the contract in the repository
    contract: bytes  # its bytes
    candles: Mapping[str, bytes]  # the files of the contract's data, by path
    candidate: Candidate
    refused: tuple[Candidate, ...] = ()  # the candidates of earlier rounds
    talk: Talk | None = None  # where a model said what the contract's prose means

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Gives the candidates of all rounds."""
        return (*self.refused, self.candidate)


@dataclass(frozen=True)
class Answers:
    """What the sandbox answered, and the versions of what asked and ran there."""

    outcomes: Mapping[str, Outcome]
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Digests:
    """The digests of the files that were handed on for one key; empty where there is none."""

    case: str = ""
    answers: str = ""


NOTHING = Digests()


def case_path(folder: Path, key: str) -> Path:
    """Where the job that writes code leaves a candidate."""
    return folder / "case" / f"{key}.json"


def answers_path(folder: Path, key: str) -> Path:
    """Where the job that runs code leaves what the sandbox answered."""
    return folder / "gates" / f"{key}.json"


def handed_text(digests: Mapping[str, str]) -> str:
    """Digests by key as an output of a job says them."""
    return ",".join(f"{key}:{digest}" for key, digest in digests.items())


def read_handed(text: str) -> dict[str, str]:
    """The digests that a job told, by key.

    Raises:
        InputError: this is not their form.
    """
    parts = text.split(",") if text else []
    if not all(re.fullmatch("[0-9a-f]{12}:[0-9a-f]{64}", part, re.ASCII) for part in parts):
        raise InputError("digests are written as key:sha256, separated by commas")
    return {part[:12]: part[13:] for part in parts}


def write_case(folder: Path, key: str, case: Handover) -> str:
    """Hand a candidate on; gives the file's digest."""
    values = {
        "version": 1,
        "contract_path": case.contract_path,
        "contract": _packed(case.contract),
        "candles": {path: _packed(data) for path, data in case.candles.items()},
        "candidate": _plain(case.candidate),
        "refused": [_plain(candidate) for candidate in case.refused],
        "talk": asdict(case.talk) if case.talk else None,
    }
    return _write(case_path(folder, key), values)


def write_talk(folder: Path, key: str, talk: Talk) -> str:
    """Hand on what a model was asked, where no candidate came of it; gives the file's digest."""
    return _write(case_path(folder, key), {"version": 1, "talk": asdict(talk)})


def read_talk(folder: Path, key: str, digest: str) -> tuple[Talk | None, bool]:
    """Take over what a model was told, and whether a candidate came of it.

    Raises:
        WorldError, SafetyStop, InputError: as `read_case`.
    """
    path = case_path(folder, key)
    values = _read(path, digest, (_CASE, ("version", "talk")), "generate")
    try:
        return _talk(values["talk"]), "candidate" in values
    except (ValueError, TypeError) as error:
        raise _malformed(path, error) from None


def read_case(folder: Path, key: str, digest: str) -> Handover:
    """Take a candidate over.

    Raises:
        WorldError: the job before did not deliver it.
        SafetyStop: it is not the file that the job before wrote.
        InputError: it is not of this form.
    """
    path = case_path(folder, key)
    values = _read(path, digest, (_CASE,), "generate")
    try:
        if not isinstance(values["refused"], list) or len(values["refused"]) > MOST_ROUNDS:
            raise ValueError("a short list of candidates was expected")
        return Handover(
            _text(values["contract_path"]),
            _unpacked(values["contract"]),
            {path: _unpacked(data) for path, data in _texts(values["candles"]).items()},
            _candidate(values["candidate"]),
            tuple(map(_candidate, values["refused"])),
            _talk(values["talk"]),
        )
    except (ValueError, TypeError) as error:
        raise _malformed(path, error) from None


def write_answers(folder: Path, key: str, answers: Answers) -> str:
    """Hand on what the sandbox answered; gives the file's digest."""
    outcomes = outcomes_to_plain(answers.outcomes)
    values = {"version": 1, "versions": dict(answers.versions), "outcomes": outcomes}
    return _write(answers_path(folder, key), values)


def read_answers(folder: Path, key: str, digest: str) -> Answers:
    """Take over what the sandbox answered.

    Raises:
        WorldError: the job before did not deliver it.
        SafetyStop: it is not the file that the job before wrote.
        InputError: it is not of this form.
    """
    path = answers_path(folder, key)
    values = _read(path, digest, (("version", "versions", "outcomes"),), "gates")
    try:
        return Answers(outcomes_from_plain(values["outcomes"]), _texts(values["versions"]))
    except ValueError as error:
        raise _malformed(path, error) from None


def _write(path: Path, values: Mapping[str, Any]) -> str:
    data = json.dumps(values).encode()
    write_files(path.parent, {path.name: data})
    return hashlib.sha256(data).hexdigest()


def _read(path: Path, digest: str, forms: tuple[tuple[str, ...], ...], job: str) -> dict[str, Any]:
    name = f"{path.parent.name}/{path.name}"
    if not digest:
        message = f"the {job} job told no digest of {name}: it did not deliver it"
        raise WorldError(message, f"See the log of the {job} job, then run it all again.")
    try:
        if path.is_symlink() or path.stat().st_size > MOST_BYTES:
            raise _malformed(path, ValueError("it is a link or too large"))
        data = path.read_bytes()
    except FileNotFoundError:
        message = f"the {job} job did not deliver {name}"
        raise WorldError(message, f"See the log of the {job} job, then run it all again.") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise SafetyStop(
            f"{name} is not the file that the {job} job wrote: its digest is another",
            TAMPERED,
        )
    try:
        values = _closed(json.loads(data), *forms)
        if values["version"] != 1:
            raise ValueError("its version is not 1")
        return values
    except (ValueError, RecursionError) as error:
        raise _malformed(path, error) from None


def _malformed(path: Path, error: Exception) -> InputError:
    message = f"{path.parent.name}/{path.name} is not what the job before writes: {error}"
    return InputError(message, "Run the whole workflow again.")


def _closed(value: object, *forms: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) not in map(set, forms):
        raise ValueError(f"an object with {', '.join(forms[0])} was expected")
    return value


def _talk(value: object) -> Talk | None:
    if value is None:
        return None
    given = _closed(value, _TALK)
    numbers = (given["cost"], given["exit_code"])
    if any(type(number) is not int or not 0 <= number <= _MOST_COST for number in numbers):
        raise ValueError("a count was expected")
    texts = {name: _text(given[name]) for name in _TALK if name not in ("cost", "exit_code")}
    return Talk(**texts, cost=numbers[0], exit_code=numbers[1])


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ValueError("an object of texts was expected")
    return value


def _plain(candidate: Candidate) -> dict[str, object]:
    return {name: getattr(candidate, name) for name in _CANDIDATE}


def _candidate(value: object) -> Candidate:
    given = _closed(value, _CANDIDATE)
    return Candidate(_texts(given["files"]), *(_text(given[name]) for name in _CANDIDATE[1:]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _unpacked(text: object) -> bytes:
    return base64.b64decode(_text(text), validate=True)
