"""Hold a corpus of contracts to one meaning: adapter file, Freqtrade file, evaluator, bar by bar.

`python -m tools.corpus [CONTRACT...]` generates both targets of every contract, lets the adapter
file and real Freqtrade signal on three synthetic markets of 5,000 bars and on S&P 500 prices,
compares Freqtrade's back-test with the `freqtrade` fill profile, and prints a table of what
differs. Exit code 1 if anything does.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapters.testing import market
from bot.coder.template import freqtrade_text, strategy_text
from bot.contract.evaluator import evaluate
from bot.contract.language import Program
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.freqtrade_parity import Expectation, differing_trade
from bot.freqtrade_place import VARIABLE, find_freqtrade
from bot.targets import decide_delivery

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "corpus"
BARS = 5000
SEEDS = (11, 12, 13)


@dataclass(frozen=True)
class Row:
    """What one contract does on one market."""

    contract: str
    market: str
    bars: int
    signals: int
    adapter: int
    freqtrade: int
    trades: int
    difference: str

    @property
    def same(self) -> bool:
        """Whether all three agree."""
        return not (self.adapter or self.freqtrade or self.difference)


def markets(bars: int = BARS) -> dict[str, pd.DataFrame]:
    """Three synthetic markets, and the real prices of the S&P 500 at made-up hours."""
    frames = {f"synthetic {seed}": market(bars, seed) for seed in SEEDS}
    real = pd.read_csv(ROOT / "tests" / "fixtures" / "sp500_daily.csv")
    hours = pd.date_range("2000-01-01", periods=len(real), freq="h", tz="UTC")
    # Put an hour apart, day after day, so that one timeframe serves all markets of the corpus.
    return {**frames, "S&P 500": real.assign(timestamp=hours)}


def compare(paths: list[Path], frames: dict[str, pd.DataFrame]) -> list[Row]:
    """Every contract on every market."""
    cases: list[tuple[Contract, Program, str, Expectation]] = []
    requests: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            contract = load_contract(path).strategy
            decide_delivery(contract, find_freqtrade(), strict=True)
            program = compile_contract(contract)
            place = Path(folder) / contract.name
            place.mkdir()
            text = freqtrade_text(contract, program, path.name)
            (place / f"{contract.name}.py").write_text(text, "utf-8")
            for name, frame in frames.items():
                case = Expectation(contract, program, {contract.market.symbols[0]: frame})
                cases.append((contract, program, name, case))
                requests.append(case.request(str(place)))
        answers = _ask(requests, Path(folder))
    return [
        _row(contract, program, name, case, frames[name], answer)
        for (contract, program, name, case), answer in zip(cases, answers, strict=True)
    ]


def _ask(requests: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    named = os.environ.get(VARIABLE)
    python = str(Path(named) / "bin" / "python") if named else sys.executable
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(requests), "utf-8")
    harness = ROOT / "sandbox_runner" / "freqtrade_harness.py"
    subprocess.run([python, str(harness), str(question), str(answer)], check=True)
    answers: list[dict[str, Any]] = json.loads(answer.read_text("utf-8"))
    return answers


def _row(
    contract: Contract,
    program: Program,
    name: str,
    case: Expectation,
    frame: pd.DataFrame,
    answer: dict[str, Any],
) -> Row:
    expected, found = case.signals(), answer["signals"]
    odd: set[int] = set()
    for pair, signals in expected.items():
        for rule, bars in signals.items():
            odd |= set(bars) ^ set(found[pair].get(rule, []))
    return Row(
        contract.name,
        name,
        len(frame),
        sum(len(bars) for signals in expected.values() for bars in signals.values()),
        adapter_mismatches(contract, program, frame),
        len(odd),
        len(answer["trades"]),
        differing_trade(answer["trades"], case.trades()),
    )


def adapter_mismatches(contract: Contract, program: Program, frame: pd.DataFrame) -> int:
    """Bars at which the adapter file's rules are not the evaluator's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{contract.file_stem}.py"
        path.write_text(strategy_text(contract, program, path.name), "utf-8")
        spec = importlib.util.spec_from_file_location(contract.file_stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(path.name)
        module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    prepared = module.Strategy({}).prepare_indicators(frame)
    expected = evaluate(program, frame)
    odd = np.zeros(len(frame), dtype=np.bool_)
    for rule in program.rules:
        odd |= prepared[rule].to_numpy(dtype=np.bool_) != expected[rule]
    return int(odd.sum())


def table(rows: list[Row]) -> str:
    """The rows for people."""
    lines = [
        f"{'contract':<20}{'market':<15}{'bars':>6}{'signals':>9}{'adapter':>9}"
        f"{'freqtrade':>11}{'trades':>8}  difference"
    ]
    lines += [
        f"{row.contract:<20}{row.market:<15}{row.bars:>6}{row.signals:>9}{row.adapter:>9}"
        f"{row.freqtrade:>11}{row.trades:>8}  {row.difference}".rstrip()
        for row in rows
    ]
    wrong = sum(not row.same for row in rows)
    contracts = len({row.contract for row in rows})
    lines.append(f"{contracts} contracts, {len(rows)} markets, {wrong} with a difference")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    parser.add_argument("contracts", nargs="*", type=Path, help="default: tests/corpus")
    parser.add_argument("--bars", type=int, default=BARS, help="bars of a synthetic market")
    args = parser.parse_args(arguments)
    rows = compare(args.contracts or sorted(CORPUS.glob("*.yaml")), markets(args.bars))
    print(table(rows))
    return 0 if all(row.same for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
