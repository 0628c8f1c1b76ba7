"""Hold a corpus of contracts to one meaning: adapter file, Freqtrade file, evaluator, bar by bar.

`python -m tools.corpus [CONTRACT...]` generates both targets of every contract, lets the adapter
file and real Freqtrade signal on three synthetic markets of 5,000 bars and on S&P 500 prices,
compares Freqtrade's back-test with the `freqtrade` fill profile, lets every gate judge the
candidate in the sandbox, tries its tests on every mutant of its strategy, and prints tables of
what differs. Exit code 1 if anything does, or if the tests of a contract fail the mutation gate.
"""

import argparse
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bot.coder.template.template_coder import TemplateCoder, freqtrade_text, strategy_text
from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import Program, compile_contract
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.gates.freqtrade.installation import find_freqtrade
from bot.gates.freqtrade.parity import Expectation, differing_trade
from bot.gates.mutation.mutation_gate import Mutation
from bot.proof.targets import decide_targets
from tools.corpus_markets import BARS, markets
from tools.freqtrade_answers import ask_freqtrade

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus"
GATE_BARS = 1500
# Importing Freqtrade takes as long as four of its back-tests.
_HANDFUL = 7

Frames = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Row:
    """What one contract does on one market.

    Attributes:
        adapter: bars at which the adapter file differs from the contract.
        freqtrade: bars at which Freqtrade's signals do.
        difference: of the first trade that differs.
    """

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


@dataclass(frozen=True)
class Subject:
    """A contract, its Program and its Freqtrade file's folder."""

    contract: Contract
    program: Program
    folder: Path


def compare(paths: list[Path], bars: int = BARS) -> Iterator[Row]:
    """Every contract on every market; one process of Freqtrade answers for a handful of them."""
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(paths), _HANDFUL):
            subjects = [_written(path, Path(folder)) for path in paths[first : first + _HANDFUL]]
            yield from _compared(subjects, Path(folder), bars)


def _compared(subjects: list[Subject], folder: Path, bars: int) -> Iterator[Row]:
    cases = [
        (subject, name, frames, Expectation(subject.contract, subject.program, frames))
        for subject in subjects
        for name, frames in markets(subject.contract, bars).items()
    ]
    requests = [case.request(str(subject.folder)) for subject, _, _, case in cases]
    answers = ask_freqtrade(requests, folder)
    for (subject, name, frames, case), answer in zip(cases, answers, strict=True):
        yield _row(subject, name, case, frames, answer)


def _written(path: Path, folder: Path) -> Subject:
    contract = load_contract(path).strategy
    decide_targets(contract, find_freqtrade(), strict=True)
    program = compile_contract(contract)
    place = folder / contract.name
    place.mkdir()
    text = freqtrade_text(contract, program, path.name)
    (place / f"{contract.name}.py").write_text(text, "utf-8")
    return Subject(contract, program, place)


def _row(
    subject: Subject, name: str, case: Expectation, frames: Frames, answer: dict[str, Any]
) -> Row:
    expected, found = case.signals(), answer["signals"]
    odd = {
        (pair, bar)
        for pair, signals in expected.items()
        for rule, bars in signals.items()
        for bar in set(bars) ^ set(found[pair].get(rule, []))
    }
    return Row(
        subject.contract.name,
        name,
        sum(map(len, frames.values())),
        sum(len(bars) for signals in expected.values() for bars in signals.values()),
        sum(adapter_mismatches(subject, frame) for frame in frames.values()),
        len(odd),
        len(answer["trades"]),
        differing_trade(answer["trades"], case.trades()),
    )


def adapter_mismatches(subject: Subject, frame: pd.DataFrame) -> int:
    """Bars at which the adapter file's rules are not the evaluator's."""
    path = subject.folder / f"{subject.contract.file_stem}_adapter.py"
    path.write_text(strategy_text(subject.contract, subject.program, path.name), "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(path.name)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.unlink()
    prepared = module.Strategy({}).prepare_indicators(frame)
    expected = evaluate(subject.program, frame)
    odd = np.zeros(len(frame), dtype=np.bool_)
    for rule in subject.program.rules:
        odd |= prepared[rule].to_numpy(dtype=np.bool_) != expected[rule]
    return int(odd.sum())


def judged(paths: list[Path]) -> Iterator[tuple[str, int, list[str]]]:
    """Every contract before every gate, in the sandbox: gates that passed, and what others say."""
    from bot.proof.assignment import Origin, assign
    from bot.proof.line import write_and_prove
    from bot.workshop import open_prover, say_on_terminal
    from tools.corpus_markets import market_data

    prover = open_prover("auto", say_on_terminal)
    for path in paths:
        contract = load_contract(path).strategy
        targets = decide_targets(contract, find_freqtrade(), strict=True)
        origin = Origin("corr_000000000000", path.name, "", b"")
        work = assign(contract, market_data(contract, GATE_BARS), origin, targets)
        *_, proven = write_and_prove(work, TemplateCoder(), prover)
        refused = [v for v in proven.verdicts if not v.passed]
        words = [f"{verdict.name}: {verdict.reason}" for verdict in refused]
        yield contract.name, len(proven.verdicts) - len(refused), words


def mutated(paths: list[Path]) -> Iterator[tuple[str, Mutation]]:
    """What each contract's own tests make of the mutants of its strategy."""
    from bot.gates.mutation.mutation_gate import try_mutants
    from bot.workshop import opened_sandbox

    sandbox = opened_sandbox("auto")
    for path in paths:
        contract = load_contract(path).strategy
        files = TemplateCoder().write(contract, path.name).contents
        yield contract.name, try_mutants(contract, files, sandbox)


HEAD = (
    f"{'contract':<20}{'market':<15}{'bars':>6}{'signals':>9}{'adapter':>9}"
    f"{'freqtrade':>11}{'trades':>8}  difference"
)


def line(row: Row) -> str:
    """A row for people."""
    return (
        f"{row.contract:<20}{row.market:<15}{row.bars:>6}{row.signals:>9}{row.adapter:>9}"
        f"{row.freqtrade:>11}{row.trades:>8}  {row.difference}".rstrip()
    )


def count(rows: list[Row]) -> str:
    """What the rows come to."""
    wrong = sum(not row.same for row in rows)
    contracts = len({row.contract for row in rows})
    bars, signals = sum(row.bars for row in rows), sum(row.signals for row in rows)
    trades = sum(row.trades for row in rows)
    return (
        f"{contracts} contracts on {len(rows) // max(1, contracts)} markets: {bars} bars, "
        f"{signals} signals, {trades} trades; {wrong} rows with a difference"
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the table as it comes."""
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    parser.add_argument("contracts", nargs="*", type=Path, help="default: tests/corpus")
    parser.add_argument("--bars", type=int, default=BARS, help="bars of a synthetic market")
    parser.add_argument("--no-gates", action="store_true", help="only compare signals and trades")
    parser.add_argument("--no-mutants", action="store_true", help="leave the mutants out")
    parser.add_argument("--only-mutants", action="store_true", help="nothing but the mutants")
    args = parser.parse_args(arguments)
    paths = args.contracts or sorted(CORPUS.glob("*.yaml"))
    if args.only_mutants:
        return 0 if show_mutants(paths) else 1
    print(HEAD)
    rows = []
    for row in compare(paths, args.bars):
        rows.append(row)
        print(line(row), flush=True)
    print(count(rows))
    well = all(row.same for row in rows)
    if args.no_gates:
        return 0 if well else 1
    print(f"\n{'contract':<20}{'gates passed':>13}  refused")
    for name, passed, refused in judged(paths):
        well = well and not refused
        print(f"{name:<20}{passed:>13}  {'; '.join(refused)}".rstrip(), flush=True)
    if args.no_mutants:
        return 0 if well else 1
    return 0 if show_mutants(paths) and well else 1


def show_mutants(paths: list[Path]) -> bool:
    """Print the score of each contract's tests and what survived; whether all is well."""
    counts = f"{'mutants':>8}{'killed':>8}{'argued':>8}{'undecided':>11}{'open':>6}"
    print(f"\n{'contract':<20}{counts}  survived")
    trials = []
    for name, mutation in mutated(paths):
        trials.append(mutation)
        print(
            f"{name:<20}{len(mutation.mutants):>8}{len(mutation.killed):>8}"
            f"{len(mutation.argued):>8}{len(mutation.undecided):>11}{len(mutation.open):>6}"
        )
        if mutation.broken:
            print(f"    {mutation.broken}")
        for mutant in mutation.survivors:
            print(f"    {mutant} ({mutation.likeness.why(mutant)})", flush=True)
    made, killed = sum(len(t.mutants) for t in trials), sum(len(t.killed) for t in trials)
    argued = sum(len(t.argued) for t in trials)
    undecided = sum(len(t.undecided) for t in trials)
    raw, score = killed / max(1, made), killed / max(1, made - argued - undecided)
    failed = sum(not trial.verdict.passed for trial in trials)
    print(
        f"{killed} of {made} mutants killed: {raw:.1%}; {argued} argued, {undecided} undecided: "
        f"{score:.1%} of the others; {failed} of {len(trials)} contracts fail the gate"
    )
    return not failed


if __name__ == "__main__":
    sys.exit(main())
