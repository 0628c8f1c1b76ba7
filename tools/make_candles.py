"""Turns a seed into synthetic hourly candles, the same bytes on every machine.

The market is invented: a walk through named regimes (climb, chop, slide, crash, rebound) with
clustered volatility, volume that follows the size of the move and the hour of the day, and two
symbols that share most of their shocks. It is there to test software, not to judge a strategy.

Only Python's Mersenne Twister, `+ - * /` and `sqrt` are used, which IEEE 754 rounds the same way
everywhere, and prices are kept in whole cents, so no rounding error can grow along the walk.
"""

import argparse
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

HEADER = "timestamp,open,high,low,close,volume"
FIRST_CANDLE = datetime(2024, 1, 1, tzinfo=UTC)
BARS = 3000
SEED = 38
NEWS_CHANCE = 0.02

# Trading is thin while Europe and America sleep and busiest when both are awake.
HOURLY_ACTIVITY = (
    *(0.80, 0.75, 0.72, 0.70, 0.70, 0.75, 0.82, 0.95),
    *(1.05, 1.08, 1.05, 1.02, 1.05, 1.30, 1.55, 1.60),
    *(1.45, 1.25, 1.10, 1.05, 1.00, 0.95, 0.90, 0.85),
)


@dataclass(frozen=True)
class Regime:
    """A stretch of market with its own drift and nervousness, both per bar."""

    name: str
    drift: float
    volatility: float
    shortest: int
    longest: int
    followed_by: tuple[str, ...]
    pull: float = 0.0  # how strongly the price returns to where the stretch began


@dataclass(frozen=True)
class Coin:
    """What sets one symbol apart from the market as a whole."""

    file_name: str
    first_price_cents: int
    beta: float
    own_volatility: float
    usual_volume: float
    seed: int


REGIMES = {
    regime.name: regime
    for regime in (
        Regime("climb", 0.00060, 0.0042, 120, 320, ("chop", "chop", "slide", "crash")),
        Regime("chop", 0.0, 0.0050, 100, 300, ("climb", "climb", "slide"), pull=0.02),
        Regime("slide", -0.00055, 0.0050, 80, 220, ("chop", "climb", "crash")),
        Regime("crash", -0.0055, 0.0120, 10, 24, ("rebound",)),
        Regime("rebound", 0.0020, 0.0085, 24, 60, ("chop", "climb")),
    )
}

COINS = (
    Coin("sample_btc.csv", 4_230_000, 1.0, 0.0012, 850.0, seed=101),
    Coin("sample_eth.csv", 228_000, 1.15, 0.0024, 9_400.0, seed=202),
)


def bell(chance: random.Random) -> float:
    """A draw with mean 0 and deviation 1: twelve uniforms, because `gauss` needs `log` and `cos`,
    whose last digit differs between C libraries.
    """
    return sum(chance.random() for _ in range(12)) - 6.0


def walk_regimes(chance: random.Random) -> Iterator[tuple[Regime, bool]]:
    """Yield the regime of every bar and whether the bar is the first of its stretch."""
    regime = REGIMES["climb"]
    while True:
        for bar in range(chance.randint(regime.shortest, regime.longest)):
            yield regime, bar == 0
        regime = REGIMES[chance.choice(regime.followed_by)]


def market_returns(bars: int, seed: int) -> list[float]:
    """The shocks that all symbols share, one a bar.

    Calm follows calm and storm follows storm: the variance of a bar remembers the bar before it.
    """
    chance = random.Random(seed)
    regimes = walk_regimes(chance)
    returns: list[float] = []
    variance, strayed = 0.0042**2, 0.0
    for _ in range(bars):
        regime, is_first = next(regimes)
        usual_variance = regime.volatility**2
        variance = usual_variance if is_first else 0.1 * usual_variance + 0.65 * variance
        strayed = 0.0 if is_first else strayed
        # News: one bar in fifty moves more than its neighbours would suggest.
        size = 2.5 if chance.random() < NEWS_CHANCE else 1.0
        shock = size * math.sqrt(variance) * bell(chance)
        move = max(-0.12, min(0.12, regime.drift - regime.pull * strayed + shock))
        variance += 0.25 * shock * shock
        strayed += move
        returns.append(move)
    return returns


def candle_lines(coin: Coin, shared: list[float]) -> Iterator[str]:
    """Yield the CSV lines of one symbol, header first."""
    chance = random.Random(coin.seed)
    yield HEADER
    close, recent_move = coin.first_price_cents, 0.005
    for bar, market_move in enumerate(shared):
        moment = FIRST_CANDLE + timedelta(hours=bar)
        # The first trade of an hour is rarely exactly the last one of the hour before.
        opened = close + round(close * 0.0001 * bell(chance))
        move = coin.beta * market_move + coin.own_volatility * bell(chance)
        close = max(1, opened + round(opened * move))
        wick = opened * (0.0008 + 0.45 * abs(move))
        high = max(opened, close) + round(wick * chance.random())
        low = max(1, min(opened, close) - round(wick * chance.random()))
        recent_move = 0.95 * recent_move + 0.05 * abs(move)
        surprise = 0.5 + 0.5 * abs(move) / recent_move
        noise = 0.6 + 0.8 * chance.random()
        volume = coin.usual_volume * HOURLY_ACTIVITY[moment.hour] * surprise * noise
        prices = ",".join(in_dollars(cents) for cents in (opened, high, low, close))
        yield f"{moment:%Y-%m-%dT%H:%M:%SZ},{prices},{volume:.3f}"


def in_dollars(cents: int) -> str:
    """Write whole cents with two decimals, without passing through a float."""
    return f"{cents // 100}.{cents % 100:02d}"


def write_candles(folder: Path, bars: int = BARS, seed: int = SEED) -> list[Path]:
    """Write one CSV file per symbol into the folder and return their paths."""
    shared = market_returns(bars, seed)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for coin in COINS:
        path = folder / coin.file_name
        path.write_text("\n".join(candle_lines(coin, shared)) + "\n", "utf-8", newline="\n")
        written.append(path)
    return written


def main() -> None:
    """Read the command line and write the files."""
    parser = argparse.ArgumentParser(description="Write seeded synthetic candles (not real data).")
    parser.add_argument("--out", type=Path, default=Path("tests/fixtures"), help="folder")
    parser.add_argument("--bars", type=int, default=BARS)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    for path in write_candles(arguments.out, arguments.bars, arguments.seed):
        print(path)


if __name__ == "__main__":
    main()
