"""Turns the size a strategy wishes for into a volume that the account and the lot allow."""

from collections.abc import Mapping
from typing import Any

from Backtest.fills import round_down
from Backtest.orders import read_size
from Backtest.sim_errors import OrderError

MAX_RISK = 0.10


def affordable(
    share: float, commission: float, slippage: float, spread: float, buying: bool = True
) -> float:
    """Gives the fraction of equity that a position may be worth: with its costs it takes `share`.

    Counted at the price of the decision: an open beyond it may still be too dear.
    """
    market_cost = slippage + spread / 2.0
    return share / ((1.0 + (market_cost if buying else -market_cost)) * (1.0 + commission))


def volume_of(
    request: Mapping[str, object], equity: float, close: float, lot: float | None
) -> float:
    """Size an order at its decision bar.

    `units` is the volume itself; `equity` that fraction of equity at the close; `risk` the volume
    that loses that fraction of equity between the close and the stop, worth at most the fraction
    `cap` of equity if there is one. Without a size the request's own volume stands. Rounded down
    to the lot; 0 where nothing can be bought.

    Raises:
        OrderError: the size is malformed, or risk has no stop to count from.
    """
    volume = _wished(request, equity, close)
    if volume <= 0.0:
        return 0.0
    return volume if lot is None else round_down(volume, lot)


def _wished(request: Mapping[str, Any], equity: float, close: float) -> float:
    """Gives the volume before the lot."""
    size = request.get("size")
    if size is None:
        return float(request.get("volume") or 0.0)
    form, amount, cap = read_size(size)
    if form == "units":
        return amount
    if form == "equity":
        return amount * equity / close
    if form == "risk":
        if amount > MAX_RISK:
            raise OrderError(f"size is {size!r}", f"Risk at most {MAX_RISK:g} of equity a trade")
        return min(amount * equity / _stop_distance(request, close), cap * equity / close)
    raise OrderError(f"size has the key {form!r}", "Give one of: equity, units, risk")


def _stop_distance(request: Mapping[str, Any], close: float) -> float:
    """Tells how far the stop is from the close of the decision bar."""
    stop = request.get("stop")
    if isinstance(stop, Mapping) and "fraction" in stop:
        distance = float(stop["fraction"]) * close
    elif isinstance(stop, Mapping) and "distance" in stop:
        distance = float(stop["distance"])
    else:
        distance = abs(close - float(request.get("sl") or close))
    if not distance > 0.0:
        raise OrderError("a size by risk needs a stop away from the close", "Add 'stop' or 'sl'")
    return distance
