"""Moments are read in every form and written in one."""

from datetime import UTC, date, datetime

import numpy as np
import pytest

from Backtest.sim_errors import BacktestError
from Backtest.times import iso, timeframe_ms, to_ms

NEW_YEAR = 1_704_067_200_000


@pytest.mark.parametrize(
    "moment",
    [
        NEW_YEAR,
        float(NEW_YEAR),
        str(NEW_YEAR),
        np.int64(NEW_YEAR),
        np.datetime64("2024-01-01T00:00"),
        datetime(2024, 1, 1),
        datetime(2024, 1, 1, tzinfo=UTC),
        date(2024, 1, 1),
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        "2024-01-01 01:00:00+01:00",
    ],
)
def test_every_form_is_the_same_moment(moment: object) -> None:
    assert to_ms(moment) == NEW_YEAR


@pytest.mark.parametrize(
    "moment", ["soon", None, True, 1.5, float("nan"), np.datetime64("NaT"), []]
)
def test_what_is_no_moment_is_refused(moment: object) -> None:
    with pytest.raises(BacktestError, match="timestamp"):
        to_ms(moment)


@pytest.mark.parametrize(
    ("moment", "text"),
    [(NEW_YEAR, "2024-01-01T00:00:00Z"), (NEW_YEAR + 5, "2024-01-01T00:00:00.005Z")],
)
def test_moments_are_written_in_utc(moment: int, text: str) -> None:
    assert iso(moment) == text
    assert to_ms(text) == moment


def test_timeframes_are_lengths() -> None:
    assert timeframe_ms("5m") == 300_000
    assert timeframe_ms("1d") == 86_400_000
    with pytest.raises(BacktestError, match="5m, 1h"):
        timeframe_ms("often")
