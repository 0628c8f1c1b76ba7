"""A size as the contract states it to a volume: units, a fraction of equity, or a fraction at risk."""

import math
from collections.abc import Mapping


def order_volume(
    size: Mapping[str, float], equity: float, close: float, stop: float, lot: float | None
) -> float:
    """The volume of an order, rounded down to the lot.

    Args:
        size: `{"units": u}`, `{"equity": fraction}` or `{"risk": fraction}`.
        equity: the account's equity at the decision.
        close: the close of the decision bar.
        stop: distance from that close to the stop, in price.
        lot: step of volumes; None means any volume.

    Raises:
        ValueError: the size has no known kind.
    """
    if "units" in size:
        volume = float(size["units"])
    elif "equity" in size:
        volume = size["equity"] * equity / close
    elif "risk" in size:
        volume = size["risk"] * equity / stop if stop > 0 else 0.0
    else:
        raise ValueError(f"size must be units, equity or risk, not {dict(size)}")
    if not lot or not math.isfinite(volume):
        return volume if math.isfinite(volume) else 0.0
    # 0.3 / 0.1 is 2.9999999999999996: a lot that is there to the last digits counts.
    return round(math.floor(volume / lot + 1e-9) * lot, 12)
