"""Values to the files that one job hands to the next, and back, strictly.

Every job reads them as a stranger's: closed sets of fields, sizes limited, no path taken from them
without a check. The write job checks the content again; see docs/decisions.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.coder.port import Candidate
from bot.errors import InputError, WorldError
from bot.recording import outcomes_from_plain, outcomes_to_plain
from bot.written import write_files
from sandbox_runner.port import Outcome

MOST_BYTES = 512_000_000
_CASE = (
    *("version", "contract_path", "contract", "candles", "candidate"),
    *("correlation_id", "freqtrade"),
)
_CANDIDATE = ("files", "coder", "model", "prompt_hash")


@dataclass(frozen=True)
class Handover:
    """A candidate with all that the gates need to judge it.

    Attributes:
        contract_path: of the contract in the repository.
        contract: its bytes.
        candles: the files of the contract's data, by path.
        freqtrade: whether the Freqtrade file is to be proven and delivered.
    """

    contract_path: str
    contract: bytes
    candles: Mapping[str, bytes]
    candidate: Candidate
    correlation_id: str
    freqtrade: bool = False


def write_case(folder: Path, key: str, case: Handover) -> None:
    """Hand a candidate on."""
    values = {
        "version": 1,
        "contract_path": case.contract_path,
        "contract": _packed(case.contract),
        "candles": {path: _packed(data) for path, data in case.candles.items()},
        "candidate": {
            "files": dict(case.candidate.files),
            "coder": case.candidate.coder,
            "model": case.candidate.model,
            "prompt_hash": case.candidate.prompt_hash,
        },
        "correlation_id": case.correlation_id,
        "freqtrade": case.freqtrade,
    }
    write_files(folder, {f"case-{key}.json": json.dumps(values)})


def read_case(folder: Path, key: str) -> Handover:
    """Take a candidate over.

    Raises:
        WorldError: the job before did not deliver it.
        InputError: it is not of this form.
    """
    values = _read(folder / f"case-{key}.json", _CASE, "generate")
    try:
        given = _closed(values["candidate"], _CANDIDATE)
        files = _texts(given["files"])
        candidate = Candidate(files, *(_text(given[name]) for name in _CANDIDATE[1:]))
        return Handover(
            _text(values["contract_path"]),
            _unpacked(values["contract"]),
            {path: _unpacked(data) for path, data in _texts(values["candles"]).items()},
            candidate,
            _text(values["correlation_id"]),
            _truth(values["freqtrade"]),
        )
    except (ValueError, TypeError) as error:
        raise _malformed(f"case-{key}.json", error) from None


def has_case(folder: Path, key: str) -> bool:
    """Whether the job before handed a candidate on, or found nothing to do."""
    return (folder / f"case-{key}.json").exists()


def has_outcomes(folder: Path, key: str) -> bool:
    """Whether the job that runs code handed on what the sandbox answered."""
    return (folder / f"gates-{key}.json").exists()


def write_outcomes(folder: Path, key: str, outcomes: Mapping[str, Outcome]) -> None:
    """Hand on what the sandbox answered."""
    values = {"version": 1, "outcomes": outcomes_to_plain(outcomes)}
    write_files(folder, {f"gates-{key}.json": json.dumps(values)})


def read_outcomes(folder: Path, key: str) -> dict[str, Outcome]:
    """Take over what the sandbox answered."""
    values = _read(folder / f"gates-{key}.json", ("version", "outcomes"), "gates")
    try:
        return outcomes_from_plain(values["outcomes"])
    except ValueError as error:
        raise _malformed(f"gates-{key}.json", error) from None


def _read(path: Path, fields: tuple[str, ...], job: str) -> dict[str, Any]:
    try:
        if path.is_symlink() or path.stat().st_size > MOST_BYTES:
            raise _malformed(path.name, ValueError("it is a link or too large"))
        values = _closed(json.loads(path.read_bytes()), fields)
        if values["version"] != 1:
            raise ValueError("its version is not 1")
        return values
    except FileNotFoundError:
        message = f"the {job} job did not deliver {path.name}"
        raise WorldError(message, f"See the log of the {job} job, then run it all again.") from None
    except (ValueError, RecursionError) as error:
        raise _malformed(path.name, error) from None


def _malformed(name: str, error: Exception) -> InputError:
    message = f"{name} is not what the job before writes: {error}"
    return InputError(message, "Run the whole workflow again.")


def _closed(value: object, fields: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(fields):
        raise ValueError(f"an object with {', '.join(fields)} was expected")
    return value


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise ValueError("an object of texts was expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false was expected")
    return value


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _unpacked(text: object) -> bytes:
    return base64.b64decode(_text(text), validate=True)
