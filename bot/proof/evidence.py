"""Turns a judged candidate into its evidence: every file of the proof, sealed by digests."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import metadata
from typing import Any

from adapters.orders import BrokerEvent
from Backtest.metrics.report_files import equity_csv, summary_json, trades_csv
from bot import __version__
from bot.coder.port import Candidate
from bot.gates.port import Verdict
from bot.proof.assignment import Assignment
from bot.proof.compact import MOST_EVENTS, MOST_TRADES, keep_all, keep_ends, keep_moments
from bot.proof.judge import Judgement
from bot.proof.product import product_digest

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:stratwright:evidence:1"
PROVENANCE = "provenance.json"
MOST_BYTES = 5_000_000
TOOLS = ("numpy", "pandas", "TA-Lib", "pytest", "mypy", "flake8", "bandit", "pydantic")


@dataclass(frozen=True)
class Evidence:
    """The proof of a candidate."""

    verdicts: tuple[Verdict, ...]  # what every gate said, in order
    files: Mapping[str, bytes]  # the evidence's files by name
    folder: str  # where they lie in the repository

    @property
    def passed(self) -> bool:
        """No verdicts means no."""
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def digest(self) -> str:
        """The digest of the statement that seals all the others."""
        return sha256(self.files[PROVENANCE])


def result_files(
    judgement: Judgement, correlation_id: str, *, whole: bool = False
) -> dict[str, bytes]:
    """Trades, equity, events and summary, from the trusted side's own broker.

    Of a long backtest only some rows are kept, for Git; `compact` in the summary says how many.
    With `whole`, all are.
    """
    trades, events = judgement.broker.get_trades(), judgement.broker.get_events()
    curve, summary = judgement.broker.get_equity_curve(), dict(judgement.summary)
    capital = summary["capital"]
    kept = {
        "trades.csv": keep_ends(len(trades), MOST_TRADES),
        "equity_curve.csv": keep_moments(curve, capital, trades),
        "events.log": keep_ends(len(events), MOST_EVENTS),
    }
    if whole:
        kept = {name: keep_all(rows.of) for name, rows in kept.items()}
    compact = {name: rows.counts for name, rows in kept.items() if not rows.is_whole}
    if compact:
        summary["compact"] = compact
    lines = [events[row] for row in kept["events.log"].rows]
    return {
        "trades.csv": trades_csv([trades[row] for row in kept["trades.csv"].rows]).encode(),
        "equity_curve.csv": equity_csv(curve, capital, kept["equity_curve.csv"].rows).encode(),
        "events.log": _event_lines(lines, correlation_id),
        "summary.json": summary_json(summary).encode(),
    }


def _event_lines(events: Sequence[BrokerEvent], correlation_id: str) -> bytes:
    lines = [
        json.dumps(
            {"timestamp": event["timestamp"], "correlation_id": correlation_id, **event},
            allow_nan=False,
        )
        for event in events
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def report_file(report: Mapping[str, Any]) -> bytes:
    """The test report without its clock, so that the same candidate gives the same bytes."""
    timeless = _without_times(report)
    return (json.dumps(timeless, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: 0.0 if key in ("created", "duration") else _without_times(item)
            for key, item in value.items()
        }
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def gates_file(verdicts: tuple[Verdict, ...], notes: tuple[str, ...] = ()) -> bytes:
    """What every gate said, and what the contract asked for and did not get."""
    content: dict[str, Any] = {
        "passed": bool(verdicts) and all(verdict.passed for verdict in verdicts),
        "gates": [verdict.to_dict() for verdict in verdicts],
    }
    if notes:
        content["notes"] = list(notes)
    return (json.dumps(content, indent=2, ensure_ascii=True) + "\n").encode()


def read_gates(content: bytes) -> tuple[Verdict, ...]:
    """Read the verdicts of a gates.json, to show what it says; nothing in it is believed.

    Raises:
        ValueError: it is not of the form that `gates_file` writes.
    """
    try:
        if len(content) > MOST_BYTES:
            raise ValueError("it is too large")
        gates = json.loads(content)["gates"]
        verdicts = tuple(Verdict(**gate) for gate in gates)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("gates.json is not of the form that stratwright writes") from None
    kinds = {field.name: bool if field.name == "passed" else str for field in fields(Verdict)}
    for verdict in verdicts:
        if any(type(getattr(verdict, name)) is not kind for name, kind in kinds.items()):
            raise ValueError("gates.json is not of the form that stratwright writes")
    return verdicts


def provenance_file(
    work: Assignment,
    candidate: Candidate,
    evidence: Mapping[str, bytes],
    versions: Mapping[str, str],
) -> bytes:
    """Write the in-toto statement over the strategy, its tests, the contract and all evidence."""
    origin = work.origin
    subjects = {origin.contract_path: origin.contract_bytes}
    subjects |= candidate.contents
    subjects |= {f"{work.folder}/{name}": content for name, content in evidence.items()}
    statement = {
        "_type": STATEMENT,
        "subject": [
            {"name": name, "digest": {"sha256": sha256(content).removeprefix("sha256:")}}
            for name, content in sorted(subjects.items())
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "correlation_id": origin.correlation_id,
            "contract": {"path": origin.contract_path, "digest": origin.contract_digest},
            "data": {"files": list(work.data.files), "digest": work.data.digest},
            "coder": candidate.coder,
            "model": candidate.model,
            "prompt_hash": candidate.prompt_hash,
            "product": {
                "name": "stratwright",
                "version": __version__,
                "digest": product_digest(),
            },
            "versions": dict(versions),
        },
    }
    return (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()


def makers(statement: bytes) -> dict[str, str]:
    """What a statement says that it was made with: the product's digest and every version.

    A stranger may have written the statement: what is not of its form is left out.
    """
    try:
        predicate = json.loads(statement)["predicate"]
        named = {**predicate["versions"], "product": predicate["product"]["digest"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return {key: text for key, text in named.items() if isinstance(text, str)}


def tool_versions(freqtrade: str = "") -> dict[str, str]:
    """What made and judged the candidate; `freqtrade` is its version where it was used."""
    versions = {"stratwright": __version__, "python": platform.python_version()}
    for name in TOOLS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions | ({"freqtrade": freqtrade} if freqtrade else {})


def sha256(content: bytes) -> str:
    """`sha256:` and the digest."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
