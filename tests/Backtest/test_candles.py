"""Candle files are read in every usual form, and bad rows are named."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adapters.testing import market
from Backtest import candles as candles_module
from Backtest.candles import (
    Candles,
    check_candles,
    check_spacing,
    columns_of,
    read_candles,
    read_columns,
    tidy_candles,
)
from Backtest.sim_errors import BacktestError, CandleError

HOUR = 3_600_000
START = 1_704_067_200_000  # 2024-01-01


def frame(rows: int = 4, **changes: Any) -> pd.DataFrame:
    data: dict[str, Any] = {
        "timestamp": [START + i * HOUR for i in range(rows)],
        "open": [100.0 + i for i in range(rows)],
        "high": [102.0 + i for i in range(rows)],
        "low": [99.0 + i for i in range(rows)],
        "close": [101.0 + i for i in range(rows)],
        "volume": [5.0] * rows,
    }
    return pd.DataFrame({**data, **changes})


EXPECTED = [START + i * HOUR for i in range(4)]


def forms() -> dict[str, pd.DataFrame]:
    plain = frame()
    stamps = pd.to_datetime(plain["timestamp"], unit="ms")
    return {
        "milliseconds": plain,
        "upper case": plain.rename(columns=str.title),
        "naive": plain.assign(timestamp=stamps),
        "aware": plain.assign(timestamp=stamps.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        "text": plain.assign(timestamp=stamps.dt.strftime("%Y-%m-%d %H:%M:%S")),
        "text with zone": plain.assign(timestamp=stamps.dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")),
        "date column": plain.assign(date=stamps).drop(columns="timestamp"),
        "index": plain.drop(columns="timestamp").set_index(pd.DatetimeIndex(stamps)),
        "named index": plain.rename(columns={"timestamp": "Time"}).set_index("Time"),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_of_time_means_the_same(form: str) -> None:
    tidy = tidy_candles(forms()[form])
    check_candles(tidy)
    assert list(tidy.columns) == ["timestamp", "open", "high", "low", "close", "volume"]
    assert str(tidy["timestamp"].dt.tz) == "UTC"
    assert columns_of(tidy).times.tolist() == EXPECTED
    assert columns_of(tidy).close.tolist() == [101.0, 102.0, 103.0, 104.0]


@pytest.mark.parametrize("kind", ["csv", "feather", "parquet"])
def test_files_are_read_by_their_kind(kind: str, tmp_path: Path) -> None:
    if kind != "csv":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"candles.{kind}"
    if kind == "csv":
        frame().to_csv(path, index=False)
    elif kind == "feather":
        frame().to_feather(path)
    else:
        frame().to_parquet(path)
    assert columns_of(read_candles(path)).times.tolist() == EXPECTED


def test_the_original_frame_is_left_alone() -> None:
    original = frame().rename(columns=str.upper)
    before = original.copy()
    tidy_candles(original)
    pd.testing.assert_frame_equal(original, before)


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "missing price": ({"close": [101.0, None, 103.0, 104.0]}, 1, "close is missing"),
    "negative": ({"low": [99.0, 100.0, -1.0, 102.0]}, 2, "low is -1.0"),
    "zero": ({"low": [0.0, 100.0, 101.0, 102.0]}, 0, "low is 0.0"),
    "high below low": ({"high": [102.0, 90.0, 104.0, 105.0]}, 1, "high 90.0 is below low 100.0"),
    "open outside": ({"open": [100.0, 101.0, 150.0, 103.0]}, 2, "open 150.0 is outside"),
    "negative volume": ({"volume": [1.0, 1.0, 1.0, -1.0]}, 3, "volume is -1.0"),
    "unsorted": ({"timestamp": [START, START + 2 * HOUR, START + HOUR, START + 3 * HOUR]}, 2, ""),
    "doubled": ({"timestamp": [START, START, START + HOUR, START + 2 * HOUR]}, 1, "not after"),
    "infinite": ({"high": [102.0, float("inf"), 104.0, 105.0]}, 1, "high is infinite"),
    "no number": ({"open": ["100", "x", "102", "103"]}, 1, "open is 'x'"),
    "no time": ({"timestamp": ["2024-01-01", "soon", "2024-01-03", "2024-01-04"]}, 1, "'soon'"),
    "missing time": ({"timestamp": ["2024-01-01", None, "2024-01-03", "2024-01-04"]}, 1, "time"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_named_by_file_line_and_row(case: str, tmp_path: Path) -> None:
    changes, row, fault = BAD[case]
    path = tmp_path / "bad.csv"
    frame(**changes).to_csv(path, index=False)
    with pytest.raises(CandleError) as caught:
        read_candles(path)
    assert caught.value.row == row
    assert f"line {row + 2}: row {row} (counting from 0)" in str(caught.value)
    assert fault in str(caught.value)


def test_a_missing_datetime_is_named() -> None:
    stamps = pd.to_datetime(pd.Series(EXPECTED), unit="ms")
    stamps[2] = None
    with pytest.raises(CandleError, match=r"row 2 .* timestamp is missing"):
        check_candles(tidy_candles(frame(timestamp=stamps)))


@pytest.mark.parametrize("text", ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S+00:00", "%Y-%m-%d"])
@pytest.mark.parametrize(
    "odd",
    [
        *("2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z"),
        *("2024-01-01T00:00:0xZ", "0000-01-01T00:00:00Z", "2024-01-01T00:00:00", "", 12.5, None),
        *("2024-01-01T00:00:00+05:30", "2024-01-01T00:00:00.5Z", "٢٠٢٤-01-01T00:00:00Z"),
    ],
)
def test_a_moment_of_another_form_is_read_as_it_is_alone(text: str, odd: Any) -> None:
    days = pd.date_range("2023-12-01", periods=5).strftime(text).tolist()
    each = [candles_module.to_ms(day) for day in days]
    assert candles_module._each_ms(days) == each
    try:
        alone = candles_module.to_ms(odd)
    except BacktestError:
        with pytest.raises(CandleError) as caught:
            candles_module._each_ms([*days, odd])
        assert caught.value.row == 5
    else:
        assert candles_module._each_ms([*days, odd]) == [*each, alone]


def test_times_rise_within_each_symbol() -> None:
    both = pd.concat([frame().assign(symbol="A"), frame().assign(symbol="B")])
    check_candles(tidy_candles(both))
    doubled = pd.concat([both, frame(1).assign(symbol="A")])
    with pytest.raises(CandleError, match="row 8"):
        check_candles(tidy_candles(doubled))
    with pytest.raises(CandleError, match=r"row 0 .*a name is needed"):
        check_candles(tidy_candles(frame(symbol=[None, "A", "A", "A"])))


def test_microseconds_are_not_taken_for_milliseconds() -> None:
    with pytest.raises(CandleError, match=r"no timestamp in milliseconds\. Divide micro"):
        tidy_candles(frame(timestamp=[moment * 1000 for moment in EXPECTED]))


def test_seconds_are_told_by_their_spacing() -> None:
    ones = np.ones(4)
    seconds = Candles(np.arange(4) * 3_600 + 1_700_000_000, ones, ones, ones, ones, ones)
    with pytest.raises(CandleError) as caught:
        check_spacing(seconds, "1h", "x.csv")
    assert "look like seconds" in caught.value.hint


def spaced(*minutes: int) -> Candles:
    times = np.cumsum([0, *minutes]) * 60_000
    ones = np.ones(len(times))
    return Candles(times, ones, ones, ones, ones, ones)


def test_candles_of_another_timeframe_are_refused() -> None:
    check_spacing(spaced(60, 60, 600, 60), "1h", "x.csv")  # a gap is no fault
    check_spacing(spaced(5), "1h", "x.csv")  # two candles prove nothing
    for wrong in ("5m", "4h", "1d", "61m"):
        with pytest.raises(CandleError, match=f"x.csv: its candles are 1h apart.*is {wrong}"):
            check_spacing(spaced(60, 60, 600, 60), wrong, "x.csv")
    days = [1440 * count for count in (31, 28, 31, 30, 31)]
    check_spacing(spaced(*days), "1M", "x.csv")
    with pytest.raises(CandleError, match="31d apart"):
        check_spacing(spaced(*days), "1w", "x.csv")


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("gone.csv", None, "is not there"),
        ("candles.xlsx", "", "no candle file"),
        ("empty.csv", "", "cannot read"),
        ("headers.csv", "timestamp,open,high,low,close,volume\n", "no candles"),
        ("short.csv", "timestamp,open,high,low,close\n1,1,1,1,1\n", "no column 'volume'"),
        ("timeless.csv", "open,high,low,close,volume\n1,1,1,1,1\n", "no timestamp"),
        ("twice.csv", "date,Open,open,high,low,close,volume\n1,1,1,1,1,1,1\n", "there twice"),
        ("binary.feather", "nonsense", "cannot read"),
    ],
)
def test_an_unusable_file_is_explained(
    name: str, text: str | None, fault: str, tmp_path: Path
) -> None:
    if name.endswith("feather"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(CandleError, match=fault):
        read_candles(path)


CSV = "timestamp,open,high,low,close,volume\n"


def test_a_small_csv_is_read_without_pandas_to_the_same_columns(tmp_path: Path) -> None:
    path = tmp_path / "candles.csv"
    rows = [
        f"2024-01-0{day}T00:00:00Z,{100 + day / 7!r},{103 + day / 7!r},{99 / 1.1!r},101.3,{day}"
        for day in range(1, 8)
    ]
    path.write_text(CSV + "\n".join(rows) + "\n", "utf-8")
    plain = candles_module._plain_csv(path.read_bytes())
    assert plain is not None
    framed = columns_of(read_candles(path))
    for name in ("times", "open", "high", "low", "close", "volume"):
        assert getattr(plain, name).tolist() == getattr(framed, name).tolist(), name
    code = (
        "import sys; from Backtest.candles import read_columns;"
        f"read_columns({str(path)!r}); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CSV, "no candles"),
        (CSV + "2024-01-01,1,2,1,x,1\n", "close is 'x'"),
        (CSV + "2024-01-01,1,2,1,,1\n", "line 2: row 0"),
        (CSV + "2024-01-01,1,2,1,1,1\n2024-01-01,1,2,1,1,1\n", "line 3: row 1"),
        ("time,open\n2024-01-01,1\n", "no column 'high'"),
    ],
)
def test_a_csv_that_is_not_sound_is_refused_as_ever(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "candles.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(CandleError, match=said):
        read_columns(path)


def test_columns_between_two_moments() -> None:
    columns = columns_of(tidy_candles(market(10, 1)))
    first, last = int(columns.times[3]), int(columns.times[7])
    assert columns.between(first, last).times.tolist() == columns.times[3:7].tolist()
    assert columns.between(None, None) is columns


def test_short_whole_numbers_are_milliseconds_in_files_of_every_size(tmp_path: Path) -> None:
    file = tmp_path / "days.csv"
    rows = "".join(f"{20240101 + day},1,1,1,1,1\n" for day in range(3))
    file.write_text(f"date,open,high,low,close,volume\n{rows}")
    quick, thorough = read_columns(file), columns_of(read_candles(file))
    assert quick.times.tolist() == thorough.times.tolist() == [20240101, 20240102, 20240103]


def test_seconds_are_recognised_and_said(tmp_path: Path) -> None:
    path = tmp_path / "seconds.csv"
    rows = [f"{1704067200 + 3600 * n},1,1,1,1,1" for n in range(5)]
    path.write_text("\n".join(["timestamp,open,high,low,close,volume", *rows]) + "\n", "utf-8")
    with pytest.raises(CandleError, match="look like seconds") as stop:
        read_candles(path)
    assert "2024-01-01T00:00:00Z in seconds" in stop.value.message
    assert "multiply by 1000" in stop.value.hint
    with pytest.raises(CandleError, match="look like seconds"):
        read_columns(path)
