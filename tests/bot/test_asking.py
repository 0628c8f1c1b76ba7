"""`run` asks a model only where settings, contract, key and budget all say so."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import main
from bot.errors import InputError
from bot.workshop import sign_digest
from tests.bot.coder.model.talks import contract_text
from tests.bot.git.worlds import World, commit_file, make_world, sh
from tests.doubles.model.messages_api import KEY, MessagesApi, answers, serving

PATH = "contracts/dip.yaml"
QUESTION = "enter_long: rsi < 30 and close > trend"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = make_world(tmp_path)
    commit_file(
        made.work, "tests/fixtures/sample_btc.csv", "timestamp,open,high,low,close,volume\n"
    )
    commit_file(made.work, PATH, contract_text())
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return made


def run(world: World, server: MessagesApi, monkeypatch: pytest.MonkeyPatch, more: str = "") -> int:
    if more:
        commit_file(world.work, "stratwright.yml", more)
    sh(world.work, "push", "-q", "origin", "main")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    return main(["run", "--quiet", str(world.work / PATH)])


def test_a_model_that_never_answers_well_blocks_with_all_errors(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving([answers("rs < 30")] * 3) as server:
        assert run(world, server, monkeypatch) == 1
    said = capsys.readouterr().out
    assert said.startswith("blocked  corr_")
    assert said.count("unknown name `rs`") == 3
    assert "cost 0.009600 US dollars" in said
    assert main(["status", "--repository", str(world.work)]) == 0
    assert "blocked" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more", ["coder: {enabled: false}\n", "coder: {type: template}\n"], ids=["off", "template"]
)
def test_where_it_is_switched_off_the_author_is_asked(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: str,
) -> None:
    with serving() as server:
        assert run(world, server, monkeypatch, more) == 2
    assert server.asked == []
    assert QUESTION in capsys.readouterr().err


def test_without_a_key_the_author_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with serving() as server:
        assert run(world, server, monkeypatch) == 2
    assert server.asked == []
    said = capsys.readouterr().err
    assert "rules.enter_long" in said
    assert QUESTION in said


def test_a_limit_of_the_settings_stops_before_the_call(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as server:
        assert run(world, server, monkeypatch, "coder: {max_cost_per_day_usd: 0.01}\n") == 5
    assert server.asked == []
    assert "max_cost_per_day_usd" in capsys.readouterr().err


def test_a_contract_whose_candles_are_missing_costs_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (world.work / "tests/fixtures/sample_btc.csv").unlink()
    with serving() as server:
        assert run(world, server, monkeypatch) == 2
    assert server.asked == []
    assert "sample_btc.csv is not there" in capsys.readouterr().err


def test_settings_that_are_not_committed_do_not_count(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (world.work / "stratwright.yml").write_text("coder: {max_cost_per_day_usd: 0.01}\n")
    with serving([answers("rs < 30")] * 3) as server:
        assert run(world, server, monkeypatch) == 1


def test_the_sdk_is_imported_only_when_a_model_is_asked() -> None:
    code = "import sys, bot.workshop, bot.pipeline; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_key_that_cannot_sign_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sign_digest("sha256:x") == ""
    monkeypatch.setenv("STRATWRIGHT_SIGNING_KEY", "not a key")
    with pytest.raises(InputError, match="not a private SSH key"):
        sign_digest("sha256:x")
