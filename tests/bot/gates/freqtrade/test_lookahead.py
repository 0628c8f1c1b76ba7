"""Freqtrade strategies that leak and that do not, loaded by Freqtrade in the real sandbox."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from Backtest.candles import read_candles
from bot.cli import main
from bot.gates.freqtrade.any_file import Examined, examine_freqtrade_file
from bot.gates.freqtrade.lookahead import (
    CUTS,
    LAST,
    Cut,
    judge_columns,
    plan_cuts,
    strategy_classes,
)
from bot.gates.port import Verdict
from bot.gates.static.static_check import check_bytes
from sandbox_runner.harness.ask_lookahead import ANSWER
from sandbox_runner.port import Outcome, open_sandbox
from tests.chance import EVERY_ATTACK
from tests.e2e.lines import CANDLES, HOUSE

FILES = HOUSE / "tests/freqtrade_files"
HONEST, LEAKING = (FILES / f"{name}.py.txt" for name in ("honest", "leaking"))
FREQTRADE = pytest.mark.freqtrade
BARS = 600
# One way of each kind; a class takes seconds, for every cut is a run. `make attacks` takes all.
SOME = {
    LEAKING: ("Plain", "WholeMean", "MergedTooEarly"),
    HONEST: ("Plain", "Recursive", "MergedInTime"),
}


@pytest.fixture(scope="module")
def candles() -> pd.DataFrame:
    return read_candles(CANDLES).head(BARS)


def examined(path: Path, candles: pd.DataFrame) -> dict[str, Examined]:
    head, *classes = path.read_text("utf-8").split("\n\n\nclass ")
    kept = [text for text in classes if EVERY_ATTACK or text.partition("(")[0] in SOME[path]]
    source = "\n\n\nclass ".join([head, *kept]).encode()
    found = examine_freqtrade_file(path.stem, source, candles, open_sandbox("namespace"))
    names = strategy_classes(path.read_bytes()) if EVERY_ATTACK else SOME[path]
    assert [one.name for one in found] == [*names]
    return {one.name: one for one in found}


def verdict(found: Examined, gate: str) -> Verdict:
    return next(one for one in found.verdicts if one.name == gate)


@FREQTRADE
def test_every_leak_is_found(candles: pd.DataFrame) -> None:
    for name, one in examined(LEAKING, candles).items():
        refused = verdict(one, "lookahead")
        assert not refused.passed, name
        assert "on the first" in refused.reason, refused
        assert verdict(one, "determinism").passed, name


@FREQTRADE
def test_nothing_honest_is_stopped(candles: pd.DataFrame) -> None:
    for name, one in examined(HONEST, candles).items():
        assert one.passed, (name, one.verdicts)
        assert verdict(one, "lookahead").figure.startswith(f"{CUTS} cuts")


@FREQTRADE
def test_the_command_prints_a_table_and_exits_with_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = HONEST.read_text("utf-8").partition("class Recursive")[0]
    leak = source.replace(".shift(1)", ".shift(-1)").replace("class Plain", "class Leak")
    for name, text in (("Plain.py", source), ("Leak.py", leak)):
        (tmp_path / name).write_text(text, "utf-8")
    files = [str(tmp_path / name) for name in ("Plain.py", "Leak.py")]
    options = ["--class", "freqtrade", "--data", str(CANDLES), "--sandbox", "namespace"]
    assert main(["gate", *files, *options, "--json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["class"], line["passed"]) for line in lines] == [("Plain", True), ("Leak", False)]
    assert main(["gate", files[0], *options]) == 0
    assert "lookahead    pass    48 cuts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.py"], "is no contract"),
        (["x.py", "--class", "freqtrade"], "--data is needed"),
        (["x.py", "--class", "freqtrade", "--data", str(CANDLES)], "there is no file x.py"),
        (["a.yaml", "b.yaml"], "one contract at a time"),
    ],
)
def test_wrong_arguments_say_what_to_write(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", *arguments]) == 2
    assert words in capsys.readouterr().err


@FREQTRADE
def test_what_the_static_gate_refuses_is_told_and_the_sandbox_holds_it(
    candles: pd.DataFrame,
) -> None:
    source = b"import os\n" + HONEST.read_bytes().partition(b"class Recursive")[0]
    source += b"    found = os.listdir('/job/candles')\n"
    [found] = examine_freqtrade_file("A.py", source, candles, open_sandbox("namespace"))
    assert not verdict(found, "imports").passed
    assert verdict(found, "lookahead").figure == "no answer"


def test_a_file_without_a_strategy_says_so(candles: pd.DataFrame) -> None:
    [empty] = examine_freqtrade_file("A.py", b"x = 1\n", candles, open_sandbox("namespace"))
    assert "no class below IStrategy" in verdict(empty, "lookahead").reason


def test_the_look_alikes_pass_the_static_gate() -> None:
    for path in (HONEST, LEAKING):
        assert check_bytes(path.read_bytes(), "freqtrade") == ()


def test_cuts_are_at_least_forty_shortest_first_and_asked_about_at_their_end() -> None:
    cuts = plan_cuts(1000, b"x")
    assert len(cuts) == CUTS >= 40
    assert [cut.bars for cut in cuts] == sorted({cut.bars for cut in cuts})
    for cut in cuts:
        assert set(range(cut.bars - LAST, cut.bars)) <= set(cut.at)
        assert 250 <= min(cut.at) <= max(cut.at) < cut.bars < 1000
    assert plan_cuts(1000, b"y") != cuts


def answer(runs: list[Any]) -> Outcome:
    content = json.dumps({"runs": runs}).encode()
    return Outcome(0, False, False, b"", b"", False, {ANSWER: content}, {}, 0.0)


def judged(runs: list[Any]) -> tuple[Verdict, Verdict]:
    return judge_columns("A", 0, answer(runs), [Cut(2, (0, 1))], 3, "A.py")


WHOLE = {"columns": {"rsi": [1.0, 2.0]}}


@pytest.mark.parametrize(
    "first",
    [
        {"columns": {"rsi": [1.0, 2.1]}},
        {"columns": {"rsi": [1.0, None]}},
        {"columns": {"rsi": [1.0, "2.0"]}},
        {"columns": {}},
        {"columns": {"rsi": [1.0, 2.0], "more": [1, 1]}},
    ],
)
def test_a_difference_is_a_leak(first: Any) -> None:
    determinism, lookahead = judged([first, WHOLE, WHOLE])
    assert determinism.passed
    assert not lookahead.passed
    assert lookahead.reason.isprintable()


def test_the_last_digits_are_no_leak() -> None:
    assert judged([{"columns": {"rsi": [1.0, 2.0 + 1e-12]}}, WHOLE, WHOLE])[1].passed


def test_another_answer_in_another_process_is_chance() -> None:
    other = {"columns": {"rsi": [1.0, 2.5]}}
    assert not judged([{"columns": {"rsi": [1.0, 2.0]}}, WHOLE, other])[0].passed


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [WHOLE, WHOLE],
        [{"columns": {"rsi": [1.0, 2.0, 3.0]}}, WHOLE, WHOLE],
        [{"columns": {"rsi": [1.0, [2.0]]}}, WHOLE, WHOLE],
        [{"columns": 3}, WHOLE, WHOLE],
        [{"error": "ValueError: \x1b[2K no"}, WHOLE, WHOLE],
        ["x", WHOLE, WHOLE],
        [None, None, None],
    ],
)
def test_an_answer_of_another_form_has_failed(runs: list[Any]) -> None:
    for found in judged(runs):
        assert not found.passed
        assert found.figure == "no answer"
        assert found.reason.isprintable()


@pytest.mark.parametrize("change", [{"timed_out": True, "exit_code": None}, {"outputs": {}}])
def test_no_answer_has_failed(change: dict[str, Any]) -> None:
    fields = answer([WHOLE] * 3).__dict__ | change
    found = judge_columns("A", 0, Outcome(**fields), [Cut(2, (0, 1))], 3, "A.py")
    assert not any(one.passed for one in found)
