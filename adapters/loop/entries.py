"""Turns an entry into an order of the right size, and says whether an exit may act."""

from collections.abc import Mapping

from adapters.loop.feeds import Feed
from adapters.orders import PositionView, StrategyDict
from adapters.sizing import volume_of
from Backtest.compiled.signal_run import LoopRules
from Backtest.sim_errors import OrderError
from Backtest.times import iso


def sized_order(
    feed: Feed, idx: int, request: StrategyDict, equity: float, rules: LoopRules
) -> StrategyDict:
    """Gives the order to place for a request at a bar."""
    volume = volume_of(request, equity, feed.candles.plain.close[idx], rules.lot)
    order = {"symbol": feed.symbol, **request, "volume": volume}
    if rules.ignore_roi_if_entry_signal and request.get("roi"):
        order["hold_roi"] = True
    return order


def placed_id(
    feed: Feed, idx: int, order: StrategyDict, answer: Mapping[str, object]
) -> str | None:
    """Gives the id of an order that was placed; None where it was too small for a lot.

    Raises:
        OrderError: the broker refused it for another reason.
    """
    if answer["success"]:
        return str(answer["order_id"])
    if order["volume"] > 0.0:
        where = f"{feed.symbol} at {iso(feed.candles.plain.times[idx])}"
        raise OrderError(
            f"the order of {where} was refused: {answer.get('error')}", "Mend the strategy"
        )
    return None


def may_leave(position: PositionView | StrategyDict, close: float, rules: LoopRules) -> bool:
    """Says whether `exit_profit_only` lets an exit rule act."""
    if not rules.exit_profit_only:
        return True
    entry, fee = float(position["entry_price"]), rules.commission
    if position["action"] == "BUY":
        return close * (1.0 - fee) > entry * (1.0 + fee)
    return close * (1.0 + fee) < entry * (1.0 - fee)
