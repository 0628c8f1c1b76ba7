"""Strategies, honest and not, asked by the harness inside a real sandbox."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sandbox_runner.harness import moved_clock as clock
from sandbox_runner.harness.packed_candles import pack_candles
from sandbox_runner.jobs import decisions_job
from sandbox_runner.port import Limits, Sandbox, open_sandbox
from sandbox_runner.request import LONG_ID, SHORT_ID, Request, Run

ROOT = Path(__file__).parents[3]
PATH = "Backtest/codes/candidate.py"
SHAPE = """
class Strategy:
    seen = []

    def __init__(self, cfg):
        self.cfg = cfg

    def prepare_indicators(self, df):
        return {{"close": df["close"]}}

    def find_entries(self, df, indicators, idx):
        {entries}

    def find_exits(self, position, df, indicators, idx):
        {exits}
"""


@pytest.fixture(scope="module")
def inside() -> Sandbox:
    return open_sandbox("auto")


def candles(count: int = 6, step: float = 1.0) -> bytes:
    times = pd.date_range("2024-01-01", periods=count, freq="h", tz="UTC")
    close = [100 + step * number + 0.1 for number in range(count)]
    frame = pd.DataFrame({"timestamp": times, "open": close, "high": close, "low": close})
    return pack_candles(frame.assign(close=close, volume=1.0))


def ask(
    sandbox: Sandbox, entries: str, *runs: Run, exits: str = "return None", **settings: Any
) -> list[dict[str, Any]]:
    source = settings.pop("source", SHAPE.format(entries=entries, exits=exits))
    data = {"btc": candles(), "other": candles(step=-1.0)}
    cfg = {"capital": 10000}
    asked = runs or (Run("whole", "btc", "BTC/USDT"),)
    job = decisions_job(PATH, source.encode(), cfg, data, asked, limits=Limits(120), **settings)
    outcome = sandbox.run(job)
    assert "decisions.json" in outcome.outputs, outcome.stderr.decode()
    answers: list[dict[str, Any]] = json.loads(outcome.outputs["decisions.json"])["runs"]
    return answers


def test_every_bar_is_answered_with_entry_and_both_exits(inside: Sandbox) -> None:
    [whole] = ask(
        inside,
        "return {'action': 'BUY', 'sl': float(df['close'].iloc[idx]) * 0.98} if idx == 2 else None",
        exits="return {'position_id': position['position_id'], 'reason': position['action']}",
    )
    assert (whole["name"], whole["symbol"], whole["bars"]) == ("whole", "BTC/USDT", 6)
    [answers] = whole["passes"]
    assert [entry for entry, _, _ in answers] == [
        *(None, None, {"action": "BUY", "sl": 102.1 * 0.98}, None, None, None)
    ]
    assert answers[0][1:] == [
        {"position_id": LONG_ID, "reason": "BUY"},
        {"position_id": SHORT_ID, "reason": "SELL"},
    ]


def test_a_strategy_gets_its_settings_and_its_symbol(inside: Sandbox) -> None:
    [whole] = ask(inside, "return dict(self.cfg)")
    assert whole["passes"][0][0][0] == {"capital": 10000, "symbol": "BTC/USDT"}


def test_a_cut_history_has_no_later_bar(inside: Sandbox) -> None:
    run = Run("cut", "btc", "BTC/USDT", bars=3, at=(2, 0))
    [cut] = ask(inside, "return {'bars': len(df), 'last': float(df['close'].iloc[-1])}", run)
    assert cut["bars"] == 3
    assert cut["passes"] == [[[{"bars": 3, "last": 102.1}, None, None]] * 2]


def test_each_bar_can_be_the_last_of_its_history(inside: Sandbox) -> None:
    run = Run("ends", "btc", "BTC/USDT", at=(4, 1), ends=True, cfg={"capital": 7})
    code = "return {'bars': len(df), 'last': idx, 'capital': self.cfg['capital']}"
    [ends] = ask(inside, code, run)
    assert [entry for entry, _, _ in ends["passes"][0]] == [
        {"bars": 5, "last": 4, "capital": 7},
        {"bars": 2, "last": 1, "capital": 7},
    ]


def test_other_candles_can_be_given(inside: Sandbox) -> None:
    run = Run("perturbed", "other", "BTC/USDT", at=(5,))
    [perturbed] = ask(inside, "return {'close': float(df['close'].iloc[idx])}", run)
    assert perturbed["passes"][0][0][0] == {"close": 95.1}


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_remembered_from_run_to_run(inside: Sandbox, workers: int) -> None:
    runs = [Run(f"run {number}", "btc", "BTC/USDT", at=(0, 1)) for number in range(4)]
    code = "self.seen.append(idx); return {'calls': len(self.seen)}"
    answers = ask(inside, code, *runs, workers=workers)
    assert [run["name"] for run in answers] == ["run 0", "run 1", "run 2", "run 3"]
    for run in answers:
        assert [entry["calls"] for entry, _, _ in run["passes"][0]] == [1, 2]


def test_a_second_pass_uses_the_same_object_and_shows_a_change(inside: Sandbox) -> None:
    run = Run("twice", "btc", "BTC/USDT", at=(0,), passes=2)
    [twice] = ask(inside, "self.seen.append(idx); return {'calls': len(self.seen)}", run)
    assert [answers[0][0] for answers in twice["passes"]] == [{"calls": 1}, {"calls": 2}]


def test_a_later_pass_can_have_bars_of_its_own_and_a_quiet_bar_is_null(inside: Sandbox) -> None:
    run = Run("twice", "btc", "BTC/USDT", passes=2, later=(4, 1))
    code = "self.seen.append(idx); return {'calls': len(self.seen)} if idx > 3 else None"
    [twice] = ask(inside, code, run)
    first, second = twice["passes"]
    assert first == [*[None] * 4, [{"calls": 5}, None, None], [{"calls": 6}, None, None]]
    assert second == [[{"calls": 7}, None, None], None]


def test_a_first_pass_can_show_views_and_the_second_one_pandas(inside: Sandbox) -> None:
    run = Run("twice", "btc", "BTC/USDT", at=(5,), passes=2, views=True)
    code = """close, mean = indicators['close'], df['close'].iloc[idx - 1 : idx + 1].mean()
        kinds = [type(df).__name__, type(close).__name__, type(df['close']).__name__]
        return {'kinds': kinds, 'close': close.iloc[idx], 'mean': mean}"""
    [twice] = ask(inside, code, run)
    [[first, _, _]], [[second, _, _]] = twice["passes"]
    assert first.pop("kinds") == ["FrameView", "SeriesView", "SeriesView"]
    assert second.pop("kinds") == ["DataFrame", "Series", "Series"]
    assert first == second == {"close": 105.1, "mean": pytest.approx(104.6)}


@pytest.mark.parametrize("change", ["indicators['mine'] = df['close']", "indicators.clear()"])
@pytest.mark.parametrize("views", [True, False])
def test_indicators_that_are_changed_are_refused_in_either_form(
    inside: Sandbox, change: str, views: bool
) -> None:
    run = Run("once", "btc", "BTC/USDT", views=views)
    [once] = ask(inside, f"{change}; return None", run)
    assert "changes its indicators" in once["error"]["message"]


CLOCKS = {
    "time": "time.time()",
    "time_ns": "time.time_ns() / 1e9",
    "clock": "time.clock_gettime(time.CLOCK_REALTIME)",
    "localtime": "time.mktime(time.localtime())",
    "gmtime": "calendar.timegm(time.gmtime())",
    "strftime": "time.mktime(time.strptime(time.strftime('%Y-%m-%d'), '%Y-%m-%d'))",
    "now": "datetime.datetime.now().timestamp()",
    "utcnow": "datetime.datetime.now(datetime.timezone.utc).timestamp()",
    "today": "float(datetime.date.today().toordinal() - 719163) * 86400",
    "Timestamp.now": "pd.Timestamp.now('UTC').timestamp()",
    "Timestamp.today": "pd.Timestamp.today().timestamp()",
    "Timestamp": "pd.Timestamp('now', tz='UTC').timestamp()",
    "to_datetime": "pd.to_datetime('now', utc=True).timestamp()",
    "DatetimeIndex": "pd.DatetimeIndex(['now'])[0].timestamp()",
    "Series": "pd.Series(['today']).astype('datetime64[s]').iloc[0].timestamp()",
    "Period": "pd.Period.now('D').ordinal * 86400.0",
    "datetime64": "float(np.datetime64('now').astype('int64'))",
    "datetime64 today": "float(np.datetime64('today').astype('int64')) * 86400",
    "array": "float(np.array(['now'], dtype='datetime64[s]').astype('int64')[0])",
}


def test_the_clock_of_every_library_can_be_another_one(inside: Sandbox) -> None:
    shown = ", ".join(f"{name!r}: float({code})" for name, code in CLOCKS.items())
    code = (
        "import calendar, datetime, time; import numpy as np; import pandas as pd;"
        f" return {{{shown}, 'monotonic': time.monotonic()}}"
    )
    shifts = (0, 400_000_000, -300_000_000)
    runs = [Run(f"{shift}", "btc", "X", at=(0,), clock_shift_s=shift) for shift in shifts]
    now, *others = (run["passes"][0][0][0] for run in ask(inside, code, *runs))
    for shift, moved in zip(shifts[1:], others, strict=True):
        assert abs(moved["monotonic"] - now["monotonic"]) < 100
        for name in CLOCKS:
            assert abs(moved[name] - now[name] - shift) <= 2 * 86_400, name
            assert moved[name] != now[name], name


def test_files_keep_the_real_time(tmp_path: Path) -> None:
    """In a process of its own: the clock of the tests stays."""
    code = (
        "import sys, time, pathlib; from sandbox_runner.harness.moved_clock import shift_clock;"
        " before = time.time(); shift_clock(400_000_000); path = pathlib.Path(sys.argv[1]);"
        " path.write_text('x'); assert time.time() - before > 3.9e8;"
        " assert abs(path.stat().st_mtime - before) < 100; shift_clock(0);"
        " assert abs(time.time() - before) < 100; import sqlite3;"
        " shift_clock(-400_000_000); c = sqlite3.connect(':memory:');"
        " [[s]] = c.execute(\"select strftime('%s')\"); assert abs(int(s) - time.time()) < 100"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], cwd=ROOT)
    assert done.returncode == 0


def test_where_the_clock_cannot_be_moved_the_run_has_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "_hooks", None)
    monkeypatch.setattr(clock.sys, "platform", "elsewhere")
    with pytest.raises(clock.ClockNotMoved, match="Linux only"):
        clock.shift_clock(1)
    monkeypatch.undo()
    monkeypatch.setattr(clock._Hooks, "place", lambda hooks: None)
    monkeypatch.setattr(clock, "_hooks", None)
    with pytest.raises(clock.ClockNotMoved, match="stands where it stood"):
        clock.shift_clock(1_000)


def test_the_hash_seed_reaches_the_runs(inside: Sandbox) -> None:
    code = "return {'hash': hash('x') % 1000000}"
    first, again, other = (ask(inside, code, hash_seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


ERRORS = (
    ("raise ValueError('no luck')", "ValueError", "no luck"),
    ("raise SystemExit(0)", "SystemExit", "0"),
    ("return {'sl': float('nan')}", "NotPlain", "nan"),
    ("return object()", "NotPlain", "object"),
    ("import os; os._exit(0)", "NoAnswer", "exit code 0"),
    ("import os; os.kill(os.getpid(), 9)", "NoAnswer", "exit code -9"),
    ("return self.find_entries(df, indicators, idx)", "RecursionError", "recursion"),
    ("return undefined", "NameError", "undefined"),
)


def test_an_error_is_data(inside: Sandbox) -> None:
    """One strategy with a mistake for each symbol, and a sound run after each."""
    mistakes = enumerate(entries for entries, _, _ in ERRORS)
    code = "\n        ".join(f"if self.cfg['symbol'] == '{n}': {each}" for n, each in mistakes)
    good = Run("after", "btc", "BTC/USDT", at=())
    runs = [(Run("failing", "btc", str(n), at=(0,)), good) for n in range(len(ERRORS))]
    answers = ask(inside, code, *(run for pair in runs for run in pair))
    for (_, kind, words), failed, after in zip(ERRORS, answers[::2], answers[1::2], strict=True):
        assert failed["error"]["type"] == kind
        assert words in failed["error"]["message"]
        assert "passes" not in failed
        assert after["passes"] == [[]]


def test_an_error_names_the_strategy_s_own_line(inside: Sandbox) -> None:
    [failed] = ask(inside, "return df['missing']")
    source = SHAPE.format(entries="return df['missing']", exits="").splitlines()
    assert failed["error"]["type"] == "KeyError"
    assert source[failed["error"]["line"] - 1].strip() == "return df['missing']"


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("x = 1\nclass Strategy(:\n", "SyntaxError", 2),
        ("\nimport no_such_module\n", "ModuleNotFoundError", 2),
        ("x = 1\n", "AttributeError", None),
        ("\0", "SyntaxError|ValueError", None),
    ],
)
def test_a_file_that_is_no_strategy_is_reported(
    inside: Sandbox, source: str, kind: str, line: int | None
) -> None:
    [failed] = ask(inside, "", source=source)
    assert failed["error"]["type"] in kind.split("|")
    assert failed["error"]["line"] == line


def test_a_process_left_behind_does_not_meet_the_next_run(inside: Sandbox) -> None:
    """A job has 64 processes: eighty runs that each leave one behind need them to be buried."""
    entries = (
        "import os, time\n"
        "        if os.fork() == 0:\n"
        "            os.setsid()\n"
        "            for number in range(3, 64):\n"
        "                try:\n"
        "                    os.close(number)\n"
        "                except OSError:\n"
        "                    pass\n"
        "            time.sleep(1000)\n"
        "        return None"
    )
    runs = [Run(f"run {number}", "btc", "X", bars=3, at=(0,)) for number in range(80)]
    assert all("passes" in run for run in ask(inside, entries, *runs))


def test_a_request_survives_its_file() -> None:
    runs = [
        Run(
            "a",
            "btc",
            "X",
            bars=3,
            at=(1, 2),
            passes=2,
            clock_shift_s=15,
            cfg={"a": 2},
            ends=True,
            signals=True,
        ),
        Run("b", "c", "Y"),
    ]
    request = Request("x.py", {"a": [1.1, "b"]}, runs, 2)
    assert Request.from_bytes(request.to_bytes()) == request


def test_candles_that_are_not_given_are_named() -> None:
    with pytest.raises(ValueError, match="no candles are called 'eth'"):
        decisions_job(PATH, b"", {}, {}, [Run("a", "eth", "ETH/USDT")])
