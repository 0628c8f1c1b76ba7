"""Cycles and candles without end: neither the list nor the memory grows.

`STRATWRIGHT_LONG_RUN=3000` takes that many rounds; the tests take a few.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from integration.adapter.loopback import HOUSE, Loopback, variables
from integration.publish import KEPT
from integration.schema.signal import RiskPlan, TakeProfit, TradingSignal
from integration.scripts.run_cycle import run_cycle
from integration.signal_gen import decision_id
from tests.redis_server import RedisServer, redis_server, redis_url

__all__ = ["redis_server", "redis_url"]
ROUNDS = int(os.environ.get("STRATWRIGHT_LONG_RUN", "60"))
GROWTH_KB = 4_000


def resident_kb() -> int:
    """Tells how much memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def always(candles: Sequence[dict[str, Any]], symbol: str) -> TradingSignal:
    """Decides to trade on every candle."""
    last = candles[-1]
    targets = [TakeProfit(price=last["close"] + 150 * n, size_pct=0.5) for n in (1, 2)]
    plan = {"initial_stop": last["close"] - 100, "take_profits": targets, "max_capital_pct": 1.0}
    return TradingSignal(
        decision_id=decision_id("long-run", symbol, last["timestamp"]),
        symbol=symbol,
        side="long",
        confidence=0.6,
        entry={"type": "market"},
        risk=RiskPlan.model_validate(plan),
        rationale="every candle",
    )


def test_cycles_do_not_grow(world: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    world.end("exchange")
    world.start_exchange("--at", str(ROUNDS + 250))  # each candle after the first breaks out
    seen: list[int] = []
    signals, clock = 0, [0.0]
    monkeypatch.setattr("integration.data._now", lambda: clock[0])
    with variables(world.environment):
        for number in range(ROUNDS):
            clock[0] = world.control(advance_s=300 if number else 0)["now"] / 1000
            signals += run_cycle(world.logs, always) is not None
            seen.append(resident_kb())
    assert signals == ROUNDS
    assert len((world.logs / "decision_log.csv").read_text().splitlines()) == signals + 1
    assert sorted(p.name for p in world.logs.iterdir()) == ["cycle.lock", "decision_log.csv"]
    half = seen[ROUNDS // 2]
    assert seen[-1] - half < GROWTH_KB, f"{seen[0]}, {half}, {seen[-1]} KB"


# Runs in Freqtrade's environment: the clock of the strategy and of its signals is driven.
STRATEGY = """
import json, os, sys, time
from datetime import UTC, datetime, timedelta
from pathlib import Path
import pandas as pd
from freqtrade.resolvers import StrategyResolver
from integration import publish
from integration.adapter.freqtrade_config import STRATEGIES, make_config
from integration.publish import publish_signal
from integration.schema.signal import TradingSignal
folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
config = make_config("BTC/USDT", "5m")
config |= {"strategy": "AgentBridgeStrategy", "strategy_path": str(STRATEGIES)}
config |= {"user_data_dir": folder, "candle_type_def": "spot", "runmode": "dry_run"}
strategy = StrategyResolver.load_strategy(config)
strategy.ft_bot_start()
strategy._log_results = lambda now: None  # no database here
now = time.time()
class Time:
    time = staticmethod(lambda: now)
publish.time = Time
class Trade:
    id, pair, is_open, is_short, leverage = 0, "BTC/USDT", True, False, 1.0
    def __init__(self, tag): self.enter_tag, self.kept = tag, {}
    def get_custom_data(self, key): return self.kept.get(key)
    def set_custom_data(self, key, value): self.kept[key] = value
targets = [{"price": 110.0, "size_pct": 0.5}, {"price": 120.0, "size_pct": 0.5}]
plan = {"initial_stop": 90.0, "take_profits": targets, "max_capital_pct": 0.05}
plain = {"symbol": "BTC/USDT", "side": "long", "confidence": 0.6, "entry": {"type": "market"}}
plain |= {"risk": plan, "rationale": "long run"}
entered, memory, pair = 0, [], {"pair": "BTC/USDT"}
prices = dict.fromkeys(("open", "high", "low", "close", "volume"), 100.0)
for number in range(rounds):
    now += 300
    when = datetime.fromtimestamp(now, UTC)
    signal = {**plain, "decision_id": f"d{number}", "timestamp": when}
    publish_signal(TradingSignal.model_validate(signal))
    times = pd.date_range(end=when, periods=60, freq="5min")
    df = strategy.advise_indicators(pd.DataFrame({"date": times, **prices}), pair)
    df = strategy.advise_entry(df, pair)
    tag = df["enter_tag"].iat[-1]
    for _ in range(2):  # the second is refused: it was acted on
        asked = {"rate": 100.0, "entry_tag": tag}
        entered += strategy.confirm_trade_entry("BTC/USDT", "market", 1.0, **asked)
    trade = Trade(tag)
    strategy.order_filled("BTC/USDT", trade)
    assert strategy.custom_stoploss("BTC/USDT", trade, current_rate=100.0)
    assert strategy.custom_exit("BTC/USDT", trade, current_rate=110.0) == "tp1"
    strategy.bot_loop_start(when)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory.append(pages * os.sysconf("SC_PAGE_SIZE") // 1024)
sizes = {"info": len(strategy.custom_info), "said": len(strategy._said)}
sizes |= {"claims": len(strategy.claims._rows), "lines": len(publish._said)}
print(json.dumps({"entered": entered, "half": memory[rounds // 2], "last": memory[-1], **sizes}))
"""


@pytest.mark.freqtrade
@pytest.mark.usefixtures("redis_url")
def test_the_strategy_does_not_grow(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"DEFAULT_SYMBOL": "BTC/USDT", "TIMEFRAME": "5m", "MAX_CAPITAL_PCT": "0.05"}
    names |= {"PYTHONPATH": str(HOUSE), "STRATWRIGHT_BRIDGE_LOGS": str(tmp_path)}
    done = subprocess.run(
        [
            f"{os.environ['STRATWRIGHT_FREQTRADE']}/bin/python",
            *("-W", "ignore", "-c", STRATEGY, str(tmp_path), str(ROUNDS)),
        ],
        env={**os.environ, **names, "REDIS_URL": redis_server.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["entered"] == ROUNDS
    assert (found["info"], found["said"], found["lines"]) == (1, 1, 0)
    assert found["claims"] == min(ROUNDS, 1000)
    assert found["last"] - found["half"] < GROWTH_KB, found
    assert redis_server.client().llen("signals") == min(ROUNDS, KEPT)
