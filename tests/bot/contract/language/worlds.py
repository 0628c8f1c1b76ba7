"""Random candles and random rule text for the property tests."""

import random
from datetime import UTC, datetime, timedelta

import pandas as pd

from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.interpreter import Candle

INDICATORS = {
    "rsi": {"function": "RSI", "timeperiod": "period"},
    "trend": {"function": "SMA", "timeperiod": 8},
    "bands": {"function": "BBANDS", "timeperiod": 5, "nbdevup": 2, "nbdevdn": 2.0},
    "of_band": {"function": "EMA", "input": "bands.middleband", "timeperiod": 3},
    "doji": {"function": "CDLDOJI"},
    "spread": {"expression": "(high - low) / (close - open)"},
    "calm": {"expression": "stdev(close, 4) < 1.5"},
    "smooth": {"function": "EMA", "input": "ha_close", "timeperiod": 3},
    "slow": {"function": "SMA", "timeperiod": 2, "timeframe": "4h"},
    "wide": {"function": "BBANDS", "timeperiod": "period", "timeframe": "4h"},
    "late": {"expression": "hour() > 7 and slow > slow[1]", "timeframe": "4h"},
    "flow": {"expression": "sum(volume, 2) / ha_close", "timeframe": "2h"},
    "doji2": {"function": "CDLDOJI", "timeframe": "2h"},
    "corr": {"function": "CORREL", "input": ["close", "volume"], "timeperiod": 6},
}
PARAMETERS = {
    "period": {"default": 5, "range": [2, 9]},
    "level": {"default": 100.5, "range": [90, 110]},
}
NUMBERS = [
    "open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4", "rsi", "trend", "level",
    "bands.upperband", "bands.lowerband", "of_band", "doji", "spread", "corr", "period",
    "0", "1", "2.5", "100", "hour()", "weekday()", "ha_open", "ha_high", "ha_low", "ha_close",
    "slow", "wide.lowerband", "flow", "doji2",
]  # fmt: skip


def random_number(rng: random.Random, depth: int) -> str:
    """Rule text whose type is a number."""
    if depth <= 0 or rng.random() < 0.25:
        return rng.choice(NUMBERS)
    below = depth - 1
    kind = rng.randrange(9)
    if kind == 0:
        operator = rng.choice("+-*/")
        return f"({random_number(rng, below)} {operator} {random_number(rng, below)})"
    if kind == 1:
        return f"(-{random_number(rng, below)})"
    if kind == 3:
        return f"({random_number(rng, below)})[{rng.randrange(4)}]"
    return random_call(rng, "number", below)


def random_call(rng: random.Random, result: str, below: int) -> str:
    """A function of the language whose result is of a type, with random arguments."""
    wanted = (result, "same") if result == "number" else (result,)
    function = rng.choice([each for each in FUNCTIONS.values() if each.result in wanted])
    write = {
        "number": random_number,
        "any": random_number,
        "boolean": random_condition,
        "window": lambda rng, below: rng.choice(["1", "2", "3", "7", "period"]),
    }
    given = [write[kind](rng, below) for _, kind in function.arguments]
    return f"{function.name}({', '.join(given)})"


def random_condition(rng: random.Random, depth: int) -> str:
    """Rule text whose type is a boolean."""
    if depth <= 0:
        return rng.choice(
            [
                "always",
                "never",
                "calm",
                "late",
                "close > open",
                "rsi < 50",
                "level > 100",
                "period / 2 < 3",
            ]
        )
    below = depth - 1
    kind = rng.randrange(8)
    if kind < 3:
        operator = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({random_number(rng, below)} {operator} {random_number(rng, below)})"
    if kind == 3:
        word = rng.choice(["and", "or"])
        return f"({random_condition(rng, below)} {word} {random_condition(rng, below)})"
    if kind == 4:
        return f"(not {random_condition(rng, below)})"
    if kind in (5, 6):
        return random_call(rng, "boolean", below)
    return f"({random_condition(rng, below)})[{rng.randrange(3)}]"


def random_candles(rng: random.Random, bars: int) -> list[Candle]:
    """A walk on a coarse grid, so that ties, flat bars and equal windows are frequent."""
    tick = rng.choice([0.01, 0.1, 0.5])
    close = 100.0
    candles = []
    start = datetime(2024, 2, 27, 5, tzinfo=UTC)
    opens = [start + timedelta(hours=bar) for bar in range(2 * bars)]
    if rng.random() < 0.3:
        # Candles are missing here and there.
        opens = sorted(rng.sample(opens, bars))
    for bar in range(bars):
        before = close
        close = max(
            10 * tick, round((close + rng.choice([-2, -1, 0, 0, 1, 2]) * tick) / tick) * tick
        )
        high = max(before, close) + rng.choice([0, 1, 2]) * tick
        low = max(tick, min(before, close) - rng.choice([0, 1, 2]) * tick)
        volume = float(rng.choice([0, 1, 5, 5, 7, 120]))
        candles.append(
            Candle(
                opens[bar],
                *(round(p, 2) for p in (before, high, low, close)),
                volume,
            )
        )
    return candles


def frame_of(candles: list[Candle]) -> pd.DataFrame:
    """The candles as the frame that strategies read."""
    return pd.DataFrame([vars(candle) for candle in candles])
