"""Candles are looked through beside the strategy, and what is wrong is told before any trade."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import Backtest.compiled.kernel  # noqa: F401 - machine code is at hand
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import replay
from Backtest.candles import Candles
from Backtest.compiled import inspection
from Backtest.sim_errors import CandleError
from Backtest.simbroker import SimBroker

BARS = 5_000


class Stumbling:
    """A strategy that cannot do anything with a price below 0."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        """Take nothing."""

    def prepare_indicators(self, df: Any) -> dict[str, Any]:
        """Stumble."""
        if df["low"].min() < 0:
            raise ZeroDivisionError("the strategy stumbled")
        return {}

    def find_entries(self, df: Any, indicators: Any, idx: int) -> None:
        """Want nothing."""

    def find_exits(self, position: Any, df: Any, indicators: Any, idx: int) -> None:
        """Want nothing."""


def candles() -> pd.DataFrame:
    times = pd.date_range("2024-01-01", periods=BARS, freq="h", tz="UTC")
    prices = dict.fromkeys(("open", "high", "low", "close", "volume"), np.full(BARS, 100.0))
    return pd.DataFrame({"timestamp": times, **prices})


@pytest.fixture(params=[1, BARS + 1], ids=["beside", "at-once"])
def adapter(request: Any, monkeypatch: pytest.MonkeyPatch) -> SimBrokerAdapter:
    monkeypatch.setattr(inspection, "WORTH_A_THREAD_BARS", request.param)
    return SimBrokerAdapter(SimBroker(capital=1e4))


def test_sound_candles_are_played(adapter: SimBrokerAdapter) -> None:
    assert replay(Stumbling, adapter, candles(), {})["bars"] == BARS


def test_bad_candles_are_named_whatever_the_strategy_makes_of_them(
    adapter: SimBrokerAdapter,
) -> None:
    frame = candles()
    frame.loc[4_321, "low"] = -1.0
    with pytest.raises(CandleError, match="row 4321"):
        replay(Stumbling, adapter, frame, {})


def test_bad_candles_that_the_strategy_does_not_mind_stop_the_run(
    adapter: SimBrokerAdapter,
) -> None:
    frame = candles()
    frame.loc[77, "volume"] = np.nan
    with pytest.raises(CandleError, match="row 77"):
        replay(Stumbling, adapter, frame, {})


def test_a_strategy_that_stumbles_over_sound_candles_is_heard(adapter: SimBrokerAdapter) -> None:
    class Lost(Stumbling):
        def prepare_indicators(self, df: Any) -> dict[str, Any]:
            raise ZeroDivisionError("the strategy stumbled")

    with pytest.raises(ZeroDivisionError, match="stumbled"):
        replay(Lost, adapter, candles(), {})


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_look_that_breaks_off_lets_nothing_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_off(columns: Candles) -> bool:
        raise MemoryError

    monkeypatch.setattr(inspection, "WORTH_A_THREAD_BARS", 1)
    monkeypatch.setattr(inspection, "pass_columns", breaks_off)
    frame = candles()
    frame.loc[4_321, "low"] = -1.0
    with pytest.raises(CandleError, match="row 4321"):
        replay(Stumbling, SimBrokerAdapter(SimBroker()), frame, {})
