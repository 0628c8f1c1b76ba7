"""What is odd about candles is found where it was put, and nowhere else."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bot.data.quality import NOTE, OK, WRONG, Finding, check_file
from bot.data.quality_picture import quality_svg

FIXTURES = Path(__file__).parents[2] / "fixtures"
HOUR = 3_600_000


@pytest.fixture
def hours() -> pd.DataFrame:
    return pd.read_csv(FIXTURES / "sample_btc.csv").head(600)


def found(frame: pd.DataFrame, tmp_path: Path, name: str, **options: Any) -> Finding:
    """The finding of one name in a file with these candles."""
    frame.to_csv(tmp_path / "candles.csv", index=False)
    findings = check_file(tmp_path / "candles.csv", **options).findings
    return next(finding for finding in findings if finding.name == name)


@pytest.mark.parametrize("name", ["sample_btc.csv", "sample_eth.csv"])
def test_clean_candles_are_clean(name: str) -> None:
    quality = check_file(FIXTURES / name)
    assert quality.is_usable
    assert {finding.level for finding in quality.findings} == {OK}


def test_a_real_market_has_holidays_and_one_wild_day() -> None:
    """New York was closed on 8 weekdays of 1999 from January 4 on, and long in September 2001."""
    quality = check_file(FIXTURES / "sp500_daily.csv")
    named = {finding.name: finding for finding in quality.findings}
    assert quality.is_usable
    assert quality.timeframe == "1d"
    in_1999 = [m for m in named["gaps"].moments if pd.Timestamp(m, unit="ms").year == 1999]
    assert len(in_1999) == 8
    assert pd.Timestamp("2001-09-10").value // 10**6 in named["gaps"].moments
    assert "longest 4d, weekends left out" in named["gaps"].words
    assert [str(pd.Timestamp(m, unit="ms").date()) for m in named["spikes"].moments] == [
        "2008-10-10"
    ]


def test_gaps_are_counted_after_the_candle_before_them(hours: pd.DataFrame, tmp_path: Path) -> None:
    gap = found(hours.drop([100, 101, 300]), tmp_path, "gaps")
    assert gap.level == NOTE
    assert gap.words.startswith("3 missing in 2 gaps (longest 2h), after: 2024-01-05 03:00")
    assert gap.count == 2


def test_duplicates_and_disorder_stop_a_run(hours: pd.DataFrame, tmp_path: Path) -> None:
    doubled = pd.concat([hours.iloc[:11], hours.iloc[10:]])
    same = found(doubled, tmp_path, "duplicates")
    assert (same.level, same.count) == (WRONG, 1)
    assert "with the same prices" in same.words
    other = doubled.assign(open=np.where(np.arange(len(doubled)) == 10, 42000.0, doubled.open))
    assert "with other prices" in found(other, tmp_path, "duplicates").words
    swapped = hours.iloc[[0, 2, 1, *range(3, 600)]]
    late = found(swapped, tmp_path, "order")
    assert (late.level, late.count) == (WRONG, 1)
    assert found(swapped, tmp_path, "gaps").level == OK
    assert not check_file(tmp_path / "candles.csv").is_usable


@pytest.mark.parametrize(
    ("column", "value"), [("close", float("nan")), ("low", 1e9), ("open", -1.0), ("volume", -1.0)]
)
def test_an_impossible_candle_is_wrong(
    hours: pd.DataFrame, tmp_path: Path, column: str, value: float
) -> None:
    hours.loc[50, column] = value
    wrong = found(hours, tmp_path, "values")
    assert (wrong.level, wrong.count) == (WRONG, 1)
    assert "2024-01-03 02:00" in wrong.words


@pytest.mark.parametrize("factor", [1.3, 0.7])
def test_a_price_far_from_its_neighbours_is_a_spike_and_a_lasting_move_is_none(
    hours: pd.DataFrame, tmp_path: Path, factor: float
) -> None:
    prices = ["open", "high", "low", "close"]
    moved = hours.copy()
    moved.loc[300:, prices] *= factor
    assert found(moved, tmp_path, "spikes").level == OK
    hours.loc[200, "high" if factor > 1 else "low"] *= factor
    spike = found(hours, tmp_path, "spikes")
    assert (spike.level, spike.count) == (NOTE, 1)


def test_candles_without_volume_are_told(hours: pd.DataFrame, tmp_path: Path) -> None:
    hours.loc[10:12, "volume"] = 0.0
    assert found(hours, tmp_path, "volume").words.startswith("3 candles (0.5%) without volume")


def shifted(hours: pd.DataFrame, by_ms: int, step: int = HOUR) -> pd.DataFrame:
    first = 1_704_067_200_000
    return hours.assign(timestamp=first + by_ms + np.arange(len(hours)) * step)


def test_time_zones_are_seen_by_where_candles_begin(hours: pd.DataFrame, tmp_path: Path) -> None:
    day = 24 * HOUR
    assert found(shifted(hours, 0), tmp_path, "time zone").level == OK
    assert "numbers" in found(shifted(hours, 0), tmp_path, "time zone").words
    india = found(shifted(hours, HOUR // 2), tmp_path, "time zone")
    assert "begin 00:30 h after UTC's" in india.words
    new_york = found(shifted(hours, 5 * HOUR, day), tmp_path, "time zone")
    assert "begin 05:00 h after UTC's: another time zone" in new_york.words
    closes = found(shifted(hours, HOUR - 1), tmp_path, "time zone")
    assert "look like the ends of candles" in closes.words
    summer = shifted(hours, 5 * HOUR, day)
    summer.loc[100:300, "timestamp"] -= HOUR
    assert "summer time" in found(summer, tmp_path, "time zone", timeframe="1d").words


def test_how_times_are_written_is_told(hours: pd.DataFrame, tmp_path: Path) -> None:
    plain = hours.assign(timestamp=hours.timestamp.str.rstrip("Z"))
    assert found(plain, tmp_path, "time zone").words == "no zone is written, read as UTC"
    berlin = hours.assign(timestamp=hours.timestamp.str.replace("Z", "+02:00"))
    assert found(berlin, tmp_path, "time zone").words == "written with +02:00, turned into UTC"


def test_feather_and_parquet_are_checked_too(hours: pd.DataFrame, tmp_path: Path) -> None:
    frame = hours.assign(date=pd.to_datetime(hours.timestamp)).drop(columns="timestamp")
    frame.to_feather(tmp_path / "BTC_USDT-1h.feather")
    frame.drop(5).to_parquet(tmp_path / "BTC_USDT-1h.parquet")
    assert check_file(tmp_path / "BTC_USDT-1h.feather").is_usable
    gaps = check_file(tmp_path / "BTC_USDT-1h.parquet").findings[3]
    assert (gaps.name, gaps.count) == ("gaps", 1)


def test_the_picture_marks_what_was_found_and_keeps_names_text(
    hours: pd.DataFrame, tmp_path: Path
) -> None:
    hours.drop([100, 300]).to_csv(tmp_path / "x.csv", index=False)
    quality = check_file(tmp_path / "x.csv")
    picture = quality_svg(quality, "<script>x</script> & y")
    assert picture == quality_svg(quality, "<script>x</script> & y")
    assert "<script>" not in picture
    assert picture.count('class="g"') == 2
    assert ">gaps</text>" in picture
    assert ">spikes</text>" not in picture


def test_many_candles_make_a_small_picture(tmp_path: Path) -> None:
    from Backtest.candles import Candles
    from bot.data.quality import check_columns

    times = np.arange(200_000) * 60_000
    wave = 100 + np.sin(times / 1e9)
    candles = Candles(times, wave, wave + 1, wave - 1, wave, np.ones(len(times)))
    assert len(quality_svg(check_columns(candles, "written in UTC"), "long")) < 60_000


def test_times_in_seconds_are_wrong_and_said(hours: pd.DataFrame, tmp_path: Path) -> None:
    """As milliseconds they would be the first weeks of 1970, and a run refuses them."""
    moments = pd.to_datetime(hours["timestamp"], utc=True).to_numpy(dtype="datetime64[s]")
    seconds = hours.assign(timestamp=moments.astype("int64"))
    told = found(seconds, tmp_path, "time zone")
    assert told.level == WRONG
    assert "its timestamps look like seconds" in told.words
    whole = hours.assign(timestamp=moments.astype("int64") * 1000)
    assert found(whole, tmp_path, "time zone").level == OK
