"""Turns a signal into one that may be traded, or into none with the reason."""

import logging
from collections.abc import Sequence
from typing import Any

from integration.data import compute_atr
from integration.schema.signal import TradingSignal

_TOLERANCE = 1e-9
_LOG = logging.getLogger(__name__)


def apply_risk(
    signal: TradingSignal, candles: Sequence[dict[str, Any]], cfg: dict[str, Any]
) -> TradingSignal | None:
    """Holds a signal against the limits, and caps its capital.

    Args:
        signal: what was decided.
        candles: what it was decided on, oldest first.
        cfg: as `load_config` gives it.

    Returns:
        The signal with `max_capital_pct` at most the configured one, or None.
    """
    reason = refusal(signal, candles, cfg)
    if reason:
        _LOG.warning("signal %s: refused, %s", signal.decision_id, reason)
        return None
    cap = min(signal.risk.max_capital_pct, cfg["max_capital_pct"])
    return signal.model_copy(
        update={"risk": signal.risk.model_copy(update={"max_capital_pct": cap})}
    )


def refusal(signal: TradingSignal, candles: Sequence[dict[str, Any]], cfg: dict[str, Any]) -> str:
    """Says why a signal is too risky; empty if it is not."""
    limits = cfg["risk"]
    atr = compute_atr(candles)
    entry = float(signal.entry.get("price", candles[-1]["close"]))
    sign = 1 if signal.side == "long" else -1
    distance = sign * (entry - signal.risk.initial_stop)
    if distance <= 0:
        return "the stop is on the wrong side of the entry"
    least, most = limits["min_atr_multiple"] * atr, limits["max_atr_multiple"] * atr
    if not least <= distance <= most:
        return f"the stop is {distance:g} away, not {least:g} to {most:g} (ATR {atr:g})"
    # On TP1 alone (1 R) nothing would ever pass: the targets count by their sizes.
    reward = sum(sign * (t.price - entry) * t.size_pct for t in signal.risk.take_profits)
    if reward / distance < limits["min_rr"] - _TOLERANCE:
        return f"it pays {reward / distance:g} R, less than {limits['min_rr']:g} R"
    return ""
