"""One suite for every coder: what it is given, what it gives, what it never does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.coder.model.agent_coder import AgentCoder
from bot.coder.port import CoderResult, TextCoder
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import parse_contract
from bot.errors import InputError
from tests.bot.coder.model.talks import CONTRACT, asking, contract_text, document
from tests.doubles.model.messages_api import KEY, answers, serving

EXACT = CONTRACT.read_text(encoding="utf-8")
ASKED = "rsi < oversold and close > trend"


@pytest.fixture(params=["template", "agent"])
def coder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TextCoder]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serving(otherwise=answers(ASKED)) as server:
        yield TemplateCoder() if request.param == "template" else AgentCoder(asking(server))


def test_an_exact_contract_is_written_without_a_model(coder: TextCoder, tmp_path: Path) -> None:
    done = coder.execute(EXACT, {"path": "contracts/dip.yaml", "root": tmp_path / "out"})
    assert (done.success, done.error, done.cost_usd, done.turns_used) == (True, None, 0.0, 0)
    assert done.files_modified == [
        "Backtest/codes/oversold_dip.py",
        "Backtest/freqtrade/OversoldDip.py",
        "tests/test_oversold_dip.py",
    ]
    assert all((tmp_path / "out" / path).is_file() for path in done.files_modified)
    assert done.output == EXACT
    assert coder.validate_result(done)


def test_the_same_contract_gives_the_same_bytes(coder: TextCoder) -> None:
    contract = parse_contract(EXACT.encode(), "yaml", Path("contracts/dip.yaml")).strategy
    first = coder.write(contract, "contracts/dip.yaml")
    assert first == coder.write(contract, "contracts/dip.yaml")
    assert first.files == TemplateCoder().write(contract, "contracts/dip.yaml").files


def test_a_mistake_is_a_result_and_no_exception(coder: TextCoder, tmp_path: Path) -> None:
    done = coder.execute("version: '1.0'\n", {"root": tmp_path / "out"})
    assert not done.success
    assert "workflow" in str(done.error)
    assert not (tmp_path / "out").exists()


def test_prose_is_answered_by_a_model_or_asked_back(coder: TextCoder) -> None:
    done = coder.execute(contract_text(), {})
    if coder.name == "template":
        assert not done.success
        assert "enter_long: rsi < 30 and close > trend" in str(done.error)
        assert done.cost_usd == 0.0
    else:
        assert done.success
        assert ASKED in done.output
        assert (done.turns_used, done.cost_usd) == (1, 0.0032)


def test_an_error_may_be_tried_again(coder: TextCoder) -> None:
    again = coder.debug("it never fired", {"contract": EXACT})
    assert again.success
    with pytest.raises(InputError, match="contract's text"):
        coder.debug("it never fired", {})


def test_a_file_is_analysed_by_the_static_gates(coder: TextCoder, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import os\n")
    found = coder.analyze(str(bad), "is it safe?")
    assert found.success
    assert "imports: " in found.output
    assert "imports: passed" not in found.output
    assert not coder.analyze(str(tmp_path / "none.py"), "?").success


@pytest.mark.parametrize(
    "path",
    [
        "bot/gates/table.py",
        "Backtest/codes/../../bot/cli.py",
        "Backtest/codes/provenance.py",
        "/etc/passwd",
        "stratwright.yml",
        "tests/deep/test_x.py",
    ],
)
def test_protected_files_do_not_pass(coder: TextCoder, path: str) -> None:
    assert not coder.validate_result(CoderResult(True, "", files_modified=[path]))


def test_what_was_done_is_counted(coder: TextCoder) -> None:
    coder.execute(EXACT, {})
    coder.execute("no contract", {})
    assert coder.get_statistics() == {
        "invocations": 2, "successes": 1, "first_try": 1, "turns": 0, "cost_usd": 0.0,
    }  # fmt: skip


def test_an_error_is_shown_to_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with serving([answers(ASKED)]) as server:
        coder = AgentCoder(asking(server))
        done = coder.debug("it fired on every bar", {"contract": contract_text()})
    assert done.success
    assert "it fired on every bar" in server.asked[0]["messages"][0]["content"]
    assert "it fired on every bar" not in done.output
    assert "prose" in str(document()["rules"])
