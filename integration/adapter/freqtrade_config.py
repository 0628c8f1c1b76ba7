"""Makes the Freqtrade configuration that the bridge runs with."""

from pathlib import Path
from typing import Any

STRATEGIES = Path(__file__).resolve().parents[1] / "strategy"
STRATEGY = "AgentBridgeStrategy"


def make_config(
    symbol: str,
    timeframe: str,
    *,
    address: str = "",
    key: str = "",
    secret: str = "",
    dry_run: bool = True,
    throttle_s: int = 1,
) -> dict[str, Any]:
    """Gives a configuration for one symbol on Binance's spot market.

    Args:
        symbol: as in BTC/USDT.
        timeframe: as in 5m.
        address: where the exchange is, if not where Binance is.
        key, secret: of the account; a dry run needs none.
        dry_run: False trades.
        throttle_s: seconds between two rounds.
    """
    _base, _, quote = symbol.partition("/")
    ccxt: dict[str, Any] = {
        "enableRateLimit": not address,
        "options": {
            "fetchMarkets": {"types": ["spot"]},
            "fetchCurrencies": False,
            "fetchMargins": False,
        },
    }
    if address:
        names = {"public": "/api/v3", "private": "/api/v3", "v1": "/api/v1", "sapi": "/sapi/v1"}
        ccxt["urls"] = {"api": {name: address + path for name, path in names.items()}}
    side = {"price_side": "other", "use_order_book": False, "order_book_top": 1}
    return {
        "dry_run": dry_run,
        "dry_run_wallet": 10_000,
        "trading_mode": "spot",
        "margin_mode": "",
        "timeframe": timeframe,
        "stake_currency": quote,
        "stake_amount": "unlimited",
        "tradable_balance_ratio": 0.99,
        "max_open_trades": 1,
        "fiat_display_currency": "",
        "entry_pricing": side,
        "exit_pricing": side,
        "exchange": {
            "name": "binance",
            "key": key,
            "secret": secret,
            "ccxt_config": ccxt,
            "ccxt_async_config": {},
            "pair_whitelist": [symbol],
            "pair_blacklist": [],
            "enable_ws": False,
            "only_from_ccxt": True,
            "skip_open_order_update": False,
        },
        "pairlists": [{"method": "StaticPairList"}],
        "internals": {"process_throttle_secs": throttle_s, "heartbeat_interval": 60},
        "bot_name": "stratwright-bridge",
        "initial_state": "running",
    }
