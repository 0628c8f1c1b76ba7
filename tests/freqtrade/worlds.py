"""Random contracts and candles for the comparison with Freqtrade."""

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd

from Backtest.freqtrade_fills.trade import Tier
from bot.contract.load import parse_contract
from bot.contract.model import Contract

LONG_ENTRIES = [
    "close < open",
    "rsi < 40",
    "crossed_above(close, mean(close, 10))",
    "close > highest(high, 5)[1]",
    "always",
]
LONG_EXITS = ["close > open and close[1] > open[1]", "rsi > 60", "rsi < 45"]
SHORT_ENTRIES = ["close > open", "rsi > 60", "crossed_below(close, mean(close, 10))"]
SHORT_EXITS = ["close < open and close[1] < open[1]", "rsi < 40"]


# Maintenance margins as exchanges have them, and none.
TIERS: list[list[Tier]] = [
    [Tier()],
    [Tier(0.0, 0.004, 0.0), Tier(2_000.0, 0.01, 12.0), Tier(6_000.0, 0.025, 102.0)],
    [Tier(0.0, 0.05, 0.0)],
]
WIDE_STOPS: list[Any] = [
    *(0.5, 0.9, 0.96, 0.99, 0.995),
    *({"atr": 15.0, "timeperiod": 3}, {"atr": 60.0, "timeperiod": 14}),
]


def tiers_of(seed: int) -> list[Tier]:
    """The maintenance margins of a wild world."""
    return TIERS[seed % len(TIERS)]


def world(
    seed: int, *, futures: bool = False, wild: bool = False
) -> tuple[Contract, dict[str, pd.DataFrame]]:
    """A contract of many kinds of risk, and candles for each of its symbols.

    A wild world has wide stops, and prices that double, quadruple and nearly vanish.
    """
    rng = random.Random(seed)
    timeframe, minutes = rng.choice([("5m", 5), ("1h", 60), ("4h", 240)])
    several = rng.random() < 0.4
    symbols = ["BTC/USDT", "ETH/USDT", "XRP/USDT"][: rng.choice([2, 3]) if several else 1]
    market: dict[str, Any] = {"symbols": symbols, "timeframe": timeframe}
    market["type"] = "futures" if futures else "spot"
    if rng.random() < 0.7:
        market["lot"] = rng.choice([0.001, 0.1])
    if rng.random() < 0.5:
        market["tick"] = 0.01
    if rng.random() < 0.5:
        market["min_notional"] = rng.choice([5, 50])
    document = {
        "version": "1.0",
        "workflow": "world",
        "task": "strategy",
        "kind": "strategy",
        "name": f"World{seed}",
        "market": market,
        "data": {"source": "csv", "path": "data/{symbol}.csv"},
        "indicators": {"rsi": {"function": "RSI", "timeperiod": rng.choice([3, 14])}},
        "rules": random_rules(rng, futures),
        "risk": random_risk(rng, minutes, several),
        "costs": {"commission": rng.choice([0.0, 0.001, 0.0005])},
        "capital": rng.choice([500, 10_000]),
    }
    if wild:
        document["risk"] = wide_risk(rng, document["risk"])
    contract = parse_contract(json.dumps(document).encode(), "json", Path("world.json")).strategy
    return contract, {symbol: random_candles(rng, minutes, wild) for symbol in symbols}


def wide_risk(rng: random.Random, risk: dict[str, Any]) -> dict[str, Any]:
    """The same with a stop so wide that liquidation comes first now and then."""
    risk = {**risk, "stop_loss": rng.choice(WIDE_STOPS), "size": {"equity": rng.choice([0.1, 0.3])}}
    for name in ("trailing_stop", "take_profit", "roi"):
        if rng.random() < 0.7:
            risk.pop(name, None)
    early = isinstance(risk.get("trailing_stop"), dict) and isinstance(risk["stop_loss"], dict)
    if early and not risk["trailing_stop"].get("only_after_activation"):
        del risk["trailing_stop"]
    return risk


def random_rules(rng: random.Random, futures: bool) -> dict[str, str]:
    rules: dict[str, str] = {}
    if not futures or rng.random() < 0.7:
        rules["enter_long"] = rng.choice(LONG_ENTRIES)
        if rng.random() < 0.6:
            rules["exit_long"] = rng.choice(LONG_EXITS)
    if futures:
        rules["enter_short"] = rng.choice(SHORT_ENTRIES)
        if rng.random() < 0.6:
            rules["exit_short"] = rng.choice(SHORT_EXITS)
    return rules


def random_risk(rng: random.Random, minutes: int, several: bool) -> dict[str, Any]:
    stops: list[Any] = [0.01, 0.02, 0.05, {"atr": 2.0, "timeperiod": 7}, {"atr": 1.5}]
    risk: dict[str, Any] = {"stop_loss": rng.choice(stops)}
    if rng.random() < 0.4:
        risk["take_profit"] = rng.choice([0.01, 0.03, {"atr": 2.5, "timeperiod": 5}])
    if rng.random() < 0.5:
        last = str(minutes * 7 + rng.choice([0, 1]))
        first = rng.choice([0.02, 0.05])
        late = rng.choice([0, 0.002, -0.01, -1])
        risk["roi"] = {"0": first, str(minutes * 3): 0.01, last: late}
    if rng.random() < 0.5:
        after: dict[str, Any] = {"distance": 0.005, "activate_at": 0.01}
        early: dict[str, Any] = {"distance": 0.005, "activate_at": 0.02}
        after["only_after_activation"] = True
        choices = [0.01, 0.03, after, early]
        if isinstance(risk["stop_loss"], dict):
            choices.remove(early)
        risk["trailing_stop"] = rng.choice(choices)
    sizes = [{"equity": 0.1}, {"equity": 0.5}, {"units": 3}, {"risk": 0.009}, {"equity": 0.99}]
    sizes += [{"risk": 0.02, "cap": rng.choice([0.3, 1.0])}]
    risk["size"] = rng.choice(sizes)
    risk["exit_profit_only"] = rng.random() < 0.3
    if "take_profit" not in risk:
        risk["ignore_roi_if_entry_signal"] = rng.random() < 0.3
    risk["max_positions"] = rng.choice([1, 2, 3]) if several else 1
    return risk


def random_candles(rng: random.Random, minutes: int, wild: bool = False) -> pd.DataFrame:
    """Candles with gaps in price, some flat, some missing, over the turn of a month."""
    bars, digits = rng.choice([150, 400]), rng.choice([2, 3, 4, 15])
    change = rng.choice([0.003, 0.01])
    last, rows = rng.choice([2.5, 95.0, 4000.0]), []
    for bar in range(bars):
        jump = change if rng.random() < 0.2 else change / 6
        if wild and rng.random() < 0.05:  # it comes back, so that the next trade can lose as much
            last *= rng.choice([4.0, 2.0, 1.9, 0.25, 0.03]) if 1.0 < last < 8000.0 else 40.0 / last
        first = max(10**-digits, round(last * (1 + rng.gauss(0, jump)), digits))
        last = round(first * (1 + rng.gauss(0, change)), digits)
        high = round(max(first, last) * (1 + abs(rng.gauss(0, change / 2))), digits)
        low = round(min(first, last) * (1 - abs(rng.gauss(0, change / 2))), digits)
        if wild and rng.random() < 0.03:
            high, low = rng.choice([(round(high * 2.2, digits), low), (high, round(low / 30, 4))])
        low = max(low, 10**-digits)
        if rng.random() < (0.4 if bar == bars - 1 else 0.04):  # nobody traded away from the open
            high = low = last = first
        rows.append((first, max(high, first, last), min(low, first, last), last, 10.0))
    start = pd.Timestamp(rng.choice(["2024-01-30T12:00Z", "2024-01-20T00:00Z"]))
    times = pd.date_range(start, periods=bars, freq=f"{minutes}min")
    frame = pd.DataFrame(rows, columns=["open", "high", "low", "close", "volume"])
    frame.insert(0, "timestamp", times)
    if rng.random() < 0.3:
        frame = frame.drop(index=[bar for bar in range(5, bars - 5) if rng.random() < 0.02])
    return frame.reset_index(drop=True)
