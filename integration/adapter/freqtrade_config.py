"""Makes the Freqtrade configuration that the bridge runs with."""

from pathlib import Path
from typing import Any

STRATEGIES = Path(__file__).resolve().parents[1] / "strategy"
STRATEGY = "AgentBridgeStrategy"
# What ccxt calls the parts of Binance's interface, and their paths.
PATHS = {"public": "/api/v3", "private": "/api/v3", "v1": "/api/v1", "sapi": "/sapi/v1"} | {
    f"fapi{kind}{version}": f"/fapi/{version.lower() or 'v1'}"
    for kind in ("Public", "Private")
    for version in ("", "V2", "V3")
}


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
    """Gives a configuration for one symbol of Binance; futures have isolated margin.

    Args:
        symbol: as in BTC/USDT, or BTC/USDT:USDT for futures.
        timeframe: as in 5m.
        address: where the exchange is, if not where Binance is.
        key, secret: of the account; a dry run needs none.
        dry_run: False trades.
        throttle_s: seconds between two rounds.
    """
    quote, futures, _ = symbol.partition("/")[2].partition(":")
    ccxt: dict[str, Any] = {
        "enableRateLimit": not address,
        "options": {
            "fetchMarkets": {"types": ["linear" if futures else "spot"]},
            "fetchCurrencies": False,
            "fetchMargins": False,
        },
    }
    if address:
        ccxt["urls"] = {"api": {name: address + path for name, path in PATHS.items()}}
    side = {"price_side": "other", "use_order_book": bool(futures), "order_book_top": 1}
    return {
        "dry_run": dry_run,
        "dry_run_wallet": 10_000,
        "trading_mode": "futures" if futures else "spot",
        "margin_mode": "isolated" if futures else "",
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
