"""A small corpus of our own goes through the tool that names the layer of each file."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import HOUSE
from tools.hostile_corpus import SOON, main, markets

SHAPE = """
import numpy as np


class Strategy:
    def __init__(self, cfg):
        self.cfg = cfg

    def prepare_indicators(self, df):
        close = df["close"].to_numpy()
        return {{"target": {target}}}

    def find_entries(self, df, indicators, idx):
        if indicators["target"][idx] > 0:
            return {{"action": "BUY", "symbol": "BTC/USDT", "volume": 1.0, "type": "MARKET"}}
        return None

    def find_exits(self, position, df, indicators, idx):
        return None
"""
FILES = {
    "reads.py": ("static", "import os\n\nx = os.listdir('/')\n"),
    "ahead.py": ("gate:lookahead", SHAPE.format(target="np.roll(close, -1) > close")),
    "chance.py": ("gate:determinism", SHAPE.format(target="np.random.rand(len(close)) > 0.5")),
    "lies.py": ("gate:report-integrity", SHAPE.format(target="close * 0") + "\nprint('passed')\n"),
    "sleeps.py": ("sandbox", SHAPE.format(target="[1 for _ in iter(int, 1)]")),
}


pytestmark = pytest.mark.usefixtures("heard", "_soon")


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never ends shows that after two seconds as well as after fifteen, on one market."""
    monkeypatch.setattr(
        "tools.hostile_corpus.markets", lambda folder: [next(iter(markets(folder)))]
    )
    monkeypatch.setattr("tools.hostile_corpus.SOON", replace(SOON, time_s=2.0))


def corpus(folder: Path, names: Iterable[str] = FILES, **layers: str) -> Path:
    hostile: list[dict[str, Any]] = []
    for name in names:
        layer, source = FILES[name]
        (folder / name).write_text(source, "utf-8")
        expected = layers.get(name.removesuffix(".py"), layer)
        hostile.append({"file": name, "file_class": "strategy", "expected_layer": expected})
    (folder / "plain.py").write_text(SHAPE.format(target="close * 0"), "utf-8")
    benign = [{"file": "plain.py", "file_class": "strategy"}]
    content = {"hostile": hostile, "benign": benign}
    (folder / "manifest.json").write_text(json.dumps(content), "utf-8")
    return folder


def test_each_file_is_stopped_by_its_layer_or_an_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HOUSE)
    assert main([str(corpus(tmp_path)), "--sandbox", "namespace"]) == 0
    told = capsys.readouterr().out
    assert "0 hostile files came too far, 0 benign ones were refused" in told
    assert told.count("static: line 1: os") == 1


def test_a_file_that_comes_further_than_it_may_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HOUSE)
    place = corpus(tmp_path, ("reads.py", "ahead.py"), ahead="static")
    assert main([str(place), "--sandbox", "namespace"]) == 1
    told = capsys.readouterr().out
    assert "! ahead.py" in told
    assert "1 hostile files came too far" in told
