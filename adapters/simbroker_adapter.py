"""Offers the simulated broker through the interface that strategies know."""

from typing import cast

from adapters.orders import StrategyDict
from Backtest.simbroker import SimBroker


class SimBrokerAdapter:
    """Offers a SimBroker as a BaseAdapter.

    Beyond the interface it passes on what only a simulation has: `step_candle` for plain
    numbers, `hold_roi`, partial closes, trades, events and the equity curve.
    """

    def __init__(self, broker: SimBroker) -> None:
        self.broker = broker
        self.step_candle = broker.step_candle
        self.hold_roi = broker.hold_roi

    @property
    def execution(self) -> str:
        """Tells when decisions fill: next_open or this_close."""
        return self.broker.settings.execution

    def place_order(self, order_request: StrategyDict) -> StrategyDict:
        """Send an order; see `SimBroker.place_order`."""
        return cast(StrategyDict, self.broker.place_order(order_request))

    def cancel_order(self, order_id: str) -> bool:
        """Withdraw an order that has not filled."""
        return self.broker.cancel_order(order_id)

    def close_position(
        self, pos_id: str, price: float | None = None, volume: float | None = None
    ) -> StrategyDict:
        """Close a position, or a volume of it; see `SimBroker.close_position`."""
        return cast(StrategyDict, self.broker.close_position(pos_id, price, volume))

    def step_bar(self, bar: object) -> list[StrategyDict]:
        """Play one bar: a Series, a dict or a row."""
        return [dict(event) for event in self.broker.step_bar(bar)]

    def get_positions(self) -> list[StrategyDict]:
        """Show the open positions."""
        return cast(list[StrategyDict], self.broker.get_positions())

    def get_account(self) -> StrategyDict:
        """Show the account."""
        return cast(StrategyDict, self.broker.get_account())

    def generate_report(self) -> StrategyDict:
        """Summarise the run so far."""
        return self.broker.generate_report()

    def save_report(self, out_dir: str) -> dict[str, str]:
        """Write trades.csv, equity_curve.csv and summary.json."""
        return self.broker.save_report(out_dir)
