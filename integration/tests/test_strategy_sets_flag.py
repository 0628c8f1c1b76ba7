"""The strategy in Freqtrade's own environment, on a frame of candles and a real Redis."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from integration.adapter.loopback import HOUSE
from integration.publish import publish_signal
from integration.schema.signal import TradingSignal
from integration.tests.test_signal_roundtrip import plain
from tests.redis_server import RedisServer

# Each question is one JSON line on stdin; answers come back the same way.
PROBE = """
import json, sys
from pathlib import Path
import pandas as pd
from freqtrade.resolvers import StrategyResolver
from integration.adapter.freqtrade_config import STRATEGIES, make_config
config = make_config("BTC/USDT", "5m")
config |= {"strategy": "AgentBridgeStrategy", "strategy_path": str(STRATEGIES)}
config |= {"user_data_dir": Path(sys.argv[1]), "candle_type_def": "spot", "runmode": "dry_run"}
strategy = StrategyResolver.load_strategy(config)
strategy.ft_bot_start()
def frame():
    times = pd.date_range("2026-11-01", periods=60, freq="5min", tz="UTC")
    prices = dict.fromkeys(("open", "high", "low", "close", "volume"), 1.0)
    return pd.DataFrame({"date": times, **prices})
class Wallets:
    def get_total_stake_amount(self): return 1000.0
class Fake:
    id, pair, enter_tag, is_open, is_short, leverage = 1, "BTC/USDT", "", True, False, 1.0
    kept = {}
    def get_custom_data(self, key): return self.kept.get(key)
    def set_custom_data(self, key, value): self.kept[key] = value
for line in sys.stdin:
    ask = json.loads(line)
    trade = Fake(); trade.enter_tag = ask.get("tag"); trade.kept = ask.get("kept", {})
    kind = ask["ask"]
    if kind == "entry":
        pair = {"pair": ask["pair"]}
        df = strategy.advise_entry(strategy.advise_indicators(frame(), pair), pair)
        answer = {"flags": df["enter_long"].tolist(), "tag": df["enter_tag"].iat[-1]}
        answer["info"] = strategy.custom_info.get(ask["pair"])
    elif kind == "confirm":
        asked = {"rate": ask["rate"], "entry_tag": ask["tag"]}
        answer = strategy.confirm_trade_entry("BTC/USDT", "market", 1.0, **asked)
    elif kind == "stake":
        strategy.wallets = Wallets() if ask.get("wallets", True) else None
        asked = {"entry_tag": ask["tag"], "min_stake": ask["least"], "max_stake": 900.0}
        answer = strategy.custom_stake_amount("BTC/USDT", **asked)
    elif kind == "stop":
        answer = strategy.custom_stoploss("BTC/USDT", trade, current_rate=ask["rate"])
    elif kind == "exit":
        answer = strategy.custom_exit("BTC/USDT", trade, current_rate=ask["rate"])
    print(json.dumps(answer), flush=True)
"""


class Probe:
    """The strategy, asked over pipes."""

    def __init__(self, folder: Path, environment: str) -> None:
        with (folder / "said.txt").open("a") as said:
            self.child = subprocess.Popen(
                [f"{environment}/bin/python", "-W", "ignore", "-c", PROBE, str(folder)],
                env={
                    **os.environ,
                    "PYTHONPATH": str(HOUSE),
                    "STRATWRIGHT_BRIDGE_LOGS": str(folder),
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        self.folder = folder

    def ask(self, **question: Any) -> Any:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        assert answer, self.said()
        return json.loads(answer)

    def said(self) -> str:
        return (self.folder / "said.txt").read_text()

    def end(self) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        self.child.wait()
        self.child.stdout.close()


def signal(name: str, age_s: float = 0.0, **changes: Any) -> TradingSignal:
    time = datetime.now(UTC) - timedelta(seconds=age_s)
    return TradingSignal.model_validate(plain(decision_id=name, timestamp=time, **changes))


def test_strategy_sets_flag(
    tmp_path: Path, settings: None, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = os.environ.get("STRATWRIGHT_FREQTRADE")
    if not environment:
        pytest.skip("needs Freqtrade: `make freqtrade`, or STRATWRIGHT_FREQTRADE=<environment>")
    monkeypatch.setenv("REDIS_URL", redis_server.url)
    probe = Probe(tmp_path, environment)
    nothing = {"flags": [0] * 60, "tag": None}

    def entry(pair: str = "BTC/USDT") -> dict[str, Any]:
        found: dict[str, Any] = probe.ask(ask="entry", pair=pair)
        return {key: found[key] for key in ("flags", "tag")}

    assert entry() == nothing
    publish_signal(signal("d1"))
    found = probe.ask(ask="entry", pair="BTC/USDT")
    assert found["flags"] == [0] * 59 + [1]
    assert found["tag"] == "d1"
    assert found["info"] == {"initial_stop": 90.0, "tp1": 110.0, "tp2": 120.0, "decision_id": "d1"}
    # Another pair, even with a signal of its own, is not what was configured.
    publish_signal(signal("e1", symbol="ETH/USDT"))
    assert entry("ETH/USDT") == nothing

    # The stake is the signal's part of the capital, and nothing where that is too little.
    assert probe.ask(ask="stake", tag="d1", least=10.0) == 50.0
    assert probe.ask(ask="stake", tag="d1", least=60.0) == 0.0
    assert probe.ask(ask="stake", tag="other", least=10.0) == 0.0
    assert probe.ask(ask="stake", tag="d1", least=10.0, wallets=False) == 0.0

    # Only between stop and first target, only with its own tag, only once.
    for rate, tag in ((90.0, "d1"), (110.0, "d1"), (100.0, "other"), (100.0, None)):
        assert probe.ask(ask="confirm", rate=rate, tag=tag) is False
    assert probe.ask(ask="confirm", rate=float("nan"), tag="d1") is False
    assert probe.ask(ask="confirm", rate=100.0, tag="d1") is True
    assert probe.ask(ask="confirm", rate=100.0, tag="d1") is False
    assert entry() == nothing
    assert "d1 was acted on before" in probe.said()

    # Stop and target follow the signal.
    assert probe.ask(ask="stop", tag="d1", rate=100.0) == pytest.approx(0.1)
    assert [probe.ask(ask="exit", tag="d1", rate=rate) for rate in (90.0, 100.0, 110.0)] == [
        *("signal_stop", None, "tp1")
    ]
    assert probe.ask(ask="exit", tag="nobody", rate=1.0) is None

    # What must not be traded is not, each with its line.
    for number, (changes, words) in enumerate(
        [
            ({"risk": {"max_capital_pct": 0.06}}, "above 0.05"),
            ({"age_s": 601}, "older than 600 s"),
            ({"age_s": -60}, "runs ahead"),
        ]
    ):
        publish_signal(signal(f"bad{number}", **changes))  # type: ignore[arg-type]
        assert entry() == nothing
        assert words in probe.said()
    short = {
        "initial_stop": 110.0,
        "take_profits": [{"price": 90.0, "size_pct": 0.5}, {"price": 80.0, "size_pct": 0.5}],
    }
    publish_signal(signal("short", side="short", risk=short))
    assert entry() == nothing
    publish_signal(signal("far", risk={"initial_stop": 50.0}))
    assert entry()["tag"] == "far"
    assert probe.ask(ask="confirm", rate=100.0, tag="far") is False
    redis_server.client().lpush("signals", "{")
    assert entry() == nothing
    publish_signal(signal("d2"))
    assert entry()["tag"] == "d2"
    redis_server.kill()
    assert probe.ask(ask="confirm", rate=100.0, tag="d2") is False
    assert entry() == nothing
    redis_server.start()
    assert entry()["tag"] == "d2"
    probe.end()

    # A Freqtrade that was started again knows what was done, and where the stop is.
    again = Probe(tmp_path, environment)
    assert again.ask(ask="confirm", rate=100.0, tag="d1") is False
    assert again.ask(ask="exit", tag="d1", rate=111.0) == "tp1"
    assert again.ask(ask="stop", tag="d1", rate=100.0) == pytest.approx(0.1)
    # Where the file is lost, the trade's own data has the stop, and Redis knows the decision.
    kept = {"initial_stop": 95.0, "tp1": 105.0, "tp2": 110.0, "decision_id": "d9"}
    assert again.ask(ask="stop", tag="d9", rate=100.0, kept=kept) == pytest.approx(0.05)
    assert again.ask(ask="exit", tag="d9", rate=105.0, kept=kept) == "tp1"
    again.end()
    (tmp_path / "acted.jsonl").unlink()
    publish_signal(signal("d3"))
    again = Probe(tmp_path, environment)
    assert again.ask(ask="confirm", rate=100.0, tag="d3") is True
    (tmp_path / "acted.jsonl").unlink()
    again.end()
    again = Probe(tmp_path, environment)
    assert again.ask(ask="confirm", rate=100.0, tag="d3") is False
    again.end()
