"""freqtrade: its own Backtesting, with a strategy file as its users write them.

It asks an exchange for its markets before it starts; a loopback server answers that one question.
Its ROI counts after fees, so the target of 4 % in price is given as the ROI that means the same.
"""

import json
import logging
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
from freqtrade.configuration import Configuration  # type: ignore[import-not-found]
from freqtrade.enums import RunMode  # type: ignore[import-not-found]
from freqtrade.optimize.backtesting import Backtesting  # type: ignore[import-not-found]
from freqtrade.optimize.optimize_reports import (  # type: ignore[import-not-found]
    generate_backtest_stats,
)
from worker import (  # type: ignore[import-not-found]
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    serve,
)

MARKETS = {
    "timezone": "UTC",
    "serverTime": 0,
    "rateLimits": [],
    "symbols": [
        {
            "symbol": "XYUSDT",
            "status": "TRADING",
            "baseAsset": "XY",
            "quoteAsset": "USDT",
            "baseAssetPrecision": 8,
            "quotePrecision": 8,
            "isSpotTradingAllowed": True,
            "permissions": ["SPOT"],
            "filters": [
                {"filterType": "PRICE_FILTER", "minPrice": "0.01", "tickSize": "0.01"},
                {"filterType": "LOT_SIZE", "minQty": "0.000001", "stepSize": "0.000001"},
            ],
        }
    ],
}
STRATEGY = """
import talib
from freqtrade.strategy import IStrategy


class Work(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "5m"
    startup_candle_count = 0
    process_only_new_candles = False
    stoploss = {stop}
    minimal_roi = {roi}

    def populate_indicators(self, dataframe, metadata):
{indicators}
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        dataframe.loc[{enter}, "enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        dataframe.loc[{leave}, "exit_long"] = 1
        return dataframe
"""
A, B = 'dataframe["a"]', 'dataframe["b"]'
WAS_A, WAS_B = f"{A}.shift()", f"{B}.shift()"
WORKS: dict[str, dict[str, Any]] = {
    "dip": {
        "stop": -STOP,
        "roi": {"0": (1 + TARGET) * (1 - FEE) / (1 + FEE) - 1},
        "indicators": ("RSI", 14, "SMA", 200),
        "enter": f'({A} < {OVERSOLD}) & (dataframe["close"] > {B})',
        "leave": f"{A} > {OVERBOUGHT}",
    },
    "cross": {
        "stop": -0.99,
        "roi": {"0": 100.0},
        "indicators": ("SMA", 20, "SMA", 100),
        "enter": f"({A} > {B}) & ({WAS_A} <= {WAS_B})",
        "leave": f"({A} < {B}) & ({WAS_A} >= {WAS_B})",
    },
}


class Exchange(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(MARKETS).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _exchange() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _config(folder: Path) -> Any:
    address = _exchange()
    api = dict.fromkeys(("public", "private", "v1", "sapi"), f"{address}/api/v3")
    ccxt = {
        "urls": {"api": api},
        "options": {
            "fetchMarkets": {"types": ["spot"]},
            "fetchCurrencies": False,
            "fetchMargins": False,
        },
        "enableRateLimit": False,
    }
    exchange = {
        "name": "binance",
        "enable_ws": False,
        "only_from_ccxt": True,
        "pair_whitelist": ["XY/USDT"],
        "ccxt_config": ccxt,
        "ccxt_async_config": ccxt,
    }
    told = {
        "exchange": exchange,
        "stake_currency": "USDT",
        "stake_amount": 10_000,
        "dry_run": True,
        "dry_run_wallet": 1_000_000_000,
        "max_open_trades": 1,
        "fee": FEE,
        "pairlists": [{"method": "StaticPairList"}],
        "entry_pricing": {"price_side": "other"},
        "exit_pricing": {"price_side": "other"},
    }
    path = folder / "config.json"
    path.write_text(json.dumps(told), "utf-8")
    arguments = {
        "config": [str(path)],
        "user_data_dir": str(folder),
        "datadir": str(folder / "data" / "binance"),
        "strategy": "Work",
        "strategy_path": str(folder / "strategies"),
        "timeframe": "5m",
        "backtest_cache": "none",
        "export": "none",
    }
    return Configuration(arguments, RunMode.BACKTEST).get_config()


def _write(folder: Path, c: Any, work: dict[str, Any]) -> None:
    first, one, second, two = work["indicators"]
    lines = (
        f'a"] = talib.{first}(dataframe["close"], {one})',
        f'b"] = talib.{second}(dataframe["close"], {two})',
    )
    indicators = "\n".join(f'        dataframe["{line}' for line in lines)
    (folder / "strategies").mkdir()
    text = STRATEGY.format(**{**work, "indicators": indicators})
    (folder / "strategies" / "work.py").write_text(text, "utf-8")
    data = folder / "data" / "binance"
    data.mkdir(parents=True)
    frame = pd.DataFrame({"date": pd.DatetimeIndex(c["time"], tz="UTC").as_unit("ms")})
    for name in ("open", "high", "low", "close", "volume"):
        frame[name] = c[name]
    frame.to_feather(data / "XY_USDT-5m.feather")


def _maker(name: str) -> Any:
    def make(c: Any) -> Any:
        logging.disable(logging.CRITICAL)
        folder = Path(tempfile.mkdtemp())
        _write(folder, c, WORKS[name])
        engine = Backtesting(_config(folder))
        data, timerange = engine.load_bt_data()
        (strategy,) = engine.strategylist
        rows = {moment: row for row, moment in enumerate(pd.DatetimeIndex(c["time"], tz="UTC"))}

        def run() -> Any:
            first, last = engine.backtest_one_strategy(strategy, data, timerange)
            content = engine.all_bt_content
            stats = generate_backtest_stats(data, content, min_date=first, max_date=last)
            assert stats["strategy"]  # noqa: S101 - the report is part of the work
            found = content["Work"]["results"]
            dates = ("open_date", "close_date")
            bars = [[rows[moment] for moment in found[date]] for date in dates]
            prices = [found[rate].tolist() for rate in ("open_rate", "close_rate")]
            return lambda: list(zip(*bars, *prices, strict=True))

        return run

    return make


serve({name: _maker(name) for name in WORKS})
