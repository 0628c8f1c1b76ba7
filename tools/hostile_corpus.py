"""Runs a corpus of hostile and benign strategies through the layers and prints who stopped what.

    python -m tools.hostile_corpus FOLDER [--sandbox namespace] [--without-static]

FOLDER holds `manifest.json`: `hostile` and `benign`, lists of `file`, `file_class` and, for the
hostile ones, `expected_layer` (`static`, `sandbox`, `gate:NAME`). What the static gate lets through
stands in as the candidate of a small contract, and runs in the sandbox and nowhere else. The exit
code is 1 if a hostile file is stopped later than its manifest says or a benign one is refused by
the static gate. `--without-static` shows what the other layers do with files that it refuses.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.coder.template import TemplateCoder
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.gates.examination import Examination, judge_trial
from bot.gates.port import Case
from bot.gates.static.check import check_bytes
from bot.market_data import MarketData, read_market_data
from bot.trial import Limits, run_trial
from bot.workshop import opened_sandbox
from sandbox_runner.jobs import TOOLS
from sandbox_runner.port import Job, Outcome, Sandbox

CANDLES = Path("tests/fixtures/sample_btc.csv")
BARS = 300
LIMITS = Limits(time_s=15.0, memory_mb=1024)
CONTRACT = """\
version: "1.0"
workflow: corpus
task: strategy
kind: strategy
name: CorpusCase
market: {symbols: [BTC/USDT], timeframe: 1h}
data: {source: csv, path: candles.csv}
indicators:
  rsi: {function: RSI, timeperiod: 5}
rules:
  enter_long: rsi < 30
  exit_long: rsi > 60
risk: {stop_loss: 0.02}
targets: [adapter]
"""
_NOT_ASKED = Outcome(0, False, False, b"", b"", False, {}, {}, 0.0)
_LIMIT_WORDS = ("limit", "without an answer", "MemoryError", "no decisions", "Permission")


@dataclass(frozen=True)
class Behaviour:
    """A sandbox that is asked about behaviour only, not for linters."""

    inner: Sandbox

    @property
    def name(self) -> str:
        """The real one's."""
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        """Run what is no linter."""
        tool = job.command[2].rpartition(".")[2]
        return _NOT_ASKED if tool in (*TOOLS, "type_check") else self.inner.run(job)


@dataclass(frozen=True)
class Row:
    """What became of a file."""

    file: str
    expected: str
    stopped_by: tuple[str, ...]
    reason: str

    @property
    def in_time(self) -> bool:
        """Whether the layer that was expected, or an earlier one, stopped it."""
        if self.stopped_by[:1] == ("static",):
            return True
        if self.expected == "static":
            return False
        if self.expected == "sandbox":
            return bool(self.stopped_by)
        gate = self.expected.removeprefix("gate:")
        # What a report says is computed outside: the forger's own decisions are what is judged.
        return {"report-integrity": "pytest"}.get(gate, gate) in self.stopped_by


class Bench:
    """One contract, its candles and a sandbox."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        lines = CANDLES.read_text("utf-8").splitlines(keepends=True)
        (folder / "candles.csv").write_text("".join(lines[: BARS + 1]), "utf-8")
        (folder / "contract.yaml").write_text(CONTRACT, "utf-8")
        self.contract: Contract = load_contract(folder / "contract.yaml").strategy
        self.program = compile_contract(self.contract)
        self.data: MarketData = read_market_data(self.contract, folder)
        self.files = TemplateCoder().write(self.contract, "contract.yaml").contents
        self.strategy = f"Backtest/codes/{self.contract.file_stem}.py"
        self.sandbox = Behaviour(sandbox)

    def examine(self, source: bytes) -> Examination:
        """Let the gates on behaviour judge a file in the strategy's place."""
        files = {**self.files, self.strategy: source}
        trial = run_trial(
            self.contract, self.program, files, self.data, self.sandbox, limits=LIMITS
        )
        case = Case(files, frozenset(files))
        name = "corr_000000000000"
        return judge_trial(self.contract, self.program, case, self.data, name, (), trial)

    def row(self, entry: dict[str, Any], source: bytes, *, static: bool) -> Row:
        """What stops a hostile file first, and what else would."""
        offences = check_bytes(source, entry["file_class"]) if static else ()
        if offences:
            words = f"line {offences[0].line}: {offences[0].name}: {offences[0].why}"
            return Row(entry["file"], entry["expected_layer"], ("static",), words)
        found = self.examine(source)
        refused = [v for v in found.verdicts if not v.passed and v.name not in TOOLS]
        stopped = tuple(verdict.name for verdict in refused)
        reason = refused[0].reason if refused else ""
        if any(word in verdict.reason for verdict in refused for word in _LIMIT_WORDS):
            stopped = ("sandbox", *stopped)
        return Row(entry["file"], entry["expected_layer"], stopped, reason)


def hostile_rows(bench: Bench, folder: Path, *, static: bool) -> Iterable[Row]:
    """One row for every hostile file of a corpus."""
    for entry in json.loads((folder / "manifest.json").read_text("utf-8"))["hostile"]:
        yield bench.row(entry, (folder / entry["file"]).read_bytes(), static=static)


def refused_benign(folder: Path) -> list[str]:
    """The benign files that the static gate refuses."""
    listed = json.loads((folder / "manifest.json").read_text("utf-8"))["benign"]
    return [
        entry["file"]
        for entry in listed
        if check_bytes((folder / entry["file"]).read_bytes(), entry["file_class"])
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a file gets further than it may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sandbox", default="auto")
    parser.add_argument("--without-static", action="store_true")
    options = parser.parse_args(arguments)
    late = 0
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), opened_sandbox(options.sandbox))
        if not bench.examine(bench.files[bench.strategy]).judgement:
            raise SystemExit("the honest candidate was stopped: nothing can be learned here")
        rows = hostile_rows(bench, options.folder, static=not options.without_static)
        for row in rows:
            shown = replace(row, stopped_by=row.stopped_by or ("nobody",))
            late += not row.in_time
            mark = "  " if row.in_time else "! "
            words = f"{', '.join(shown.stopped_by)}: {row.reason}"
            print(f"{mark}{row.file:<52} {row.expected:<22} {words[:110]}", flush=True)
    refused = refused_benign(options.folder)
    for file in refused:
        print(f"! {file}: benign, refused by the static gate")
    print(f"{late} hostile files came too far, {len(refused)} benign ones were refused")
    return 1 if late or refused else 0


if __name__ == "__main__":
    sys.exit(main())
