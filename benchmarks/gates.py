"""Measures the whole gate suite of the demo's contract against the slowest of its tools.

    python -m benchmarks.gates

Everything is run: nothing is recalled from earlier runs. Warm means that mypy's cache of the
libraries, the compiled loop and the files of Python have been used before, by one run that is not
counted. Each run gives its own ratio: the wall time of the suite, static gates and judgement
included, over that of the job that took longest in the same run. The limits are a ratio of 1.5 and
6 s with two processors. Other programs on the machine make the seconds longer; the load is printed.

The gate `freqtrade-parity` runs after the others and is a program of its own, which starts slowly;
where Freqtrade is installed it is timed apart and counts in neither figure.
"""

import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.gates.freqtrade.installation import find_freqtrade
from bot.gates.freqtrade.target import examine_freqtrade
from bot.proof.assignment import Origin, assign
from bot.proof.edges import Prover
from bot.proof.examination import Examination
from bot.proof.line import prove, write
from bot.workshop import opened_sandbox, say_on_terminal, warm_mypy_cache
from sandbox_runner.port import Job, Outcome, Sandbox
from sandbox_runner.rules import USUAL_LIMITS

EXAMPLE = Path("contracts/oversold_dip.yaml")
RUNS = 5
RATIO_LIMIT = 1.5
SECONDS_LIMIT = 6.0


@dataclass
class Timed:
    """A sandbox and how long each of its jobs took."""

    inner: Sandbox
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The real one's."""
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        """Run it for real, by the clock."""
        start = time.monotonic()
        outcome = self.inner.run(job)
        self.seconds[_label(job)] = time.monotonic() - start
        return outcome


def _label(job: Job) -> str:
    program = job.command[2].rpartition(".")[2]
    if program != "harness":
        return {"type_check": "mypy"}.get(program, program)
    if job.hash_seed:
        return "determinism"
    # The cuts have the candles of other prices beside the real ones.
    candles = sum(path.startswith("candles/") for path in job.files)
    return "lookahead" if candles > 1 else "decisions"


def suite(sandbox: Timed, mypy_cache: Path | None) -> tuple[float, Examination]:
    """One run of every gate, and its wall time."""
    contract = load_contract(EXAMPLE).strategy
    origin = Origin("corr_000000000000", EXAMPLE.as_posix(), "", b"")
    work = assign(contract, read_market_data(contract, Path()), origin)
    candidate = write(work, TemplateCoder())
    start = time.monotonic()
    found = prove(work, candidate, Prover(sandbox, mypy_cache))
    return time.monotonic() - start, found.examination


def seconds_of_parity(sandbox: Sandbox) -> float | None:
    """The wall time of `freqtrade-parity` alone; None where Freqtrade is not installed."""
    packages = find_freqtrade()
    if packages is None:
        return None
    contract = load_contract(EXAMPLE).strategy
    program, data = compile_contract(contract), read_market_data(contract, Path())
    files = TemplateCoder().write(contract, EXAMPLE.as_posix()).contents
    start = time.monotonic()
    asked = (contract, program, files, data, sandbox, USUAL_LIMITS, packages)
    verdict, _ = examine_freqtrade(*asked)
    if not verdict.passed:
        raise SystemExit(f"bench: freqtrade-parity refused the demo: {verdict.reason}")
    return time.monotonic() - start


def main() -> None:
    """Print the runs; exit 1 if a gate refused or the median is above a limit."""
    sandbox, cache = opened_sandbox("namespace"), warm_mypy_cache(say_on_terminal)
    suite(Timed(sandbox), cache)
    print(f"{sandbox.name}, {os.cpu_count()} processors, contract {EXAMPLE}")
    print(f"{'run':<5}{'suite, s':>9}{'slowest tool':>22}{'ratio':>7}{'load':>7}")
    totals, ratios = [], []
    timed = Timed(sandbox)
    for number in range(1, RUNS + 1):
        timed = Timed(sandbox)
        seconds, found = suite(timed, cache)
        if not all(verdict.passed for verdict in found.verdicts):
            raise SystemExit("bench: a gate refused the demo; the figures are worthless")
        tool, slowest = max(timed.seconds.items(), key=lambda item: item[1])
        totals.append(seconds)
        ratios.append(seconds / slowest)
        told = f"{tool} {slowest:.2f} s"
        print(f"{number:<5}{seconds:>9.2f}{told:>22}{ratios[-1]:>7.2f}{os.getloadavg()[0]:>7.1f}")
    print("last run: " + ", ".join(f"{name} {s:.2f}" for name, s in sorted(timed.seconds.items())))
    parity = seconds_of_parity(sandbox)
    told = "not installed" if parity is None else f"{parity:.2f} s"
    print(f"freqtrade-parity, after the others and not counted: {told}")
    total, ratio = statistics.median(totals), statistics.median(ratios)
    print(f"median: {total:.2f} s (limit {SECONDS_LIMIT}), ratio {ratio:.2f} (limit {RATIO_LIMIT})")
    if total > SECONDS_LIMIT or ratio > RATIO_LIMIT:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
