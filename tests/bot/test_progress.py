"""Progress: silent at first, a bar on a terminal, lines elsewhere, none of it in the result."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bot.progress import Progress, Stage

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, silent_s: float, until: str) -> str:
    """What is shown before a text has come, or when the block ends at once."""
    progress = Progress(stream, silent_s)
    progress.stage("playing", 200, lambda: 50)
    with progress:
        for _ in range(1000):
            if until in stream.getvalue():
                break
            time.sleep(0.01)
    return stream.getvalue()


def test_short_work_shows_nothing() -> None:
    assert shown(io.StringIO(), 60.0, "") == ""
    assert shown(Terminal(), 60.0, "") == ""


def test_elsewhere_it_is_a_plain_line() -> None:
    assert shown(io.StringIO(), 0.0, "\n").startswith("playing: 50 of 200 candles, 25%\n")
    assert "\x1b" not in shown(io.StringIO(), 0.0, "\n")


def test_on_a_terminal_it_is_a_bar_that_is_wiped_at_the_end() -> None:
    text = shown(Terminal(), 0.0, "50 of 200 candles, 25%")
    assert "playing" in text
    assert "━" in text
    assert text.endswith("\x1b[2K")  # the last thing done to the line is wiping it


def test_a_terminal_without_colours_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown(Terminal(), 0.0, "50 of 200"))


def test_a_stage_without_a_count_tells_the_time() -> None:
    assert Stage("reading the candles", start=10.0).told(13.2) == "(3 s)"


def test_the_time_left_follows_from_the_speed_of_the_stage() -> None:
    stage = Stage("playing", 200, lambda: 50, start=10.0)
    assert stage.told(10.5) == "50 of 200 candles, 25%"
    assert stage.told(14.0) == "50 of 200 candles, 25%, about 12 s left"
    assert stage.told(1210.0) == "50 of 200 candles, 25%, about 60 min left"
    assert Stage("playing", 200, lambda: 200, start=0.0).told(9.0).endswith("100%")


def test_parts_say_a_line_each_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with Progress(stream, 60.0) as progress:
        progress.expect(2)
        progress.part("mypy done")
        assert progress.text().endswith("1 of 2 parts, 50%")
        progress.part("pytest done")
    assert stream.getvalue() == "mypy done\npytest done\n"


def test_on_a_terminal_parts_stand_beside_the_bar_and_go_with_it() -> None:
    stream = Terminal()
    with Progress(stream, 60.0) as progress:
        progress.expect(2)
        progress.part("mypy done")
        progress.say("Freqtrade is not here")
    assert stream.getvalue() == "Freqtrade is not here\n"


def test_quiet_work_shows_nothing_at_all() -> None:
    stream = io.StringIO()
    with Progress(stream, 0.0, quiet=True) as progress:
        progress.expect(1)
        progress.part("mypy done")
        progress.say("hello")
    assert stream.getvalue() == ""


def test_a_failure_ends_the_bar() -> None:
    stream = Terminal()
    with pytest.raises(ValueError, match="broken"), Progress(stream, 60.0):
        raise ValueError("broken")
    assert stream.getvalue() == ""


CONTRACT: dict[str, Any] = {
    "version": "1.0",
    "workflow": "slow",
    "task": "strategy",
    "kind": "strategy",
    "name": "TwoSymbols",
    "market": {"symbols": ["A/B", "C/B"], "timeframe": "1m"},
    "data": {"source": "csv", "path": "{symbol}.csv"},
    "rules": {"enter_long": "close > open", "exit_long": "close < open"},
    "risk": {"stop_loss": 0.02},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bars = 30_000
    close = 100 + np.sin(np.arange(bars))
    frame = pd.DataFrame({"timestamp": np.arange(bars) * 60_000, "open": 100.0, "high": 102.0})
    frame = frame.assign(low=98.0, close=close, volume=1.0)
    for symbol in ("A_B", "C_B"):
        frame.to_csv(tmp_path / f"{symbol}.csv", index=False)
    (tmp_path / "slow.json").write_text(json.dumps(CONTRACT), "utf-8")
    return tmp_path


def command(folder: Path) -> list[str]:
    code = "import bot.progress as p; p.SILENT_S = p.BAR_EVERY_S = p.LINE_EVERY_S = 0.02\n"
    code += "import sys; p.Progress.__init__.__defaults__ = (None, 0.02)\n"
    code += "from bot.cli import main; sys.exit(main(sys.argv[1:]))"
    data = str(folder / "{symbol}.csv")
    tail = ["backtest", str(folder / "slow.json"), "--data", data, "--out", str(folder / "out")]
    return [sys.executable, "-c", code, *tail, "--json"]


def test_a_backtest_shows_how_far_it_is_beside_its_result(folder: Path) -> None:
    done = subprocess.run(
        command(folder), cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    assert json.loads(done.stdout)["summary"]["total_trades"] > 0
    assert "of 60,000 candles" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_backtest_on_a_terminal_shows_a_bar(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(folder), cwd=ROOT, stdout=subprocess.PIPE, stderr=theirs) as run:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            seen += part
        assert run.stdout is not None
        answer = json.loads(run.stdout.read())
    os.close(ours)
    assert answer["summary"]["total_trades"] > 0
    assert "━".encode() in seen
    assert b"of 60,000 candles" in seen
