"""Progress: silent at first, a bar on a terminal, lines elsewhere, none of it in the result."""

import io
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bot.progress import Progress

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, silent_s: float, until: str) -> str:
    """What is shown before a text has come, or when the block ends at once."""
    came = threading.Event()
    progress = Progress(stream, silent_s)
    progress.stage("playing", 200, lambda: 50)
    with progress:
        while until and not came.wait(0.01):
            if until in stream.getvalue():
                came.set()
    return stream.getvalue()


def test_short_work_shows_nothing() -> None:
    assert shown(io.StringIO(), 60.0, "") == ""
    assert shown(Terminal(), 60.0, "") == ""


def test_elsewhere_it_is_a_plain_line() -> None:
    assert shown(io.StringIO(), 0.0, "\n").startswith("playing: 50 of 200 candles, 25%\n")
    assert "\x1b" not in shown(io.StringIO(), 0.0, "\n")


def test_on_a_terminal_it_is_a_bar_that_is_wiped_at_the_end() -> None:
    text = shown(Terminal(), 0.0, "\r")
    assert "[########......................] playing: 50 of 200 candles, 25%\r" in text
    assert text.endswith("\x1b[K")
    assert "\n" not in text


def test_a_stage_without_a_count_tells_the_time() -> None:
    progress = Progress(io.StringIO())
    progress.stage("reading the candles")
    assert progress.text(3.2) == "reading the candles (3 s)"


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
    assert b"[#" in seen
    assert b"of 60,000 candles" in seen
