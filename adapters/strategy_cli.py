"""Runs the command line of every strategy file: a back-test on candles, or why not live.

    python Backtest/codes/<file>.py --mode backtest --data data.csv --out results/
    python Backtest/codes/<file>.py --mode live --approval-token human_verified_<timestamp>

Exit codes: 0 done, 2 bad input, 3 a bug (with its traceback), 5 safety stop.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from adapters.loop.feeds import setting
from adapters.orders import StrategyDict
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.candles import check_spacing, columns_of, read_candles
from Backtest.sim_errors import BacktestError, CandleError, nearest
from Backtest.sim_settings import SETTING_NAMES, load_settings
from Backtest.simbroker import SimBroker

if TYPE_CHECKING:
    import pandas as pd

OK, BAD_INPUT, BUG, SAFETY_STOP = 0, 2, 3, 5
TOKEN = re.compile(r"human_verified_[1-9][0-9]{9}", re.ASCII)
LIVE_MISSING = (
    "live trading from a strategy file is closed: it needs a signed approval record, verified by"
    " the live host. Nothing was sent to any broker"
)


class _Parser(argparse.ArgumentParser):
    """Argument errors in one line, without the usage page."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"error: {message}. See --help\n")


def main(
    strategy_type: Callable[[StrategyDict], object],
    run_backtest: Callable[..., StrategyDict],
    run_live: Callable[..., object],
    default_cfg: Mapping[str, object],
    argv: Sequence[str] | None = None,
) -> None:
    """Runs a strategy file's command line, by its own class, functions and settings.

    Raises:
        SystemExit: with the exit code, unless it is 0.
    """
    del run_live  # a strategy file cannot start it: see LIVE_MISSING
    arguments = _parser(strategy_type).parse_args(argv)
    try:
        if arguments.mode == "live":
            code = _refuse_live(arguments.approval_token)
        else:
            code = _backtest(run_backtest, dict(default_cfg), arguments)
    except BacktestError as error:
        code = _complain(str(error))
    except OSError as error:
        code = _complain(f"{error.strerror or error}: {error.filename or arguments.out}")
    except Exception:
        traceback.print_exc()
        sys.stderr.write("error: the strategy or the simulator failed; the traceback is above\n")
        code = BUG
    if code != OK:
        raise SystemExit(code)


def _parser(strategy_type: Callable[[StrategyDict], object]) -> argparse.ArgumentParser:
    parser = _Parser(description=(strategy_type.__doc__ or "A strategy.").strip().splitlines()[0])
    add = parser.add_argument
    add("--mode", choices=("backtest", "live"), default="backtest")
    add("--data", help="candles: csv, feather or parquet; {symbol} stands for each symbol")
    add("--out", default="results", help="folder for trades.csv, equity_curve.csv, summary.json")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting")
    add("--config", help="simulator settings in the form of Backtest/configs.yaml")
    add("--json", action="store_true", help="print the result as JSON")
    add("--approval-token", help="human_verified_<timestamp>, for --mode live")
    return parser


def _complain(message: str) -> int:
    sys.stderr.write(f"error: {message}\n")
    return BAD_INPUT


def _refuse_live(token: str | None) -> int:
    if token is None:
        fault = "no --approval-token was given (human_verified_<timestamp>); "
    elif TOKEN.fullmatch(token) is None:
        fault = "the --approval-token is not human_verified_ and ten digits (Unix seconds); "
    else:
        fault = "the --approval-token alone is only a label; "
    sys.stderr.write(f"safety stop: {fault}{LIVE_MISSING}\n")
    return SAFETY_STOP


def _backtest(
    run_backtest: Callable[..., StrategyDict],
    default_cfg: StrategyDict,
    arguments: argparse.Namespace,
) -> int:
    """Back-test, write the files, say where they are."""
    if not arguments.data:
        return _complain("--mode backtest needs --data FILE")
    cfg = _changed(default_cfg, arguments.set)
    adapter = SimBrokerAdapter(SimBroker(**broker_settings(cfg, arguments.config)))
    candles = read_all(arguments.data, cfg)
    report = run_backtest(adapter, candles, cfg)
    files = adapter.save_report(arguments.out)
    if arguments.json:
        sys.stdout.write(json.dumps({"summary": report, "files": files}, allow_nan=False) + "\n")
    else:
        sys.stdout.write(short_report(report, files))
    return OK


def _changed(cfg: StrategyDict, changes: Sequence[str]) -> StrategyDict:
    """Apply KEY=VALUE arguments; values are JSON, else text."""
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise BacktestError(f"--set {change!r} has no value", "Write --set key=value")
        if key not in cfg:
            raise BacktestError(f"the strategy has no setting {key!r}", nearest(key, cfg))
        try:
            cfg[key] = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError:
            cfg[key] = text
    return cfg


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities, which Python's JSON would read."""
    raise BacktestError(f"{name} is no value for a setting", "Give a finite number")


def broker_settings(cfg: Mapping[str, object], config: str | None = None) -> StrategyDict:
    """Gives the simulator's settings: the strategy's own, then what a config file changes."""
    settings = {name: setting(cfg, name) for name in SETTING_NAMES}
    given = {name: value for name, value in settings.items() if value is not None}
    if config is not None:
        given.update(load_settings(config))
    return given


def read_all(data: str, cfg: Mapping[str, object]) -> pd.DataFrame:
    """Read the candles of every symbol; several files become one frame with a symbol column."""
    if "{symbol}" not in data:
        return _read_one(data, cfg)
    import pandas as pd

    symbols = [str(name) for name in setting(cfg, "symbols", ())]
    if not symbols:
        symbols = [str(setting(cfg, "symbol", ""))]
    frames = []
    for symbol in symbols:
        stem = re.sub(r"[^A-Za-z0-9.-]", "_", symbol)
        frames.append(_read_one(data.replace("{symbol}", stem), cfg).assign(symbol=symbol))
    return pd.concat(frames, ignore_index=True)


def _read_one(path: str, cfg: Mapping[str, object]) -> pd.DataFrame:
    """Read a file of candles; warn if they are not of the timeframe in the settings."""
    frame = read_candles(path)
    timeframe = setting(cfg, "timeframe")
    if timeframe is not None and "symbol" not in frame.columns:
        try:
            check_spacing(columns_of(frame), str(timeframe), path)
        except CandleError as error:
            sys.stderr.write(f"warning: {error.message}\n")
    return frame


def short_report(report: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Gives a few lines for people."""

    def percent(value: float | None) -> str:
        return "-" if value is None else f"{value:.2%}"

    band = report["ambiguity_band"]
    won = report["win_rate"] if report["total_trades"] else None
    ratio = "-" if report["sharpe"] is None else f"{report['sharpe']:.2f}"
    lines = [
        f"bars          {report['bars']}  ({report['start']} to {report['end']})",
        f"trades        {report['total_trades']}, won {percent(won)}",
        f"profit        {report['total_pnl']:.2f}  return {percent(report['return'])}"
        f"  (buy and hold {percent(report['buy_and_hold']['return'])})",
        f"drawdown      {percent(report['max_drawdown'])}  sharpe {ratio}",
    ]
    if band["ambiguous_trades"]:
        lines.append(
            f"ambiguous     stop and target in one candle: {band['ambiguous_trades']} trades,"
            f" so the profit is {band['worst_pnl']:.2f} to {band['best_pnl']:.2f}"
        )
    if report["forced_exits"]:
        lines.append(
            f"open          {report['forced_exits']} at the end: in the return, not in the profit"
        )
    if report["orders_rejected"]:
        lines.append(f"rejected      {report['orders_rejected']} orders")
    lines += [f"wrote         {Path(path)}" for path in files.values()]
    return "\n".join(lines) + "\n"
