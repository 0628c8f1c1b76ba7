"""Our own engine at the far end: generated strategies on both paths, and the sweep."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapters.loop.views import CandleView
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from Backtest.candles import COLUMNS, Candles
from Backtest.metrics.many_runs import grid
from Backtest.simbroker import SimBroker
from benchmarks.engine.worker import CAPITAL, FEE, OVERBOUGHT, OVERSOLD, STOP, TARGET, serve
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.program import compile_contract
from bot.contract.load import parse_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.proof.judge import judge_rules
from bot.sweep.runs import run_sweep

COMMON: dict[str, Any] = {
    "version": "1.0",
    "workflow": "bench",
    "task": "strategy",
    "kind": "strategy",
    "market": {"symbols": ["X/Y"], "timeframe": "5m"},
    "data": {"source": "csv", "path": "candles.csv"},
    "costs": {"commission": FEE, "slippage": 0.0},
    "capital": CAPITAL,
}
CONTRACTS: dict[str, dict[str, Any]] = {
    "dip": {
        "name": "DipWork",
        "indicators": {
            "rsi": {"function": "RSI", "timeperiod": 14},
            "trend": {"function": "SMA", "timeperiod": 200},
        },
        "rules": {
            "enter_long": f"rsi < {OVERSOLD:g} and close > trend",
            "exit_long": f"rsi > {OVERBOUGHT:g}",
        },
        "risk": {"stop_loss": STOP, "take_profit": TARGET, "size": {"equity": 0.9}},
    },
    "sweep": {
        "name": "SweepWork",
        "parameters": {"stop": {"default": STOP}, "level": {"default": 30}},
        "indicators": {
            "rsi": {"function": "RSI", "timeperiod": 14},
            "trend": {"function": "SMA", "timeperiod": 200},
        },
        "rules": {
            "enter_long": "rsi < level and close > trend",
            "exit_long": f"rsi > {OVERBOUGHT:g}",
        },
        "risk": {"stop_loss": "stop", "take_profit": TARGET, "size": {"equity": 0.9}},
    },
    "cross": {
        "name": "CrossWork",
        "indicators": {
            "fast": {"function": "SMA", "timeperiod": 20},
            "slow": {"function": "SMA", "timeperiod": 100},
        },
        "rules": {
            "enter_long": "crossed_above(fast, slow)",
            "exit_long": "crossed_below(fast, slow)",
        },
        "risk": {"stop_loss": 0.99, "size": {"equity": 0.9}},
    },
}
NAIVE = '''
class Naive(Strategy):
    """The same rules, asked for bar by bar with pandas' words."""

    signals = None

    def find_entries(self, df, indicators, idx):
        rsi, trend = indicators["rsi"].iloc[idx], indicators["trend"].iloc[idx]
        if rsi < 30.0 and df["close"].iloc[idx] > trend:
            return self._order(df, indicators, idx)
        return None

    def find_exits(self, position, df, indicators, idx):
        if indicators["rsi"].iloc[idx] > 70.0:
            return {"position_id": position["position_id"], "reason": "exit_long"}
        return None


def run_naive(adapter, df, cfg):
    return replay(Naive, adapter, df, {**DEFAULT_CFG, **cfg})
'''


def contract_of(work: str) -> Contract:
    """The contract of a work."""
    text = json.dumps({**COMMON, **CONTRACTS[work]}).encode()
    return parse_contract(text, "json", Path("bench.json")).strategy


def strategy_of(work: str) -> str:
    """The strategy file that our own template writes for a work."""
    files = TemplateCoder().write(contract_of(work), "bench.json").files
    (code,) = [text for path, text in files.items() if path.startswith("Backtest/codes/")]
    return code


def generated(work: str) -> dict[str, Any]:
    """The module of the strategy that our own template writes for a work."""
    code = strategy_of(work)
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(code + NAIVE, "generated.py", "exec"), namespace)  # noqa: S102
    return namespace


def frame_of(c: Mapping[str, Any]) -> pd.DataFrame:
    """The columns as the frame that our own reader gives a strategy."""
    return CandleView(candles_of(c)).to_pandas()


def maker(work: str, function: str = "run_backtest", *, compiled: bool) -> Any:
    """A work on one of the paths."""

    def make(c: Any) -> Any:
        module, frame = generated(work), frame_of(c)
        if compiled:
            import Backtest.compiled.kernel  # noqa: F401 - loading is the cold start's affair

        def run() -> Any:
            cfg = dict(module["DEFAULT_CFG"])
            broker = SimBroker(**broker_settings(cfg), compiled=compiled)
            module[function](SimBrokerAdapter(broker), frame, cfg)
            return lambda: [
                (t.entry_row, t.exit_row, t.entry_price, t.exit_price) for t in broker.get_trades()
            ]

        return run

    return make


def candles_of(c: Any) -> Candles:
    """The columns as candles."""
    return Candles(c["time"] // 1_000_000, *(c[name] for name in COLUMNS))


def of_contract(work: str) -> Any:
    """A contract's rules as `stratwright backtest CONTRACT` plays candles that it has read."""

    def make(c: Any) -> Any:
        import Backtest.compiled.kernel  # noqa: F401 - loading is the cold start's affair

        contract = contract_of(work)
        program, candles = compile_contract(contract), candles_of(c)
        data = MarketData({"X/Y": candles}, "", {})

        def run() -> Any:
            broker = judge_rules(contract, program, data).broker
            return lambda: [
                (t.entry_row, t.exit_row, t.entry_price, t.exit_price) for t in broker.get_trades()
            ]

        return run

    return make


def sweep_sets(stops: int = 10) -> list[dict[str, Any]]:
    """Sets of a stop and a threshold, ten thresholds for each stop."""
    return grid(stop=[0.01 + 0.003 * step for step in range(stops)], level=range(22, 32))


def sweep(c: Any) -> Any:
    """A hundred sets of a threshold and a stop, as `stratwright sweep` plays them."""
    candles, contract = candles_of(c), contract_of("sweep")
    program = compile_contract(contract)

    def run() -> Any:
        found = run_sweep(contract, program, candles, sweep_sets())
        return sum(int(row.figures["total_trades"] or 0) for row in found.rows)

    return run


WORKS = {
    "dip": maker("dip", compiled=True),
    "cross": maker("cross", compiled=True),
    "dip-event": maker("dip", compiled=False),
    "cross-event": maker("cross", compiled=False),
    "dip-naive": maker("dip", "run_naive", compiled=False),
    "dip-contract": of_contract("dip"),
    "cross-contract": of_contract("cross"),
    "sweep": sweep,
}

if __name__ == "__main__":
    np.seterr(all="ignore")
    path = sys.argv[1].removeprefix("ours")  # "", -event or -naive
    serve({name.removesuffix(path): make for name, make in WORKS.items() if name.endswith(path)})
