"""States the one interface between a strategy and any broker, simulated or live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # pandas takes half a second to import, and the protocol needs only its name
    import pandas as pd

    from adapters.orders import StrategyDict


class BaseAdapter(Protocol):
    """States what a strategy may ask of a broker; the simulated one and live ones all offer it."""

    def place_order(self, order_request: StrategyDict) -> StrategyDict:
        """Send an order.

        Args:
            order_request: action ('BUY' | 'SELL'), symbol, volume, type ('MARKET' | 'LIMIT' |
                'STOP'), and optionally price (for LIMIT and STOP), sl, tp (absolute prices),
                comment; also stop, target, trail, roi and size as distances and fractions that
                the simulated broker anchors at the fill.

        Returns:
            success, order_id, position_id, fill_price (None until filled), and error if the
            order was refused.
        """

    def cancel_order(self, order_id: str) -> bool:
        """Withdraw an order that has not filled; False if there is none."""

    def close_position(self, pos_id: str, price: float | None = None) -> StrategyDict:
        """Close a position at the market, or at a price or better.

        Returns:
            success, position_id, order_id, fill_price (None until filled), and error if refused.
        """

    def step_bar(self, bar: pd.Series[Any]) -> list[StrategyDict]:
        """Play one bar; back-tests only.

        Returns:
            Events: position_opened, position_closed, sl_hit, tp_hit, liquidated,
            order_rejected, each with position_id, price, timestamp and rule.
        """

    def get_positions(self) -> list[StrategyDict]:
        """Show the open positions, each with at least position_id, symbol, action, volume."""

    def get_account(self) -> StrategyDict:
        """Show the account, with at least cash and equity."""

    def generate_report(self) -> StrategyDict:
        """Summarise: at least total_trades, total_pnl, win_rate, max_drawdown."""

    def save_report(self, out_dir: str) -> dict[str, str]:
        """Write the report's files into a folder; returns their paths by name."""
