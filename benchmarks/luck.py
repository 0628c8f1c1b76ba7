"""`make luck`: how often a search of worlds without an edge looks good, and one with an edge.

    python -m benchmarks.luck [--worlds N] [--bars N] [--edges PHI ...]

Each world is searched as `stratwright sweep` does: 39 windows of a trend rule, no costs. Worlds
without an edge are, by turns, the shuffled and the phase-randomised candles of a market by chance.
An edge is planted as an echo: each move is PHI times the one before, and chance. What is counted is
how often the best set passes the usual lines: a deflated Sharpe ratio of 95 %, backtest overfitting
of at most a half, and every line of the gate `luck` as it is shipped, its 19 searches of worlds
without an edge among them (made where all other lines are met).
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from Backtest.candles import Candles
from Backtest.metrics.many_runs import grid
from Backtest.metrics.no_edge import NO_EDGE
from bot.contract.language.program import compile_contract
from bot.contract.load import parse_contract
from bot.settings import LuckPolicy
from bot.sweep.lines import policy_lines
from bot.sweep.luck import Luck
from bot.sweep.runs import Player, place_of, search

CONTRACT: dict[str, Any] = {
    "version": "1.0",
    "workflow": "bench",
    "task": "strategy",
    "kind": "strategy",
    "name": "LuckWork",
    "market": {"symbols": ["X/Y"], "timeframe": "1h", "type": "futures"},
    "data": {"source": "csv", "path": "candles.csv"},
    "parameters": {"window": {"default": 5, "range": [2, 40]}},
    "rules": {
        "enter_long": "close > mean(close, window)",
        "exit_long": "close < mean(close, window)",
        "enter_short": "close < mean(close, window)",
        "exit_short": "close > mean(close, window)",
    },
    "risk": {"stop_loss": 0.5, "size": {"equity": 0.9}},
    "costs": {"commission": 0.0, "slippage": 0.0},
    "capital": 10_000.0,
}
SETS = grid(window=list(range(2, 41)))
LINES: dict[str, Callable[[Luck], bool]] = {
    "deflated >= 95 %": lambda luck: (luck.deflated or 0.0) >= 0.95,
    "overfitting <= 50 %": lambda luck: (
        (1.0 if luck.overfitting is None else luck.overfitting) <= 0.5
    ),
}
HOUR_MS = 3_600_000
POLICY = LuckPolicy()


def market(bars: int, seed: int, echo: float = 0.0) -> Candles:
    """Hourly candles by chance, fat tails, no drift; each move has an echo of the one before."""
    chance = np.random.default_rng(seed)
    shocks = chance.standard_t(4, bars) * 0.005 / math.sqrt(2.0)
    moves = np.empty(bars)
    before = 0.0
    for place, shock in enumerate(shocks.tolist()):
        before = echo * before + shock
        moves[place] = before
    close = 100.0 * np.exp(np.cumsum(moves))
    opens = np.concatenate(([100.0], close[:-1]))
    wicks = 1.0 + np.abs(chance.normal(0.0, 0.001, (2, bars)))
    high, low = np.maximum(opens, close) * wicks[0], np.minimum(opens, close) / wicks[1]
    return Candles(np.arange(bars) * HOUR_MS, opens, high, low, close, np.ones(bars))


def searched(player: Player, candles: Candles) -> tuple[Luck, float, bool]:
    """Search a world; what its best set is worth, its Sharpe ratio, whether the gate passes."""

    def best_first(candles: Any) -> list[Any]:
        rows = player.rows(candles, SETS)  # type: ignore[arg-type]
        return sorted(rows, key=lambda row: place_of(row, "sharpe"))

    found = search(player, candles, best_first, "sharpe")
    luck, ratio = found.luck, found.rows[0].figures["sharpe"] or 0.0
    lines = policy_lines(luck, POLICY, 0.0)
    if all(line.met for line in lines if line.name != "max_chance"):
        luck = search(player, candles, best_first, "sharpe", POLICY.worlds).luck
        lines = policy_lines(luck, POLICY, 0.0)
    return luck, ratio, all(line.met for line in lines)


def interval(hits: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, 95 %."""
    z = NormalDist().inv_cdf(0.975)
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def tell(name: str, told: list[tuple[Luck, float, bool]]) -> None:
    """Print one row: the mean ratio of the best sets, and how many pass each line."""
    cells = [f"{name:<22}{len(told):>6}{np.mean([ratio for _, ratio, _ in told]):>8.2f}"]
    passed = [[*(line(luck) for line in LINES.values()), whole] for luck, _, whole in told]
    for hits in map(sum, zip(*passed, strict=True)):
        low, high = interval(hits, len(told))
        cells.append(f"{hits / len(told):>7.1%} ({low:.1%} to {high:.1%})")
    print("  ".join(cells), flush=True)


def main() -> int:
    """Search worlds without an edge, then worlds with one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=500, help="without an edge; default 500")
    parser.add_argument("--bars", type=int, default=8_760, help="a world; default a year of hours")
    parser.add_argument(
        "--edges", type=float, nargs="*", default=[0.02, 0.04, 0.06, 0.08, 0.1, 0.12]
    )
    given, start = parser.parse_args(), time.monotonic()
    text = json.dumps(CONTRACT).encode()
    contract = parse_contract(text, "json", Path("bench.json")).strategy
    player = Player(contract, compile_contract(contract))
    heads = "  ".join([*LINES, "the gate luck"])
    print(f"{'world':<22}{'count':>6}{'ratio':>8}  {heads}, 95 % intervals", flush=True)
    ways = list(NO_EDGE.items())
    told: dict[str, list[tuple[Luck, float, bool]]] = {name: [] for name, _ in ways}
    for number in range(given.worlds):
        name, make = ways[number % len(ways)]
        told[name].append(searched(player, make(market(given.bars, number), number)))
    tell("no edge", [one for each in told.values() for one in each])
    for name, found in told.items():
        tell(f"  {name}", found)
    for echo in given.edges:
        worlds = (market(given.bars, 1_000_000 + number, echo) for number in range(100))
        tell(f"echo {echo:g}", [searched(player, world) for world in worlds])
    print(f"The whole took {time.monotonic() - start:.0f} s.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
