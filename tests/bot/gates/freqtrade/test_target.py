"""The gate freqtrade-parity passes what is the same, and nothing that it could not compare."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.contract.language.program import compile_contract
from bot.gates.freqtrade.parity import Expectation, without_gaps
from bot.gates.freqtrade.target import judge_freqtrade
from bot.gates.table import NAMES
from bot.proof.examination import gate_names
from bot.proof.targets import ADAPTER_ONLY, Targets
from sandbox_runner.jobs import FREQTRADE_ANSWER, freqtrade_job
from sandbox_runner.port import Outcome
from sandbox_runner.recording import job_digest
from tests.freqtrade.worlds import world

PATH = "Backtest/freqtrade/World4.py"


@pytest.fixture(name="expected", scope="module")
def expected_fixture() -> Expectation:
    contract, frames = world(4)
    return Expectation(contract, compile_contract(contract), frames)


def right_answers(expected: Expectation) -> list[dict[str, Any]]:
    signals = expected.signals()
    return [{"signals": signals, "trades": expected.trades()}, {"signals": signals}]


def outcome(answers: object) -> Outcome:
    content = answers if isinstance(answers, bytes) else json.dumps(answers).encode()
    return Outcome(0, False, False, b"", b"", False, {FREQTRADE_ANSWER: content}, {}, 1.0)


def test_the_same_signals_and_trades_pass(expected: Expectation) -> None:
    answers = right_answers(expected)
    verdict = judge_freqtrade(outcome(answers), expected, expected, PATH)
    assert verdict.passed, verdict.reason
    assert f"{len(answers[0]['trades'])} trades" in verdict.figure
    assert answers[0]["trades"]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda a: a[0]["signals"]["BTC/USDT"]["enter_long"].append(3), "bar 3"),
        (lambda a: a[1]["signals"]["BTC/USDT"]["enter_long"].append(3), "on other prices"),
        (lambda a: a[0]["trades"].pop(), "trades"),
        (lambda a: a[0]["trades"][0].update(close_rate=1.0), "close_rate is 1.0"),
        (lambda a: a[0]["trades"][0].update(exit_reason="luck"), "exit_reason is luck"),
        (lambda a: a[0].pop("trades"), "malformed"),
        (lambda a: a[0].update(signals=5), "malformed"),
        (lambda a: a[0].update(trades=[5]), "malformed"),
        (lambda a: a.pop(), "two parts"),
    ],
)
def test_every_difference_is_refused(spoil: Any, reason: str, expected: Expectation) -> None:
    answers = right_answers(expected)
    answers = json.loads(json.dumps(answers))
    spoil(answers)
    verdict = judge_freqtrade(outcome(answers), expected, expected, PATH)
    assert not verdict.passed
    assert reason in verdict.reason
    assert verdict.where == PATH


@pytest.mark.parametrize("content", [b"", b"[", b"\xff", b"5", b"null"])
def test_an_answer_that_cannot_be_read_is_refused(content: bytes, expected: Expectation) -> None:
    assert not judge_freqtrade(outcome(content), expected, expected, PATH).passed


def test_only_what_is_delivered_has_the_gate() -> None:
    assert gate_names(Targets(freqtrade=True)) == (*NAMES, "freqtrade-parity")
    assert gate_names(ADAPTER_ONLY) == NAMES


def test_freqtrade_may_come_from_an_environment_of_its_own(tmp_path: Path) -> None:
    job = freqtrade_job(PATH, b"", b"{}", packages=tmp_path)
    assert job.shared == {"freqtrade": tmp_path}
    assert job.environment["PYTHONPATH"].endswith("/shared/freqtrade")
    # Where a record is asked, the question is the same and nothing is shared.
    recorded = freqtrade_job(PATH, b"", b"{}")
    assert recorded.shared == {}
    assert job_digest(recorded) == job_digest(job)


def test_a_missing_candle_is_flat_at_the_close_before_it() -> None:
    _, frames = world(4)
    frame = next(iter(frames.values())).head(6).drop(index=[2, 3])
    filled = without_gaps(frame.reset_index(drop=True), world(4)[0].market.timeframe)
    assert len(filled) == 6
    close = frame["close"].iloc[1]
    assert (
        filled.loc[2:3, ["open", "high", "low", "close"]].to_numpy().tolist() == [[close] * 4] * 2
    )
    assert filled["volume"].tolist()[2:4] == [0.0, 0.0]
