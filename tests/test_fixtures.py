"""Every candle file that tests and examples stand on is possible and complete."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted(path.name for path in FIXTURES.glob("*.csv"))
SP500_DIGEST = "a52a509be81c72f7334e1ad7b054fdb73fdb7d295f6c38d155640e10995b7075"


@pytest.mark.parametrize("file_name", FILES)
def test_candles_are_possible(file_name):
    candles = pd.read_csv(FIXTURES / file_name)
    assert list(candles.columns) == ["timestamp", "open", "high", "low", "close", "volume"]
    assert not candles.isna().any().any()
    body = candles[["open", "close"]]
    assert (candles["high"] >= body.max(axis=1)).all()
    assert (candles["low"] <= body.min(axis=1)).all()
    assert (candles["low"] > 0).all()
    assert (candles["volume"] > 0).all()


@pytest.mark.parametrize("file_name", FILES)
def test_timestamps_are_utc_and_rise(file_name):
    timestamps = pd.read_csv(FIXTURES / file_name)["timestamp"]
    assert timestamps.str.endswith("Z").all()
    moments = pd.to_datetime(timestamps, utc=True)
    assert moments.is_monotonic_increasing
    assert moments.is_unique


def test_hourly_samples_have_no_gap():
    moments = pd.to_datetime(pd.read_csv(FIXTURES / "sample_btc.csv")["timestamp"], utc=True)
    assert (moments.diff().dropna() == pd.Timedelta(hours=1)).all()


def test_the_real_series_is_the_one_that_the_readme_describes():
    digest = hashlib.sha256((FIXTURES / "sp500_daily.csv").read_bytes()).hexdigest()
    assert digest == SP500_DIGEST
    assert digest in (FIXTURES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("file_name", FILES)
def test_every_file_has_a_word_about_its_origin(file_name):
    assert f"`{file_name}`" in (FIXTURES / "README.md").read_text("utf-8")
