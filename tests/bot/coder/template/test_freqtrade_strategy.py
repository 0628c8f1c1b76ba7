"""The Freqtrade file signals as the interpreter does, bar for bar, and says what it should.

Its base class here is an empty one: what is computed needs nothing of Freqtrade. Real Freqtrade
loads and runs the same files in tests/freqtrade.
"""

import random
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bot.coder.template.freqtrade_strategy import attribute_name, decimals
from bot.coder.template.template_coder import TemplateCoder, freqtrade_text
from bot.contract.language.interpreter import Interpreter
from bot.contract.language.program import compile_contract
from bot.contract.model import Contract
from bot.errors import InputError
from bot.gates.freqtrade.parity import expected_signals
from bot.gates.static.static_check import check_bytes
from tests.bot.coder.template.test_template_coder import contract
from tests.bot.contract.language import worlds


class Parameter:
    def __init__(self, low: float, high: float, *, default: float, **options: Any) -> None:
        self.low, self.high, self.value, self.options = low, high, default, options


@pytest.fixture(name="bare_freqtrade")
def bare_freqtrade_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy, persistence = ModuleType("freqtrade.strategy"), ModuleType("freqtrade.persistence")
    offered = {
        "IStrategy": type("IStrategy", (), {}),
        "IntParameter": type("IntParameter", (Parameter,), {}),
        "DecimalParameter": type("DecimalParameter", (Parameter,), {}),
        "stoploss_from_absolute": None,
        "timeframe_to_prev_date": None,
    }
    vars(strategy).update(offered)
    vars(persistence).update(Order=object, Trade=object)
    monkeypatch.setitem(sys.modules, "freqtrade", ModuleType("freqtrade"))
    monkeypatch.setitem(sys.modules, "freqtrade.strategy", strategy)
    monkeypatch.setitem(sys.modules, "freqtrade.persistence", persistence)


def text_of(subject: Contract) -> str:
    return freqtrade_text(subject, compile_contract(subject), "contracts/x.yaml")


def class_of(subject: Contract) -> Any:
    """The generated class; our own template's output from our own test contract."""
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text_of(subject), "generated.py", "exec"), namespace)  # noqa: S102
    return namespace[subject.name]


def marked(subject: Contract, frame: pd.DataFrame) -> pd.DataFrame:
    strategy = class_of(subject)()
    candles = frame.rename(columns={"timestamp": "date"})
    with np.errstate(all="ignore"):
        done = strategy.populate_indicators(candles, {"pair": "BTC/USDT"})
        done = strategy.populate_entry_trend(done, {"pair": "BTC/USDT"})
        result: pd.DataFrame = strategy.populate_exit_trend(done, {"pair": "BTC/USDT"})
    return result


@pytest.mark.usefixtures("bare_freqtrade")
@pytest.mark.parametrize("seed", range(40))
def test_signals_equal_the_interpreter_bar_for_bar(seed: int) -> None:
    rng = random.Random(seed)
    subject = contract(
        parameters=worlds.PARAMETERS,
        indicators={
            **worlds.INDICATORS,
            "made": {"expression": worlds.random_number(rng, 4)},
            "cond": {"expression": worlds.random_condition(rng, 3)},
        },
        rules={
            "enter_long": worlds.random_condition(rng, 4),
            "exit_long": worlds.random_condition(rng, 3),
            "enter_short": "made > made[1] and cond",
            **({"exit_short": worlds.random_condition(rng, 2)} if seed % 2 else {}),
        },
        risk={"stop_loss": {"atr": 2.0, "timeperiod": "period"} if seed % 3 else 0.1},
    )
    program = compile_contract(subject)
    candles = worlds.random_candles(rng, 70)
    interpreter = Interpreter(program)
    readings = [interpreter.step(candle) for candle in candles]
    values: dict[str, Any] = {
        rule: np.array([reading.rules[rule] for reading in readings]) for rule in program.rules
    }
    for key in readings[0].indicators:
        values[key] = np.array([reading.indicators[key] for reading in readings])
    found = marked(subject, worlds.frame_of(candles))
    for name, wanted in expected_signals(program, values, len(candles)).items():
        if name in found:
            assert (found[name] == 1).tolist() == wanted.tolist(), name
        else:
            assert not wanted.any()
    assert len(found) == len(candles)


@pytest.mark.usefixtures("bare_freqtrade")
def test_parameters_keep_their_ranges_and_their_digits() -> None:
    subject = contract(
        parameters={
            "period": {"default": 5, "range": [2, 9]},
            "level": {"default": 0.00025, "range": [0, 1]},
            "stoploss": {"default": 2.5, "range": [1, 3]},
            "fixed": {"default": 7},
            "loss": {"default": 0.02, "range": [0.01, 0.1]},
        },
        rules={
            "enter_long": "close > mean(close, period) * (1 + level) + stoploss - fixed - loss",
            "exit_long": "close < level",
        },
        risk={"stop_loss": "loss"},
    )
    made = class_of(subject)
    assert (made.period.low, made.period.high, made.period.value) == (2, 9, 5)
    assert made.level.options == {"decimals": 5, "space": "buy"}
    assert made.stoploss_.value == 2.5
    assert made.stoploss == -0.02
    assert made.fixed == 7
    assert made.loss.options["optimize"] is False, "Freqtrade cannot vary the stop along with it"


@pytest.mark.usefixtures("bare_freqtrade")
def test_risk_becomes_freqtrades_own_settings_where_it_has_them() -> None:
    made = class_of(
        contract(
            rules={"enter_long": "always", "enter_short": "never"},
            risk={
                "stop_loss": 0.05,
                "roi": {"0": 0.1, "60": 0.05},
                "trailing_stop": {"distance": 0.01, "activate_at": 0.03},
                "exit_profit_only": True,
                "max_positions": 3,
            },
        )
    )
    assert made.INTERFACE_VERSION == 3
    assert made.minimal_roi == {"0": 0.1, "60": 0.05}
    assert (made.stoploss, made.max_open_trades, made.can_short) == (-0.05, 3, True)
    assert (made.trailing_stop_positive, made.trailing_stop_positive_offset) == (0.01, 0.03)
    assert (made.exit_profit_only, made.use_exit_signal) == (True, False)
    for callback in ("custom_stoploss", "custom_roi", "order_filled"):
        assert not hasattr(made, callback)


@pytest.mark.usefixtures("bare_freqtrade")
def test_an_indicator_called_buy_is_no_signal() -> None:
    subject = contract(
        indicators={"buy": {"expression": "close * 0 + 1"}},
        rules={"enter_short": "buy > 5"},
    )
    frame = marked(subject, worlds.frame_of(worlds.random_candles(random.Random(1), 30)))
    # Freqtrade would take a column `buy` for the entry where there is no enter_long.
    assert frame["enter_long"].sum() == frame["exit_long"].sum() == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_file_passes_its_own_static_gate(seed: int) -> None:
    rng = random.Random(seed)
    subject = contract(
        parameters=worlds.PARAMETERS,
        indicators=worlds.INDICATORS,
        rules={"enter_long": worlds.random_condition(rng, 5), "enter_short": "rsi > 70"},
        risk={
            "stop_loss": {"atr": 2.0},
            "take_profit": {"atr": 3.0},
            "trailing_stop": 0.02,
            "size": {"risk": 0.01},
        },
    )
    assert check_bytes(text_of(subject).encode(), "freqtrade") == ()


def test_the_file_imports_nothing_of_ours() -> None:
    text = text_of(contract(rules={"enter_long": "mean(close, 3) > stdev(close, 4)"}))
    assert "adapters" not in text
    assert "class MadeUp(IStrategy):" in text


def test_a_warm_up_that_freqtrade_would_not_load_is_refused() -> None:
    rules = {"enter_long": "close > mean(close, 6000)"}
    subject = contract(rules=rules, targets=["adapter", "freqtrade"])
    with pytest.raises(InputError, match="at most 4999 candles") as caught:
        TemplateCoder().write(subject, "x.yaml")
    assert "targets: [adapter]" in caught.value.hint


def test_names_and_digits() -> None:
    assert (attribute_name("leverage"), attribute_name("ft_x"), attribute_name("rsi")) == (
        "leverage_",
        "ft_x_",
        "rsi",
    )
    assert decimals(0.1, 2.0) == 3
    assert decimals(1e-7, 5.0) == 7


@pytest.mark.usefixtures("bare_freqtrade")
def test_the_columns_are_the_rules_alone_also_where_they_collide() -> None:
    subject = contract(
        rules={
            "enter_long": "close > open",
            "exit_long": "close > open or close == open",
            "enter_short": "close > open",
        },
        risk={"stop_loss": 0.1},
    )
    frame = worlds.frame_of(worlds.random_candles(random.Random(3), 60))
    found, up = marked(subject, frame), frame["close"] > frame["open"]
    assert up.any()
    for column in ("enter_long", "enter_short"):
        assert ((found[column] == 1) == up).all()
    assert (found["exit_long"] == 1)[up].all()
