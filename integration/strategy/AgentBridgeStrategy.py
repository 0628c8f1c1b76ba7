"""Trades in Freqtrade what was published as a signal, and nothing else.

Freqtrade goes on where a callback raises, and enters: so each callback here catches everything
and answers no.
"""

import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from freqtrade.persistence import Trade  # type: ignore[import-not-found]
from freqtrade.strategy import (  # type: ignore[import-not-found]
    IStrategy,
    stoploss_from_absolute,
)
from pandas import DataFrame

from bot.errors import InputError
from integration.adapter.acted import KEYS, Claims, info_of
from integration.config.config import load_config
from integration.logging_utils import append_trade_result, logged
from integration.publish import fetch_latest_signal
from integration.schema.signal import TradingSignal

LOGS = "STRATWRIGHT_BRIDGE_LOGS"
_LOG = logging.getLogger(__name__)


class AgentBridgeStrategy(IStrategy):  # type: ignore[misc]
    """Enters on the last candle when a signal is there, and leaves at its stop or first target."""

    INTERFACE_VERSION = 3
    timeframe = "5m"
    startup_candle_count = 50
    can_short = False  # initially
    # A signal is not bound to a new candle: Redis is asked in every round.
    process_only_new_candles = False
    use_custom_stoploss = True
    use_exit_signal = True
    minimal_roi: ClassVar = {"0": 100.0}
    # The most that a signal's stop may be away; a signal that asks for more is refused.
    stoploss = -0.25
    order_types: ClassVar = {
        "entry": "market",
        "exit": "market",
        "emergency_exit": "market",
        "force_exit": "market",
        "stoploss": "limit",
        "stoploss_on_exchange": True,
        "stoploss_on_exchange_limit_ratio": 0.99,
    }

    def bot_start(self, **kwargs: Any) -> None:
        """Reads the settings; where one is missing, Freqtrade does not start."""
        self.cfg = load_config()
        if self.cfg["timeframe"] != self.timeframe:
            message = f"TIMEFRAME is {self.cfg['timeframe']}, Freqtrade's is {self.timeframe}"
            raise InputError(message, "Set both to the same.")
        self.logs = Path(os.environ.get(LOGS, "decision_logs"))
        self.claims = Claims(self.logs)
        self.custom_info: dict[str, dict[str, Any]] = {}
        self._said: dict[str, str] = {}
        self._results = logged(self.logs / "trade_results.csv")
        self._closed_since = datetime(2000, 1, 1, tzinfo=UTC)

    def populate_indicators(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        """Adds nothing: the signal was decided elsewhere."""
        return df

    def populate_entry_trend(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        """Marks the last row where a signal is to be followed."""
        df["enter_long"] = 0
        df["enter_tag"] = None
        signal = self._fetch_signal(metadata["pair"]) if len(df) else None
        if signal:
            self.custom_info[signal.symbol] = info_of(signal)
            df["enter_tag"] = df["enter_tag"].astype(object)
            df.loc[df.index[-1], "enter_long"] = 1
            df.loc[df.index[-1], "enter_tag"] = signal.decision_id
        return df

    def populate_exit_trend(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        """Marks nothing: stop and target end a trade."""
        df["exit_long"] = 0
        return df

    def _fetch_signal(self, pair: str) -> TradingSignal | None:
        """Gives the signal to follow now; None, and the reason in the log, if there is none."""
        try:
            signal = fetch_latest_signal(pair)
            reason = self._refusal(signal, pair) if signal else ""
        except Exception as error:
            signal, reason = None, f"{type(error).__name__}: {error}"
        if reason and self._said.get(pair) != reason:
            _LOG.warning("%s: no trade: %s", pair, reason)
        self._said[pair] = reason
        return None if reason else signal

    def _refusal(self, signal: TradingSignal, pair: str) -> str:
        cap = self.cfg["max_capital_pct"]
        if pair != self.cfg["symbol"]:
            return f"{pair} is not DEFAULT_SYMBOL, {self.cfg['symbol']}"
        if signal.side != "long":
            return f"{signal.decision_id} is short, which is not traded"
        if signal.risk.max_capital_pct > cap:
            wanted = signal.risk.max_capital_pct
            return f"{signal.decision_id} wants {wanted} of the capital, above {cap}"
        if self.claims.find(signal.decision_id):
            return f"{signal.decision_id} was acted on before"
        return ""

    def confirm_trade_entry(self, pair: str, *args: Any, **kwargs: Any) -> bool:
        """Says yes only when the signal still holds, the price is between its levels, and nobody
        has acted on it; the decision is on the disk before the order is sent.
        """
        try:
            reason = self._entry_refusal(pair, kwargs["rate"], kwargs["entry_tag"])
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if reason:
            _LOG.warning("%s: no trade: %s", pair, reason)
        return not reason

    def _entry_refusal(self, pair: str, rate: float, tag: str | None) -> str:
        signal = self._fetch_signal(pair)
        if signal is None or signal.decision_id != tag:
            return f"the signal {tag} is not there any more"
        stop, target = signal.risk.initial_stop, signal.tp1
        if not stop < rate < target:
            return f"{tag}: the price {rate} is not between stop {stop} and target {target}"
        if stop < rate * (1 + self.stoploss):
            return f"{tag}: the stop {stop} is too far from {rate}"
        if not self.claims.take(signal):
            return f"{tag} was acted on before"
        self.custom_info[pair] = info_of(signal)
        return ""

    def custom_stake_amount(self, pair: str, *args: Any, **kwargs: Any) -> float:
        """Uses the part of the capital that the signal allows; nothing where that is too little."""
        try:
            signal = self._fetch_signal(pair)
            if signal is None or signal.decision_id != kwargs["entry_tag"] or not self.wallets:
                return 0.0
            part = min(signal.risk.max_capital_pct, self.cfg["max_capital_pct"])
            stake = self.wallets.get_total_stake_amount() * part
            least, most = kwargs["min_stake"] or 0.0, kwargs["max_stake"]
            return float(min(stake, most)) if stake >= least else 0.0
        except Exception as error:
            _LOG.warning("%s: no trade: %s: %s", pair, type(error).__name__, error)
            return 0.0

    def order_filled(self, pair: str, trade: Trade, *args: Any, **kwargs: Any) -> None:
        """Keeps stop and targets with the trade itself."""
        info = self._info(trade)
        if info and trade.is_open:
            for key in KEYS:
                trade.set_custom_data(key, info[key])

    def custom_stoploss(
        self,
        pair: str,
        trade: Trade,
        current_time: datetime | None = None,
        current_rate: float = 0.0,
        current_profit: float = 0.0,
        after_fill: bool = False,
        **kwargs: Any,
    ) -> float | None:
        """Holds the stop of the signal from the fill on; Freqtrade finds `after_fill` by name."""
        info = self._info(trade)
        if info is None:
            return None
        sides = {"is_short": trade.is_short, "leverage": trade.leverage}
        return float(stoploss_from_absolute(info["initial_stop"], current_rate, **sides))

    def custom_exit(self, pair: str, trade: Trade, *args: Any, **kwargs: Any) -> str | None:
        """Leaves fully at the first target, and below the stop where no stop could be set."""
        info = self._info(trade)
        rate = kwargs["current_rate"]
        if info and rate >= info["tp1"]:
            return "tp1"
        return "signal_stop" if info and rate <= info["initial_stop"] else None

    def bot_loop_start(self, current_time: datetime, **kwargs: Any) -> None:
        """Writes down the trades that were closed since the last round; none is written twice."""
        try:
            self._log_results(current_time)
        except Exception as error:
            _LOG.warning("results are not logged yet: %s: %s", type(error).__name__, error)

    def _log_results(self, now: datetime) -> None:
        closed = Trade.get_trades_proxy(is_open=False, close_date=self._closed_since)
        for trade in closed:
            info = self._info(trade)
            if info and info["decision_id"] not in self._results:
                risk = trade.open_rate - info["initial_stop"]
                # Bought at or below its stop, a trade has no R.
                earned = (trade.close_rate - trade.open_rate) / risk if risk > 0 else 0.0
                path = self.logs / "trade_results.csv"
                append_trade_result(info["decision_id"], trade.close_rate, round(earned, 6), path)
                self._results.add(info["decision_id"])
        self._closed_since = now - timedelta(days=1)
        open_pairs = {trade.pair for trade in Trade.get_trades_proxy(is_open=True)}
        self.custom_info = {
            pair: info
            for pair, info in self.custom_info.items()
            if pair in open_pairs or pair == self.cfg["symbol"]
        }

    def _info(self, trade: Trade) -> dict[str, Any] | None:
        """Finds stop and targets of a trade: kept here, with the trade, or on the disk."""
        info = self.custom_info.get(trade.pair)
        if info and info["decision_id"] == trade.enter_tag:
            return info
        kept = {key: trade.get_custom_data(key) for key in KEYS}
        if kept["decision_id"] != trade.enter_tag:
            kept = self.claims.find(trade.enter_tag or "") or {}
        if not kept:
            if self._said.get(f"trade {trade.id}") is None:
                _LOG.warning("%s: trade %s has no signal of ours", trade.pair, trade.id)
            self._said[f"trade {trade.id}"] = "unknown"
            return None
        if trade.is_open:
            self.custom_info[trade.pair] = kept
        return kept
