"""Turns a strategy file into Freqtrade's own answers: its signals and its back-test.

Runs inside, with an interpreter that has Freqtrade and need not have anything of ours:
`python ask_freqtrade.py request.json answer.json`. No network: the only thing that Freqtrade
wants of an exchange is its list of markets, and this program answers that itself.

The request is one object: `strategy` (name), `folder` (where its file lies), `timeframe`,
`futures`, `fee`, `wallet`, `config` (more settings of Freqtrade), `pairs` (pair to `tick`, `step`,
`min_cost`, `tiers`: from a value on, its maintenance rate and amount; `candles`: columns by name,
`date` in milliseconds), `backtest` (whether to run it).
"""

import asyncio
import json
import logging
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

# What stands in JSON, or in Freqtrade's own configuration.
Data = dict[str, Any]
SIGNALS = ("enter_long", "exit_long", "enter_short", "exit_short")
COLUMNS = ("open", "high", "low", "close", "volume")


class _LoopWithoutSockets(asyncio.SelectorEventLoop):
    """Runs without a socket, which a sandbox may refuse: no other thread wakes this loop."""

    def _make_self_pipe(self) -> None:
        pass

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


class _PolicyWithoutSockets(asyncio.DefaultEventLoopPolicy):
    _loop_factory = _LoopWithoutSockets


def main(request_file: str, answer_file: str) -> None:
    """Answer the requests of a file, one or a list of them."""
    logging.disable(logging.CRITICAL)
    asyncio.set_event_loop_policy(_PolicyWithoutSockets())
    request = json.loads(Path(request_file).read_text("utf-8"))
    several = isinstance(request, list)
    answers = [_answer(one) for one in (request if several else [request])]
    text = json.dumps(answers if several else answers[0])
    Path(answer_file).write_text(text, "utf-8")


def _answer(request: Data) -> Data:
    _be_the_exchange(request)
    with tempfile.TemporaryDirectory() as folder:
        answer: Data = {"signals": _signals(request, _config(request, Path(folder)))}
        if request["backtest"]:
            _write_candles(request, Path(folder))
            answer["trades"] = _backtest(request, _config(request, Path(folder)))
        return answer


def frame_of(candles: dict[str, list[float]]) -> pd.DataFrame:
    """Candles as Freqtrade has them."""
    date = pd.to_datetime(pd.Series(candles["date"]), unit="ms", utc=True)
    return pd.DataFrame({"date": date, **{name: candles[name] for name in COLUMNS}}).astype(
        dict.fromkeys(COLUMNS, "float64")
    )


def _signals(request: Data, config: Data) -> Data:
    """Tells what the strategy marks, bar by bar, loaded by Freqtrade's own loader."""
    strategy = import_module("freqtrade.resolvers").StrategyResolver.load_strategy(config)
    strategy.ft_bot_start()
    signals: Data = {}
    for pair, market in request["pairs"].items():
        frame = frame_of(market["candles"])
        with_indicators = strategy.advise_indicators(frame, {"pair": pair})
        marked = strategy.ft_advise_signals(with_indicators, {"pair": pair})
        signals[pair] = {
            name: [bar for bar, mark in enumerate(marked[name]) if mark == 1]
            for name in SIGNALS
            if name in marked
        }
        if len(marked) != len(market["candles"]["date"]):
            raise ValueError(f"{pair}: the strategy changed the number of candles")
    return signals


def _tiers(market: Data) -> list[dict[str, float]]:
    """Gives the maintenance margins of a market; no leverage is used, so any size may be traded."""
    return [
        {
            "minNotional": value,
            "maxNotional": 1e15,
            "maintenanceMarginRate": rate,
            "maxLeverage": 1.0,
            "maintAmt": amount,
        }
        for value, rate, amount in market["tiers"]
    ]


def _backtest(request: Data, config: Data) -> list[Data]:
    backtesting = import_module("freqtrade.optimize.backtesting").Backtesting(config)
    if config["trading_mode"] == "futures":
        tiers = backtesting.exchange._leverage_tiers
        tiers |= {pair: _tiers(market) for pair, market in request["pairs"].items()}
    data, timerange = backtesting.load_bt_data()
    strategy = backtesting.strategylist[0]
    try:
        backtesting.backtest_one_strategy(strategy, data, timerange)
    except import_module("freqtrade.exceptions").OperationalException as error:
        if "No data left after adjusting for startup candles" in str(error):
            return []
        raise
    results = backtesting.all_bt_content[strategy.get_strategy_name()]["results"]
    backtesting.cleanup()
    return [
        {
            "pair": row["pair"],
            "open_date": int(row["open_date"].timestamp() * 1000),
            "close_date": int(row["close_date"].timestamp() * 1000),
            "is_short": bool(row["is_short"]),
            "open_rate": float(row["open_rate"]),
            "close_rate": float(row["close_rate"]),
            "amount": float(row["amount"]),
            "stake_amount": float(row["stake_amount"]),
            "profit_abs": float(row["profit_abs"]),
            "exit_reason": str(row["exit_reason"]),
            "stop_loss_abs": float(row["stop_loss_abs"]),
        }
        for _, row in results.iterrows()
    ]


def _config(request: Data, folder: Path) -> Data:
    enums = import_module("freqtrade.enums")
    futures = request["futures"]
    ccxt = {
        "enableRateLimit": False,
        "options": {
            "fetchMarkets": {"types": ["linear" if futures else "spot"]},
            "fetchCurrencies": False,
            "fetchMargins": False,
        },
    }
    quote = next(iter(request["pairs"])).partition("/")[2].partition(":")[0]
    return {
        "strategy": request["strategy"],
        "strategy_path": request["folder"],
        "timeframe": request["timeframe"],
        "trading_mode": "futures" if futures else "spot",
        "margin_mode": "isolated" if futures else "",
        "candle_type_def": enums.CandleType.FUTURES if futures else enums.CandleType.SPOT,
        "runmode": enums.RunMode.BACKTEST,
        "dry_run": True,
        "dry_run_wallet": request["wallet"],
        "fee": request["fee"],
        "stake_currency": quote,
        "stake_amount": "unlimited",
        "tradable_balance_ratio": 1.0,
        "amend_last_stake_amount": False,
        "last_stake_amount_min_ratio": 0.5,
        "dataformat_ohlcv": "feather",
        "datadir": folder,
        "user_data_dir": folder,
        "export": "none",
        "pairlists": [{"method": "StaticPairList"}],
        "entry_pricing": {"price_side": "other", "use_order_book": True, "order_book_top": 1},
        "exit_pricing": {"price_side": "other", "use_order_book": True, "order_book_top": 1},
        "exchange": {
            "name": "binance",
            "pair_whitelist": list(request["pairs"]),
            "enable_ws": False,
            "only_from_ccxt": True,
            "ccxt_config": ccxt,
            "ccxt_async_config": ccxt,
        },
        **request.get("config", {}),
    }


def _write_candles(request: Data, folder: Path) -> None:
    kinds = import_module("freqtrade.enums").CandleType
    handler = import_module("freqtrade.data.history").get_datahandler(folder, "feather")
    timeframe = request["timeframe"]
    kind = kinds.FUTURES if request["futures"] else kinds.SPOT
    for pair, market in request["pairs"].items():
        frame = frame_of(market["candles"])
        handler.ohlcv_store(pair, timeframe, frame, kind)
        if request["futures"]:
            # Funding is left out of the comparison: its rate is nought.
            hours = pd.date_range(frame["date"].min(), frame["date"].max(), freq="h")
            rates = pd.DataFrame({"date": hours, "funding_rate": 0.0})
            marks = pd.DataFrame({"date": hours, **dict.fromkeys(COLUMNS, 1.0)})
            handler.ohlcv_store(pair, "1h", rates, kinds.FUNDING_RATE)
            handler.ohlcv_store(pair, "1h", marks, kinds.MARK)


def _be_the_exchange(request: Data) -> None:
    """Answer what Freqtrade asks its exchange, in place of the network: the list of markets."""
    markets = _markets(request)

    def fetch(self: object, url: str, *rest: object) -> Data:
        if "exchangeInfo" not in url:
            raise ValueError(f"this exchange knows its markets only, not {url}")
        return markets

    async def fetch_later(self: object, url: str, *rest: object) -> Data:
        return fetch(self, url, *rest)

    import_module("ccxt").binance.fetch = fetch
    import_module("ccxt.async_support").binance.fetch = fetch_later


def _markets(request: Data) -> Data:
    """Binance's `exchangeInfo`, as far as Freqtrade reads it."""
    symbols = []
    for pair, market in request["pairs"].items():
        base, _, rest = pair.partition("/")
        quote = rest.partition(":")[0]
        step, tick = market["step"], market["tick"]
        symbol = {
            "symbol": f"{base}{quote}",
            "status": "TRADING",
            "baseAsset": base,
            "quoteAsset": quote,
            "isSpotTradingAllowed": True,
            "permissions": ["SPOT"],
            "orderTypes": ["LIMIT", "MARKET"],
            "filters": [
                {"filterType": "PRICE_FILTER", "tickSize": tick, "minPrice": tick},
                {"filterType": "LOT_SIZE", "stepSize": step, "minQty": step, "maxQty": "1e12"},
                {"filterType": "MIN_NOTIONAL", "notional": market["min_cost"]},
                {"filterType": "NOTIONAL", "minNotional": market["min_cost"]},
            ],
        }
        if request["futures"]:
            symbol |= {"pair": symbol["symbol"], "contractType": "PERPETUAL", "marginAsset": quote}
        symbols.append(symbol)
    return {"timezone": "UTC", "serverTime": 0, "rateLimits": [], "symbols": symbols}


if __name__ == "__main__":
    main(*sys.argv[1:3])
