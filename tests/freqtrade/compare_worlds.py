"""Random contracts on random candles: Freqtrade's signals and trades against our own.

`python -m tests.freqtrade.compare_worlds 300` compares so many worlds, a third of them futures, and
prints what differs; with `wild`, all are futures whose positions are liquidated now and then.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from Backtest.freqtrade_fills.trade import Tier
from bot.coder.template.template_coder import freqtrade_text
from bot.contract.language.program import compile_contract
from bot.contract.model import Contract
from bot.gates.freqtrade.parity import Expectation, differing_signal, differing_trade
from tests.freqtrade.worlds import tiers_of, world
from tools.freqtrade_answers import ask_freqtrade

AT_ONCE = 30
FIRST_SEED = 10_000


@dataclass(frozen=True)
class Compared:
    """One world: Freqtrade's trades in it, and the first thing that differs."""

    name: str
    trades: list[dict[str, Any]]
    difference: str


def compare(
    cases: list[tuple[Contract, dict[str, pd.DataFrame]]],
    folder: Path,
    tiers: Sequence[Sequence[Tier]] = (),
) -> Iterator[Compared]:
    """Let Freqtrade run each contract on its candles, and compare."""
    known = tiers or [(Tier(),)] * len(cases)
    expected = [
        Expectation(contract, compile_contract(contract), frames, margins)
        for (contract, frames), margins in zip(cases, known, strict=True)
    ]
    requests = [
        case.request(written(contract, folder))
        for case, (contract, _) in zip(expected, cases, strict=True)
    ]
    answers = ask_freqtrade(requests, folder)
    for case, answer, (contract, _) in zip(expected, answers, cases, strict=True):
        difference = differing_signal(answer["signals"], case.signals())
        difference = difference or differing_trade(answer["trades"], case.trades())
        shown = f"{contract.name}: {difference}" if difference else ""
        yield Compared(contract.name, answer["trades"], shown)


def written(contract: Contract, folder: Path) -> str:
    """The folder of the contract's Freqtrade file, alone in it."""
    place = folder / contract.name
    place.mkdir()
    text = freqtrade_text(contract, compile_contract(contract), "contracts/x.yaml")
    (place / f"{contract.name}.py").write_text(text, "utf-8")
    return str(place)


def main(count: int, wild: bool) -> int:
    """Compare so many worlds."""
    worlds = differing = 0
    reasons: Counter[str] = Counter()
    for start in range(0, count, AT_ONCE):
        seeds = range(FIRST_SEED + start, FIRST_SEED + min(count, start + AT_ONCE))
        with tempfile.TemporaryDirectory() as folder:
            cases = [world(seed, futures=wild or seed % 3 == 0, wild=wild) for seed in seeds]
            tiers = [tiers_of(seed) for seed in seeds] if wild else []
            for one in compare(cases, Path(folder), tiers):
                worlds += 1
                reasons.update(trade["exit_reason"] for trade in one.trades)
                if one.difference:
                    differing += 1
                    print(one.difference)  # noqa: T201 - a command
        shown = ", ".join(f"{reason} {found}" for reason, found in sorted(reasons.items()))
        total = f"{worlds} worlds, {reasons.total()} trades, {differing} differ"
        print(f"{total} ({shown})", flush=True)  # noqa: T201
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, "wild" in sys.argv[2:]))
