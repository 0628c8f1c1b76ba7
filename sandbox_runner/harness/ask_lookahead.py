"""Turns a Freqtrade strategy and candles into its columns as data, on histories of several lengths.

Runs inside, as `python -m sandbox_runner.harness.ask_lookahead`, with an interpreter that has
Freqtrade. It reads /job/lookahead.json (`folder`, `pair`, `candles`, `workers`, `runs`: each a
strategy's name, the number of candles and the bars that are asked about), and writes
/out/lookahead.json:

    {"runs": [{"columns": {"enter_long": [1, null, ...], "rsi": [41.5, ...]}}, {"error": "..."}]}

one value for every bar that was asked about. As in `ask_strategy.py`, every run is a fresh child of
a process that has Freqtrade loaded and the strategy not, and it is closed to all others.

The candles are dated anew in the strategy's own timeframe. Pairs and timeframes that the strategy
asks for beside its own are made of the same candles: a longer one has a candle as soon as that is
complete, and not before.
"""

import gc
import json
import logging
import math
import tempfile
import warnings
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sandbox_runner.harness.blind import blind, landlock_version
from sandbox_runner.harness.fresh_children import answer_all
from sandbox_runner.harness.packed_candles import read_candles

# What stands in JSON, or in Freqtrade's own configuration.
Data = dict[str, Any]
REQUEST, ANSWER = "lookahead.json", "lookahead.json"
_WARM = ("talib.abstract", "technical.indicators", "technical.util", "technical.qtpylib")
_FIRST = "2024-01-01"
_OURS = """
import talib.abstract as ta
from freqtrade.strategy import IStrategy, IntParameter, informative, merge_informative_pair

class Warm(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "5m"
    stoploss = -0.1
    minimal_roi = {"0": 1}
    period = IntParameter(5, 20, default=10, space="buy")

    @informative("15m")
    def populate_indicators_slow(self, dataframe, metadata):
        dataframe["rsi"] = ta.RSI(dataframe, timeperiod=5)
        return dataframe

    def populate_indicators(self, dataframe, metadata):
        dataframe["rsi"] = ta.RSI(dataframe, timeperiod=self.period.value)
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        dataframe.loc[dataframe["rsi"] > 30, ["enter_long", "enter_tag"]] = (1, "warm")
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        return dataframe
"""
_MOST_COLUMNS = 2000
_TEXT = 80


def main(job: Path = Path("/job"), out: Path = Path("/out")) -> None:
    """Answer the request of a job."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    request = json.loads((job / REQUEST).read_text("utf-8"))
    _warm_up()
    questions = [partial(_run, job, request, run) for run in request["runs"]]
    answer_all(questions, request["workers"], out / ANSWER)


def _warm_up() -> None:
    """Let Freqtrade load and run a strategy of ours, so that no run pays for its imports."""
    for name in _WARM:
        with suppress(ImportError):
            import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "warm.py").write_text(_OURS, "utf-8")
        times = pd.Series(range(60), dtype="float64") + 100
        frame = pd.DataFrame(dict.fromkeys(("open", "high", "low", "close", "volume"), times))
        _columns("Warm", "A/B", Path(folder), frame)
    gc.collect()
    gc.freeze()


def _run(job: Path, request: Data, run: Data) -> Data:
    try:
        frame = read_candles(job / request["candles"], run["bars"])
        folder = job / request["folder"]
        if landlock_version():
            blind(folder)
        columns = _columns(run["strategy"], request["pair"], folder, frame)
        asked = run["at"]
        return {"columns": {name: _plain(columns[name], asked) for name in columns}}
    except BaseException as error:  # SystemExit too
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def _columns(name: str, pair: str, folder: Path, candles: pd.DataFrame) -> Data:
    """Gives every column of the frame that the strategy leaves."""
    resolver = import_module("freqtrade.resolvers.strategy_resolver").StrategyResolver
    bars = len(candles)
    strategy = resolver.load_strategy(_config(name, pair, folder))
    helper = import_module("freqtrade.exchange.exchange_utils_timeframe")
    # Freqtrade would take it from its configuration.
    strategy.timeframe = getattr(strategy, "timeframe", None) or "5m"
    step = pd.Timedelta(minutes=helper.timeframe_to_minutes(strategy.timeframe))
    frame = pd.DataFrame({"date": pd.date_range(_FIRST, periods=bars, freq=step, tz="UTC")})
    for price in ("open", "high", "low", "close", "volume"):
        frame[price] = candles[price].to_numpy(dtype="float64")
    strategy.dp = _Provider(frame.copy(), step, pair)
    strategy.ft_bot_start()
    marked = strategy.advise_indicators(frame, {"pair": pair})
    marked = strategy.ft_advise_signals(marked, {"pair": pair})
    if len(marked) != bars:
        raise ValueError("the strategy changed the number of candles")
    if len(marked.columns) > _MOST_COLUMNS:
        raise ValueError(f"the strategy makes more than {_MOST_COLUMNS} columns")
    kept = [column for column in marked.columns if isinstance(column, str)]
    return {column: marked[column] for column in kept if marked[column].ndim == 1}


def _config(name: str, pair: str, folder: Path) -> Data:
    enums = import_module("freqtrade.enums")
    return {
        "strategy": name,
        "strategy_path": str(folder),
        "user_data_dir": folder,
        # Where shorts are allowed every strategy loads; its columns are the same.
        "trading_mode": enums.TradingMode.FUTURES,
        "margin_mode": enums.MarginMode.ISOLATED,
        "candle_type_def": enums.CandleType.FUTURES,
        "runmode": enums.RunMode.BACKTEST,
        "dry_run": True,
        "stake_currency": pair.partition("/")[2],
        "stake_amount": 100,
        "max_open_trades": 3,
        "exchange": {"name": "binance", "pair_whitelist": [pair]},
    }


class _Provider:
    """Holds what Freqtrade's DataProvider offers to a strategy, made of one history."""

    def __init__(self, frame: pd.DataFrame, step: pd.Timedelta, pair: str) -> None:
        self._frame = frame
        self._step = step
        self._pair = pair
        self.runmode = import_module("freqtrade.enums").RunMode.BACKTEST

    def get_pair_dataframe(
        self, pair: str, timeframe: str | None = None, candle_type: str = ""
    ) -> pd.DataFrame:
        """Gives the candles of a pair in a timeframe, the complete ones."""
        del pair, candle_type
        helper = import_module("freqtrade.exchange.exchange_utils_timeframe")
        wanted = pd.Timedelta(minutes=helper.timeframe_to_minutes(timeframe)) if timeframe else None
        if wanted is None or wanted <= self._step:
            return self._frame.copy()
        rules = {"open": "first", "high": "max", "low": "min", "close": "last", "volume": "sum"}
        made = self._frame.resample(wanted, on="date").agg(rules).reset_index()
        end = self._frame["date"].iloc[-1] + self._step
        complete: pd.DataFrame = made[made["date"] + wanted <= end].reset_index(drop=True)
        return complete

    ohlcv = historic_ohlcv = get_pair_dataframe

    def get_analyzed_dataframe(self, pair: str, timeframe: str) -> tuple[pd.DataFrame, object]:
        """Nothing is analysed yet while a strategy computes its indicators."""
        del pair, timeframe
        return pd.DataFrame(), self._frame["date"].iloc[0]

    def current_whitelist(self) -> list[str]:
        return [self._pair]

    @property
    def available_pairs(self) -> list[tuple[str, str]]:
        return [(self._pair, "")]

    def market(self, pair: str) -> Data:
        base, _, quote = pair.partition("/")
        return {"symbol": pair, "base": base, "quote": quote, "active": True}

    def ticker(self, pair: str) -> Data:
        """A back-test has no ticker."""
        del pair
        return {}

    orderbook = ticker


def _plain(column: pd.Series, asked: list[int]) -> list[object]:
    values = column.iloc[asked]
    if values.dtype.kind == "b":
        return [bool(value) for value in values]
    if values.dtype.kind in "iuf":
        return [_number(float(value)) for value in values]
    return [None if _is_missing(value) else str(value)[:_TEXT] for value in values]


def _number(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float | np.floating) and math.isnan(value))


if __name__ == "__main__":
    main()
