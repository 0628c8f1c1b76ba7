"""A clause that no market decides is named with the reason; every other one is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.contract.language.idle_clauses import idle_clauses
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.gates.behaviour import name_idle
from bot.gates.port import Verdict

ROOT = Path(__file__).parents[4]
Find = Callable[[str], dict[str, list[str]]]
RULE = "enter_long: rsi < oversold and close > trend"
TEXT = (ROOT / "contracts/oversold_dip.yaml").read_text("utf-8")


@pytest.fixture
def idle(tmp_path: Path) -> Find:
    def find(rule: str) -> dict[str, list[str]]:
        path = tmp_path / "dip.yaml"
        path.write_text(TEXT.replace(RULE, f"enter_long: {rule}"), "utf-8")
        contract = load_contract(path).strategy
        return idle_clauses(contract, compile_contract(contract))

    return find


@pytest.mark.parametrize(
    ("rule", "clause", "why"),
    [
        ("rsi < 35 and close > 0", "close is above 0", "holds wherever its other clauses do"),
        ("rsi < 35 and close < 0", "close is below 0", "never holds where its other clauses do"),
        ("rsi < 35 or rsi < 20", "rsi is below 20", "never holds where no other clause does"),
        ("close > 50 or close <= 50", "close is above 50", "holds wherever no other clause does"),
        ("close > 0 or rsi < 20", "rsi is below 20", "is never left to decide: another clause"),
        ("close < 0 and rsi < 20 and high > 0", "rsi is below 20", "do not hold together"),
        ("rsi < 35 and (close > trend or close < 0)", "close is below 0", "where no other clause"),
        ("rsi < 35 and not (close > trend and low > 0)", "low is above 0", "holds wherever"),
    ],
)
def test_a_clause_that_decides_nothing_is_named_and_why(
    idle: Find, rule: str, clause: str, why: str
) -> None:
    [told] = [told for told in idle(rule)["enter_long"] if told.startswith(f"`{clause}`")]
    assert why in told


def test_inside_a_clause_that_decides_nothing_no_part_is_named(idle: Find) -> None:
    (told,) = idle("rsi < 35 or (close < 0 and rsi > 50)")["enter_long"]
    assert told.startswith("`close is below 0 and rsi is above 50` never holds")


def test_the_example_has_none(idle: Find) -> None:
    assert idle("rsi < oversold and close > trend") == {}


def test_tests_that_passed_say_what_they_cannot_decide(idle: Find) -> None:
    found = name_idle(Verdict("pytest", True, "47 tests"), idle("rsi < 35 and close > 0"))
    assert found.figure == (
        "47 tests; no market decides, so no test: enter_long: "
        "`close is above 0` holds wherever its other clauses do"
    )
    failed = Verdict("pytest", False, "47 tests", "test_x failed")
    assert name_idle(failed, {"enter_long": ["`x` holds"]}) == failed
    assert name_idle(Verdict("pytest", True, "47 tests"), {}).figure == "47 tests"
