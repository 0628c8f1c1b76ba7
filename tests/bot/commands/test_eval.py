"""`stratwright eval` prints score, cost and rounds of any model at any address."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.doubles.model.messages_api import KEY, answers, serving


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def test_it_says_score_cost_and_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    with serving([answers("rs < 1"), answers("rsi < 30"), answers("rsi < 70")]) as server:
        asked = ("eval", "--base-url", server.url, "--rules", "2", "--strategies", "0")
        assert main([*asked, "--model", "mine", "--price", "1", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("mine: 1 of 2 answers decide as meant")
    assert "1.50 on average" in said
    assert "0.004080 US dollars" in said
    assert "bars: the RSI is overbought" in said


def test_programs_get_every_score(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(otherwise=answers("rsi < oversold")) as server:
        asked = ("eval", "--base-url", server.url, "--rules", "1", "--strategies", "0", "--json")
        assert main([*asked, "--samples", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["score"], told["exact"], len(told["cases"])) == (1.0, 2, 2)


def test_without_a_key_or_where_it_is_switched_off_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("stratwright.yml").write_text("coder: {enabled: false}\n")
    assert main(["eval"]) == 2
    Path("stratwright.yml").unlink()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert main(["eval"]) == 2
    said = capsys.readouterr().err
    assert "enabled is false" in said
    assert "ANTHROPIC_API_KEY is empty" in said
