"""Ways to use the future: each is found by the look-ahead gate, and by its own reason.

A crash, or decisions that are not the contract's, would refuse these files as well, and say nothing
about the gate. `NOT_SEEN` are relatives that use no later bar: a gate that names them would cry
wolf.

Each file takes some seconds of a processor, so the suite tries a few of them; all of them with
`make attacks`.
"""

from pathlib import Path

import pytest

from bot.gates.port import Verdict
from bot.workshop import opened_sandbox
from tests.chance import EVERY_ATTACK
from tools.hostile_corpus import Bench

SHAPE = """
import numpy as np
import pandas as pd


class Strategy:
    def __init__(self, cfg):
        self.cfg = cfg

    def prepare_indicators(self, df):
        close = df["close"]
        high, low, volume = df["high"], df["low"], df["volume"]
        times = pd.DatetimeIndex(df["timestamp"])
        values = np.asarray({target}).astype(float)
        return {{"target": np.nan_to_num(values)}}

    def find_entries(self, df, indicators, idx):
        if {entry}:
            order = {{"action": "BUY", "symbol": self.cfg["symbol"], "type": "MARKET"}}
            order |= {{"volume": 1.0, "sl": float({stop})}}
            return order
        return None

    def find_exits(self, position, df, indicators, idx):
        return None
"""
ENTRY = 'indicators["target"][idx] > 0'
SEEN = {
    "shift": "close.shift(-1) > close",
    "shift_far": "close.shift(-24) > close * 1.01",
    "diff": "close.diff(-1) < 0",
    "pct_change": "close.pct_change(-1) < 0",
    "roll": "np.roll(close.to_numpy(), -1) > close.to_numpy()",
    "slice": "np.append(close.to_numpy()[1:], 0) > close.to_numpy()",
    "centred": "close.rolling(11, center=True).mean() > close",
    "reversed_rolling": "close[::-1].rolling(5).max()[::-1] > close * 1.005",
    "reversed_ewm": "close[::-1].ewm(span=10).mean()[::-1] > close",
    "reversed_cummax": "close[::-1].cummax()[::-1] > close * 1.02",
    "bfill": "close.where(np.arange(len(close)) % 3 == 0).bfill() > close",
    "interpolate": "close.where(np.arange(len(close)) % 4 == 0).interpolate() > close",
    "global_mean": "close > close.mean()",
    "global_z_score": "(close - close.mean()) / close.std() > 0.5",
    "global_scaling": "(close - close.min()) / (close.max() - close.min()) > 0.5",
    "global_quantile": "close < close.quantile(0.3)",
    "global_rank": "close.rank(pct=True) < 0.3",
    "global_median_of_volume": "volume > volume.median()",
    "quantile_bins": "pd.qcut(close, 4, labels=False, duplicates='drop') == 0 if len(close) > 8"
    " else close * 0",
    "last_close": "close < close.iloc[-1]",
    "last_by_numpy": "close.to_numpy() < close.to_numpy()[-1]",
    "argmax": "np.arange(len(close)) < int(np.argmax(close.to_numpy()))",
    "sorted": "np.searchsorted(np.sort(close.to_numpy()), close.to_numpy()) < len(close) * 0.3",
    "polyfit": "np.polyval(np.polyfit(np.arange(len(close)), close, 1), np.arange(len(close)))"
    " > close",
    "convolve": "np.convolve(close, np.ones(9) / 9, 'same') > close.to_numpy()",
    "gradient": "np.gradient(np.append(close.to_numpy(), close.iloc[-1]))[:-1] > 0",
    "fourier": "np.fft.irfft(np.fft.rfft(close)[:9], len(close)) > close.to_numpy()",
    "resampled_day": "close.groupby(times.date).transform('last') > close",
    "day_s_high": "high.groupby(times.date).transform('max') > close * 1.01",
    "length": "np.arange(len(close)) > len(close) - 200",
    "forward_window": "close.rolling(pd.api.indexers.FixedForwardWindowIndexer(window_size=4),"
    " min_periods=1).max() > close * 1.005",
    "normalised_by_the_end": "close / close.iloc[-1] < 0.99",
}
# Where the future is asked for at the moment of the decision, or decides the stop alone.
ASKED_LATE = {
    "next_bar_in_the_answer": (
        "close",
        'df["close"].iloc[min(idx + 1, len(df) - 1)] > 1.001 * df["close"].iloc[idx]',
        "1.0",
    ),
    "last_bar_in_the_answer": ("close", 'df["close"].iloc[-1] > df["close"].iloc[idx]', "1.0"),
    "stop_from_the_future": (
        "low[::-1].rolling(5).min()[::-1]",
        "idx % 5 == 0",
        'indicators["target"][idx]',
    ),
}
NOT_SEEN = {
    "expanding_mean": "close > close.expanding().mean()",
    "rolling_mean": "close > close.rolling(200).mean()",
    "ffill": "close.where(np.arange(len(close)) % 3 == 0).ffill() > close",
    "day_so_far": "high.groupby(times.date).cummax() > close * 1.01",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), opened_sandbox("namespace"))


def verdict(bench: Bench, source: str) -> Verdict:
    found, _ = bench.examine(source.encode(), bench.markets[0], tests=False)
    return next(one for one in found.verdicts if one.name == "lookahead")


@pytest.mark.parametrize("name", SEEN if EVERY_ATTACK else ("global_mean", "fourier"))
def test_the_future_is_seen_by_the_gate_itself(bench: Bench, name: str) -> None:
    source = SHAPE.format(target=SEEN[name], entry=ENTRY, stop="1.0")
    found = verdict(bench, source)
    assert (found.passed, found.cause) == (False, "found"), found.reason


@pytest.mark.parametrize("name", ASKED_LATE if EVERY_ATTACK else ("stop_from_the_future",))
def test_the_future_in_an_answer_is_seen_as_well(bench: Bench, name: str) -> None:
    target, entry, stop = ASKED_LATE[name]
    found = verdict(bench, SHAPE.format(target=target, entry=entry, stop=stop))
    assert (found.passed, found.cause) == (False, "found"), found.reason


@pytest.mark.parametrize("name", NOT_SEEN if EVERY_ATTACK else ("day_so_far",))
def test_what_only_leaves_the_contract_is_no_look_ahead(bench: Bench, name: str) -> None:
    source = SHAPE.format(target=NOT_SEEN[name], entry=ENTRY, stop="1.0")
    found = verdict(bench, source)
    assert (found.passed, found.cause) == (False, "contract"), found.reason


def test_a_crash_is_no_look_ahead(bench: Bench) -> None:
    source = SHAPE.format(target='df["nothing"]', entry=ENTRY, stop="1.0")
    assert verdict(bench, source).cause == "no answer"


def test_a_crash_on_a_short_history_hides_nothing(bench: Bench) -> None:
    target = "close.shift(-1) > close if len(close) > 200 else 1 / 0"
    found = verdict(bench, SHAPE.format(target=target, entry=ENTRY, stop="1.0"))
    assert found.cause == "found", found.reason


HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize(
    "path",
    sorted((HERE / "corpus" / "hostile").glob("k*.py" if EVERY_ATTACK else "k18*.py")),
    ids=lambda path: path.stem,
)
def test_attacks_of_others_are_seen_by_the_gate_itself(bench: Bench, path: Path) -> None:
    entry = {"file": path.name, "file_class": "strategy", "expected_layer": "gate:lookahead"}
    row = bench.row(entry, path.read_bytes(), static=False)
    assert "lookahead" in row.stopped_by, row.reason
