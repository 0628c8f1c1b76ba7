"""VectorBT itself gives the same signals, and every fill of it that differs has a named rule."""

import json
import random
import re
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from bot.cli import main
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import WorldError
from bot.knowledge.pages import SHIPPED
from bot.proof.judge import judge_rules
from bot.proof.vectorbt_engine import open_vectorbt, play
from bot.proof.vectorbt_fills import MEANINGS, OURS, VECTORBT, Fill, Work, compare


@pytest.fixture(scope="module")
def vectorbt():
    try:
        return open_vectorbt()
    except WorldError as error:
        pytest.skip(f"{error.message}; make freqtrade installs it")


def write_candles(path, seed, bars=400):
    """A random walk with gaps, so that opens jump over stops and targets."""
    chance = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 0.01, bars)))
    opened = np.concatenate([[100], close[:-1]]) * np.exp(chance.normal(0, 0.008, bars))
    high = np.maximum(opened, close) * np.exp(np.abs(chance.normal(0, 0.006, bars)))
    low = np.minimum(opened, close) * np.exp(-np.abs(chance.normal(0, 0.006, bars)))
    times = pd.date_range("2024-01-01", periods=bars, freq="h", tz="UTC")
    frame = pd.DataFrame({"timestamp": times, "open": opened, "high": high, "low": low,
                          "close": close, "volume": 1000.0})  # fmt: skip
    frame.to_csv(path, index=False)


def contract_of(seed):
    """A contract with every feature that fills depend on, by chance."""
    chance = random.Random(seed)
    pick = chance.choice
    symbols = ["A/USDT", "B/USDT"][: pick([1, 2])]
    risk = {"stop_loss": pick([0.01, 0.03, {"atr": 2.0, "timeperiod": 14}]),
            "size": pick([{"equity": 0.1}, {"equity": 0.5}, {"units": 1.0}]),
            "max_positions": pick([1, 2])}  # fmt: skip
    risk |= pick([{}, {"take_profit": pick([0.01, 0.04, {"atr": 1.5, "timeperiod": 14}])}])
    risk |= pick([{}, {}, {"trailing_stop": 0.02}, {"roi": {0: 0.05, 120: 0.02}}])
    risk |= pick([{}, {}, {"exit_profit_only": True}])
    market = {"symbols": symbols, "timeframe": "1h", "type": "futures"}
    return {
        "version": "1.0", "workflow": "w", "task": "t", "kind": "strategy", "name": "Fuzz",
        "market": market | pick([{}, {"tick": 0.01}, {"lot": 0.1}]),
        "data": {"source": "csv", "path": "{symbol}.csv" if len(symbols) > 1 else "A_USDT.csv"},
        "indicators": {"rsi": {"function": "RSI", "timeperiod": 7},
                       "bands": {"function": "BBANDS", "timeperiod": 10},
                       "slow": {"function": "EMA", "timeperiod": 20, "timeframe": "4h"}},
        "rules": {"enter_long": pick(["rsi < 40", "crossed_above(close, slow)"]),
                  "exit_long": pick(["rsi > 60", "close > bands.upperband", "never"]),
                  "enter_short": pick(["rsi > 60", "crossed_below(close, slow)"]),
                  "exit_short": pick(["rsi < 40", "close < lowest(low, 9)[1]"])},
        "risk": risk, "capital": 10_000,
        "costs": {"commission": 0.001, "slippage": pick([0, 0.0005]), "spread": pick([0, 0.0002])},
        "execution": pick(["next_open", "next_open", "this_close"]),
    }  # fmt: skip


def played(folder, document):
    for number, symbol in enumerate(("A_USDT", "B_USDT")):
        write_candles(folder / f"{symbol}.csv", number)
    path = folder / "contract.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    contract = load_contract(path).strategy
    program = compile_contract(contract)
    data = read_market_data(contract, folder, None, lambda _: None, lambda _: None)
    return play(contract, program, data, judge_rules(contract, program, data))


def test_random_contracts_have_equal_signals_and_no_fill_without_a_rule(vectorbt, tmp_path):
    seen, trades = set(), 0
    for seed in range(10):
        peer = played(tmp_path, contract_of(seed))
        assert peer.unequal == {}, seed
        assert peer.trades.unexplained == [], seed
        assert peer.signals > 0
        seen |= {rule.partition(":")[0] for rule in peer.trades.rules}
        trades += peer.trades.theirs
    assert trades > 300
    assert seen >= {"entry bar", "slippage", "tick", "trailing stop", "follows", "account"}


def test_the_command_prints_the_comparison(vectorbt, tmp_path, capsys):
    given = ["backtest", "contracts/oversold_dip.yaml", "--engine", "vectorbt",
             "--out", str(tmp_path / "out")]  # fmt: skip
    assert main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["vectorbt"]
    assert told["agrees"]
    assert (told["unequal"], told["unexplained"]) == ({}, [])
    assert 0 < told["same"] < told["trades"]
    assert main(given) == 0
    assert re.search(r"VectorBT \S+: \d+ signals, all equal", capsys.readouterr().out)


def test_the_snippet_of_code_002_gives_the_runners_trades(vectorbt, tmp_path):
    text = (SHIPPED / "code/CODE-002-vectorbt-runner.md").read_text("utf-8")
    names = {}
    exec(text.split("```python\n")[1].split("```")[0], names)  # noqa: S102  our own page
    write_candles(tmp_path / "a.csv", 1)
    frame = pd.read_csv(tmp_path / "a.csv")
    candles = {name: frame[name].to_numpy() for name in ("open", "high", "low", "close")}
    enter = candles["close"] < candles["open"] * 0.99
    leave = candles["close"] > candles["open"] * 1.01
    trades = names["play"](vectorbt, candles, enter, leave, 0.02, 0.03)
    assert len(trades) > 10
    first, last, entry, _ = trades[0]
    assert first == int(np.flatnonzero(enter & ~leave)[0]) + 1
    assert entry == candles["open"][first]
    assert last > first


def test_without_vectorbt_the_command_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("STRATWRIGHT_VECTORBT", str(tmp_path / "nowhere"))
    monkeypatch.setitem(sys.modules, "vectorbt", None)
    given = ["backtest", "contracts/oversold_dip.yaml", "--engine", "vectorbt"]
    assert main([*given, "--out", str(tmp_path / "out")]) == 4
    assert ".[vectorbt]" in capsys.readouterr().err


def test_a_strategy_file_is_not_played_by_vectorbt(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text("")
    assert main(["backtest", str(path), "--engine", "vectorbt"]) == 2
    assert "needs a contract" in capsys.readouterr().err


def test_every_rule_that_differs_has_a_meaning():
    differ = {name for name in vars(OURS) if getattr(OURS, name) != getattr(VECTORBT, name)}
    assert differ == {*MEANINGS}


def test_a_trade_that_no_rule_gives_is_unexplained(tmp_path):
    bars = {name: np.full(9, 100.0) for name in ("open", "high", "low", "close")}
    nothing = np.full(9, np.nan)
    enter = np.zeros(9, np.int8)
    enter[2] = 1
    work = Work(bars, enter, {1: np.zeros(9, bool), -1: np.zeros(9, bool)}, nothing, True,
                nothing, True, 0.0, None, 1, None)  # fmt: skip
    right = Fill(1, 3, 8, 100.0, 100.0, True)
    assert compare(work, [], [right], {2}).unexplained == []
    assert compare(work, [], [right], set()).unexplained != []
    assert compare(work, [], [right._replace(exit=101.0)], {2}).unexplained != []
