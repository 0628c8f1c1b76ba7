"""Turns candles into a signal where the last close breaks out of the highs before it."""

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from integration.schema.signal import RiskPlan, TakeProfit, TradingSignal

_WINDOW = 20
_STOP_WINDOW = 10
_CONFIDENCE = 0.6


def generate_signal(
    candles: Sequence[dict[str, Any]], symbol: str | None = None, now: datetime | None = None
) -> TradingSignal | None:
    """Looks for a breakout, long only.

    Args:
        candles: complete ones, oldest first.
        symbol: what they are of; `DEFAULT_SYMBOL` if left out, BTC/USDT without it.
        now: when the decision is made; the machine's time if left out.

    Returns:
        A signal, or None where the last close is not above the 19 highs before it. The same
        candle gives the same decision_id.
    """
    if len(candles) < _WINDOW:
        return None
    entry = float(candles[-1]["close"])
    if not entry > max(candle["high"] for candle in candles[-_WINDOW:-1]):
        return None
    stop = float(min(candle["low"] for candle in candles[-_STOP_WINDOW:]))
    if not 0 < stop < entry:
        return None
    symbol = symbol or os.environ.get("DEFAULT_SYMBOL") or "BTC/USDT"
    targets = (
        TakeProfit(price=entry + (entry - stop), size_pct=0.5),
        TakeProfit(price=entry + 2 * (entry - stop), size_pct=0.5),
    )
    return TradingSignal(
        decision_id=decision_id("breakout", symbol, candles[-1]["timestamp"]),
        timestamp=now or datetime.now(UTC),
        symbol=symbol,
        side="long",
        confidence=_CONFIDENCE,
        entry={"type": "market", "price": entry},
        risk=RiskPlan(initial_stop=stop, take_profits=targets, max_capital_pct=1.0),
        rationale=f"close above the {_WINDOW - 1} highs before it",
    )


def decision_id(source: str, symbol: str, candle: object) -> str:
    """Names a decision by what it was made of: asked again, it is the same decision."""
    return hashlib.sha256(f"{source}|{symbol}|{candle}".encode()).hexdigest()[:32]
