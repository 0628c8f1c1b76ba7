"""raptorbt: its array mode with its own indicators, and its batch mode."""

from typing import Any

import raptorbt  # type: ignore[import-not-found]
from worker import (  # type: ignore[import-not-found]
    CAPITAL,
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    crossed_above,
    serve,
)


def _config(*, levels: bool) -> Any:
    config = raptorbt.BacktestConfig(
        initial_capital=CAPITAL, fees=FEE, upon_bar_close=False, periods_per_year=105_120.0
    )
    if levels:
        config.set_fixed_stop(STOP)
        config.set_fixed_target(TARGET)
    return config


def _prices(c: Any) -> tuple[Any, ...]:
    return c["time"], c["open"], c["high"], c["low"], c["close"], c["volume"]


def _finished(result: Any) -> Any:
    metrics = result.metrics
    assert metrics.sharpe_ratio is not None  # noqa: S101 - the report is part of the work
    return lambda: [(t.entry_idx, t.exit_idx, t.entry_price, t.exit_price) for t in result.trades()]


def dip(c: Any) -> Any:
    def run() -> Any:
        rsi, trend = raptorbt.rsi(c["close"], 14), raptorbt.sma(c["close"], 200)
        enter, leave = (rsi < OVERSOLD) & (c["close"] > trend), rsi > OVERBOUGHT
        config = _config(levels=True)
        return _finished(
            raptorbt.run_single_backtest(*_prices(c), enter, leave, 1, 1.0, "X/Y", config)
        )

    return run


def cross(c: Any) -> Any:
    def run() -> Any:
        fast, slow = raptorbt.sma(c["close"], 20), raptorbt.sma(c["close"], 100)
        enter, leave = crossed_above(fast, slow), crossed_above(slow, fast)
        config = _config(levels=False)
        return _finished(
            raptorbt.run_single_backtest(*_prices(c), enter, leave, 1, 1.0, "X/Y", config)
        )

    return run


def sweep(c: Any) -> Any:
    def run() -> Any:
        rsi, trend = raptorbt.rsi(c["close"], 14), raptorbt.sma(c["close"], 200)
        up, leave = c["close"] > trend, rsi > OVERBOUGHT
        items = []
        for stop in range(10):
            config = _config(levels=False)
            config.set_fixed_stop(0.01 + 0.003 * stop)
            config.set_fixed_target(TARGET)
            items += [
                raptorbt.BatchSingleItem(
                    f"{stop}-{level}", (rsi < 22 + level) & up, leave, config=config
                )
                for level in range(10)
            ]
        played = raptorbt.batch_single_backtest(*_prices(c), items, _config(levels=False))
        return sum(result.metrics.total_trades for _, result in played)

    return run


serve({"dip": dip, "cross": cross, "sweep": sweep})
