"""Turns an exchange's answers into complete candles, oldest first; doubtful ones are refused."""

import math
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from bot.errors import InputError, WorldError
from integration.adapter.loopback_only import is_local
from integration.config.config import FRAMES_S, load_config

# Where Binance's programming interface is; a test or a proxy has another. Keys are never sent.
ADDRESS = "STRATWRIGHT_BINANCE_URL"
_RETRIES = 3
_now = time.time
_PAUSE_S = 1.0
_MOST = 1000
_LAST_MS = 4_102_444_800_000  # the year 2100
_KEYS = ("timestamp", "open", "high", "low", "close", "volume")
Candles = list[dict[str, Any]]


def get_candles(symbol: str, limit: int = 200) -> Candles:
    """Fetches the last complete candles of the timeframe that `TIMEFRAME` names.

    Args:
        symbol: as in BTC/USDT.
        limit: how many, 1 to 1000.

    Returns:
        Oldest first: timestamp (of its opening, in UTC), open, high, low, close, volume.

    Raises:
        InputError: a setting or an argument is wrong.
        WorldError: the exchange does not answer, or what it says has gaps, is old or impossible.
    """
    if not 1 <= limit <= _MOST:
        raise InputError(f"{limit} candles were asked for", f"Ask for 1 to {_MOST}.")
    frame = load_config()["timeframe"]
    rows = _fetch(symbol, frame, limit + 1)
    return check_candles(rows, FRAMES_S[frame], limit, _now())


def check_candles(rows: Sequence[Sequence[float]], width_s: int, limit: int, now: float) -> Candles:
    """Keeps the complete candles, and refuses what nobody should decide on.

    Raises:
        WorldError: with the first candle that is wrong.
    """
    for row in rows:
        if len(row) < 6 or not isinstance(row[0], int | float) or not 0 <= row[0] < _LAST_MS:
            raise WorldError("the exchange gave something that is no candle", "Try again later.")
    whole = [row for row in rows if row[0] / 1000 + width_s <= now][-limit:]
    if not whole:
        raise WorldError("the exchange gave no complete candle", "Try again later.")
    for before, row in zip([None, *whole[:-1]], whole, strict=True):
        when = datetime.fromtimestamp(row[0] / 1000, UTC).isoformat()
        begin, high, low, close, volume = row[1:6]
        if not all(isinstance(v, int | float) and math.isfinite(v) for v in row[1:6]):
            raise WorldError(f"the candle of {when} is no number", "Nothing is decided on it.")
        if low <= 0 or volume < 0 or not low <= min(begin, close) <= max(begin, close) <= high:
            raise WorldError(f"the candle of {when} is impossible", "Nothing is decided on it.")
        if before is not None and row[0] - before[0] != width_s * 1000:
            raise WorldError(f"there is a gap before {when}", "Nothing is decided on it.")
    late = now - (whole[-1][0] / 1000 + width_s)
    if late > 2 * width_s:
        raise WorldError(f"the newest candle is {late:.0f} s old", "The feed stands still.")
    return [
        dict(zip(_KEYS, (datetime.fromtimestamp(row[0] / 1000, UTC), *row[1:6]), strict=True))
        for row in whole
    ]


def compute_atr(candles: Sequence[dict[str, Any]], period: int = 14) -> float:
    """Computes the average true range as Wilder and TA-Lib do.

    Raises:
        InputError: there are too few candles.
    """
    if period < 1 or len(candles) <= period:
        raise InputError(f"{len(candles)} candles give no ATR of {period}", "Fetch more.")
    ranges = [
        max(now["high"], before["close"]) - min(now["low"], before["close"])
        for before, now in pairwise(candles)
    ]
    atr = sum(ranges[:period]) / period
    for each in ranges[period:]:
        atr = (atr * (period - 1) + each) / period
    return float(atr)


def _fetch(symbol: str, frame: str, count: int) -> list[list[float]]:
    import ccxt

    exchange = _open(ccxt)
    for left in reversed(range(_RETRIES)):
        try:
            rows: list[list[float]] = exchange.fetch_ohlcv(symbol, frame, limit=count)
            return rows
        except ccxt.BadSymbol:
            raise InputError(f"the exchange has no {symbol}", "Mend DEFAULT_SYMBOL.") from None
        except ccxt.OperationFailed as error:
            if not left:
                reason = f"{type(error).__name__}: {str(error)[:200]}"
                raise WorldError(f"no candles of {symbol}: {reason}", "Try again later.") from None
            time.sleep(_PAUSE_S * (_RETRIES - left))
        except (ccxt.BaseError, ValueError, OSError) as error:
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            raise WorldError(f"no candles of {symbol}: {reason}", "Ask the exchange why.") from None
    raise AssertionError


def _open(ccxt: Any) -> Any:
    options = {"fetchMarkets": {"types": ["spot"]}, "fetchCurrencies": False, "fetchMargins": False}
    settings: dict[str, Any] = {"enableRateLimit": True, "timeout": 10_000, "options": options}
    if address := os.environ.get(ADDRESS, "").strip().rstrip("/"):
        if not (is_local(address) or address.startswith("https://")):
            message = f"{ADDRESS} is neither https nor on this machine"
            raise InputError(message, "As in https://HOST, or http://127.0.0.1:8080.")
        names = {"public": "/api/v3", "private": "/api/v3", "v1": "/api/v1", "sapi": "/sapi/v1"}
        settings["urls"] = {"api": {name: address + path for name, path in names.items()}}
    return ccxt.binance(settings)
