"""Turns the size a strategy wishes for into a volume that the account and the lot allow."""

from collections.abc import Mapping
from typing import Any

from Backtest.errors import OrderError
from Backtest.fills import round_down

MAX_RISK = 0.10


def volume_of(request: Mapping[str, Any], equity: float, close: float, lot: float | None) -> float:
    """Size an order at its decision bar.

    `units` is the volume itself; `equity` that fraction of equity at the close; `risk` the volume
    that loses that fraction of equity between the close and the stop. Without a size the
    request's own volume stands. Rounded down to the lot; 0 where nothing can be bought.

    Raises:
        OrderError: the size is malformed, or risk has no stop to count from.
    """
    volume = _wished(request, equity, close)
    if volume <= 0.0:
        return 0.0
    return volume if lot is None else round_down(volume, lot)


def _wished(request: Mapping[str, Any], equity: float, close: float) -> float:
    """The volume before the lot."""
    size = request.get("size")
    if size is None:
        return float(request.get("volume") or 0.0)
    if not isinstance(size, Mapping) or len(size) != 1:
        raise OrderError(f"size is {size!r}", "Give one of: equity, units, risk")
    ((form, amount),) = size.items()
    if not isinstance(amount, (int, float)) or isinstance(amount, bool) or not amount > 0.0:
        raise OrderError(f"size is {size!r}", "Give a number above 0")
    if form == "units":
        return float(amount)
    if form == "equity":
        return float(amount) * equity / close
    if form == "risk":
        if amount > MAX_RISK:
            raise OrderError(f"size is {size!r}", f"Risk at most {MAX_RISK:g} of equity a trade")
        return float(amount) * equity / _stop_distance(request, close)
    raise OrderError(f"size has the key {form!r}", "Give one of: equity, units, risk")


def _stop_distance(request: Mapping[str, Any], close: float) -> float:
    """How far the stop is from the close of the decision bar."""
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
