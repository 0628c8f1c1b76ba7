"""A crash is told once."""

from bot.gates.port import Verdict
from bot.proof.examination import told_once

CRASH = "the strategy failed with ZeroDivisionError: division by zero"


def test_one_gate_tells_of_a_crash_and_the_others_point_to_it() -> None:
    tested = Verdict(
        "pytest", False, "3 tests", "test_a failed: ZeroDivisionError: division by zero"
    )
    others = [
        Verdict("determinism", False, "no answer", CRASH, cause="no answer"),
        Verdict("lookahead", False, "no answer", CRASH, cause="no answer"),
        Verdict("artifacts", False, "not run", f"not run: {CRASH}"),
    ]
    first, *rest = told_once((tested, *others), CRASH)
    assert first == tested
    assert {verdict.reason for verdict in rest} == {"not run: see pytest"}
    assert not any(verdict.passed for verdict in rest)
    assert rest[0].cause == "no answer"


def test_the_line_of_a_crash_is_told_with_it() -> None:
    tested = Verdict("pytest", False, "3 tests", f"the decisions differ: {CRASH}", "tests/x.py:3")
    other = Verdict("determinism", False, "no answer", CRASH, "Backtest/codes/x.py:41")
    first, second = told_once((tested, other), CRASH)
    assert first.where == "Backtest/codes/x.py:41"
    assert second.reason == "not run: see pytest"


def test_another_reason_stays_as_it_is() -> None:
    tested = Verdict("pytest", False, "3 tests", "test_b failed: assert 1 == 2")
    other = Verdict("determinism", False, "no answer", CRASH)
    last = Verdict("artifacts", False, "not run", f"not run: {CRASH}")
    first, second, third = told_once((tested, other, last), CRASH)
    assert (first, second) == (tested, other)
    assert third.reason == "not run: see determinism"
    assert told_once((tested, other), "") == (tested, other)
