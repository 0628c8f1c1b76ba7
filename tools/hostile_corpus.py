"""Runs a corpus of hostile and benign strategies through the layers and prints who stopped what.

    python -m tools.hostile_corpus FOLDER [--sandbox namespace] [--without-static]

FOLDER holds `manifest.json`: `hostile` and `benign`, lists of `file`, `file_class` and, for the
hostile ones, `expected_layer` (`static`, `sandbox`, `gate:NAME`). What the static gate lets through
stands in as the candidate of a small contract, and runs in the sandbox and nowhere else, on frames
of several forms until the expected gate speaks. A gate counts only by its own reason: a crash, or
decisions that are not the contract's, is no look-ahead found. The exit code is 1 if a hostile file
is stopped later than its manifest says or a benign one is refused by the static gate.
`--without-static` shows what the other layers do with files that it refuses.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from adapters.loop.views import CandleView
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData, read_market_data
from bot.gates.port import Case
from bot.gates.static.static_check import check_bytes
from bot.proof.assignment import Origin, assign
from bot.proof.edges import Prover
from bot.proof.examination import Examination, judge_trial
from bot.proof.trial import run_trial
from bot.workshop import opened_sandbox
from sandbox_runner.jobs import TOOLS
from sandbox_runner.port import Job, Limits, Outcome, Sandbox

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
BARS = 1200  # warm-ups of 200 bars are common
GAPS = (slice(300, 331), slice(777, 778), slice(900, 906))  # candles that are missing
# What should never end is ended soon; what is judged by its answers may take its time.
SOON = Limits(time_s=15.0, memory_mb=1024)
LIMITS = Limits(time_s=120.0, memory_mb=1024)
CONTRACT = """\
version: "1.0"
workflow: corpus
task: strategy
kind: strategy
name: CorpusCase
market: {symbols: [BTC/USDT], timeframe: 1h}
data: {source: csv, path: "{symbol}.csv"}
indicators:
  rsi: {function: RSI, timeperiod: 5}
rules:
  enter_long: rsi < 30
  exit_long: rsi > 60
risk: {stop_loss: 0.02}
targets: [adapter]
"""
# What a strategy file of any kind can do; the decisions are judged by the trusted side.
TESTS = b"""\
from adapters.testing import load_strategy, market

STRATEGY = load_strategy("corpus_case")


def test_it_can_be_asked():
    strategy = STRATEGY.Strategy({"symbol": "BTC/USDT"})
    assert hasattr(strategy, "find_entries")
"""
_NOT_ASKED = Outcome(0, False, False, b"", b"", False, {}, {}, 0.0)
JUDGES = ("pytest", "determinism", "lookahead")  # the others follow from these or from the contract


@dataclass(frozen=True)
class Behaviour:
    """A sandbox that is asked about behaviour only, not for linters."""

    inner: Sandbox
    tests: bool = True

    @property
    def name(self) -> str:
        """The real one's."""
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        """Run what is no linter."""
        tool = job.command[2].rpartition(".")[2]
        unasked = (*TOOLS, "type_check") if self.tests else (*TOOLS, "type_check", "pytest")
        return _NOT_ASKED if tool in unasked else self.inner.run(job)


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
        return gate_of(self.expected) in self.stopped_by


def gate_of(expected: str) -> str:
    """The gate that a manifest means."""
    gate = expected.removeprefix("gate:")
    # What a report says is computed outside: the forger's own decisions are what is judged.
    return "pytest" if gate == "report-integrity" else gate


@dataclass(frozen=True)
class Dressed(MarketData):
    """Candles in a form that strategies of other houses expect."""

    zone: str | None = "UTC"

    @cached_property
    def frames(self) -> Mapping[str, pd.DataFrame]:
        """The frames with their times as index, and as columns under both usual names."""
        return {symbol: self._dressed(symbol) for symbol in self.candles}

    def _dressed(self, symbol: str) -> pd.DataFrame:
        frame = CandleView(self.candles[symbol]).to_pandas()
        times = pd.DatetimeIndex(frame["timestamp"]).tz_convert(self.zone)
        return frame.assign(date=times, symbol=symbol).set_axis(times)


class Market:
    """A contract, its candles in one form, and what the template writes for it."""

    def __init__(self, folder: Path, text: str, dress: Callable[[MarketData], MarketData]) -> None:
        (folder / "contract.yaml").write_text(text, "utf-8")
        self.contract: Contract = load_contract(folder / "contract.yaml").strategy
        data = dress(read_market_data(self.contract, folder))
        self.work = assign(
            self.contract, data, Origin("corr_000000000000", "contract.yaml", "", b"")
        )
        written = TemplateCoder().write(self.contract, "contract.yaml").contents
        self.strategy = f"Backtest/codes/{self.contract.file_stem}.py"
        self.tests = f"tests/test_{self.contract.file_stem}.py"
        self.files = {**written, self.tests: TESTS}


def markets(folder: Path) -> Iterable[Market]:
    """The product's own frames first, then those that strategies of other houses expect."""
    for name in ("BTC", "ETH"):
        source = FIXTURES / f"sample_{name.lower()}.csv"
        _write(folder / f"{name}_USDT.csv", source, GAPS)
    yield Market(folder, CONTRACT, lambda data: data)
    yield Market(folder, CONTRACT, lambda data: Dressed(**vars(data)))
    yield Market(folder, CONTRACT, lambda data: Dressed(**vars(data), zone=None))
    both = CONTRACT.replace("[BTC/USDT]", "[BTC/USDT, ETH/USDT]")
    yield Market(folder, both, lambda data: Dressed(**vars(data)))
    _write(folder / "BTC_USDT.csv", FIXTURES / "sp500_daily.csv", ())
    daily = CONTRACT.replace("timeframe: 1h", "timeframe: 1d")
    yield Market(folder, daily, lambda data: Dressed(**vars(data)))


def _write(path: Path, source: Path, gaps: Iterable[slice]) -> None:
    head, *lines = source.read_text("utf-8").splitlines(keepends=True)
    lines = lines[:BARS]
    for gap in reversed(list(gaps)):
        del lines[gap]
    path.write_text("".join([head, *lines]), "utf-8")


class Bench:
    """Markets and a sandbox."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.markets = tuple(markets(folder))
        self.sandbox = sandbox

    def examine(
        self, source: bytes | None, market: Market, tests: bool = True, limits: Limits = LIMITS
    ) -> tuple[Examination, bool]:
        """Let the gates on behaviour judge a file in the strategy's place.

        Args:
            source: the file; None for the template's own.
            market: where it trades.
            tests: whether pytest is asked as well.
            limits: what each job may use.

        Returns:
            What the gates said, and whether a limit of the sandbox was reached.
        """
        files = market.files if source is None else {**market.files, market.strategy: source}
        sandbox = Behaviour(self.sandbox, tests)
        trial = run_trial(market.work, files, Prover(sandbox, limits=limits))
        found = judge_trial(market.work, Case(files, frozenset(files)), (), trial)
        outcomes = (trial.tests, *(talk.outcome for talk in (trial.whole, trial.again, trial.cuts)))
        return found, any(out.exit_code is None for out in outcomes)

    def row(self, entry: dict[str, Any], source: bytes, *, static: bool) -> Row:
        """What stops a hostile file first, and what else would."""
        offences = check_bytes(source, entry["file_class"]) if static else ()
        if offences:
            words = f"line {offences[0].line}: {offences[0].name}: {offences[0].why}"
            return Row(entry["file"], entry["expected_layer"], ("static",), words)
        for market in self.markets:
            row = self._judged(entry, source, market)
            if row.in_time:
                break
        return row

    def _judged(self, entry: dict[str, Any], source: bytes, market: Market) -> Row:
        asked = gate_of(entry["expected_layer"])
        limits = LIMITS if asked in JUDGES else SOON
        found, limited = self.examine(source, market, asked not in JUDGES[1:], limits)
        refused = [v for v in found.verdicts if v.name in JUDGES and not v.passed]
        own = [verdict for verdict in refused if verdict.cause == "found"]
        wanted = [verdict for verdict in own if verdict.name == gate_of(entry["expected_layer"])]
        reason = next((verdict.reason for verdict in (*wanted, *own, *refused)), "")
        stopped = (*(["sandbox"] if limited else []), *(verdict.name for verdict in own))
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
        for market in bench.markets:
            honest, _ = bench.examine(None, market)
            refused = [v for v in honest.verdicts if v.name in JUDGES and not v.passed]
            if refused:
                raise SystemExit(f"the honest candidate was stopped: {refused[0].reason}")
        rows = hostile_rows(bench, options.folder, static=not options.without_static)
        for row in rows:
            shown = replace(row, stopped_by=row.stopped_by or ("nobody",))
            late += not row.in_time
            mark = "  " if row.in_time else "! "
            words = f"{', '.join(shown.stopped_by)}: {row.reason}"
            print(f"{mark}{row.file:<52} {row.expected:<22} {words[:110]}", flush=True)
    benign = refused_benign(options.folder)
    for file in benign:
        print(f"! {file}: benign, refused by the static gate")
    print(f"{late} hostile files came too far, {len(benign)} benign ones were refused")
    return 1 if late or benign else 0


if __name__ == "__main__":
    sys.exit(main())
