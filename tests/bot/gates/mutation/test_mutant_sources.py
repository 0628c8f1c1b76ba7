"""Every kind of mistake is made at every place where it can be made, one at a time."""

import ast

import pytest

from bot.gates.mutation.mutant_sources import make_mutants

STRATEGY = '''
"""A strategy."""
DEFAULT_CFG: dict[str, object] = {"level": 30, "stop": 0.02, "both": False, "name": "x"}
LIMIT = 5


class Strategy:
    """Rules."""

    def prepare_indicators(self, df):
        """All of them: 7 of 9 or so."""
        level = self.cfg["level"]
        close = series.column(df, "close")
        rsi = talib.RSI(close, timeperiod=14)
        enter_long = (rsi < level) & ~(close > 100.0)
        return {"enter_long": enter_long}

    def find_exits(self, position, df, indicators, idx):
        if position["action"] != "BUY" or not indicators["exit_long"].iloc[idx]:
            return None
        return position


def helper(x):
    return x > 3
'''


def told(kind: str) -> list[str]:
    return [f"{m.before} -> {m.after}" for m in make_mutants(STRATEGY) if m.kind == kind]


def test_every_number_goes_a_step() -> None:
    assert told("step") == [
        "30 -> 31",
        "0.02 -> 0.022000000000000002",
        "14 -> 15",
        "100.0 -> 110.00000000000001",
    ]


def test_every_comparison_and_truth_is_flipped() -> None:
    assert told("flip") == [
        "False -> True",
        "rsi < level -> rsi >= level",
        "close > 100.0 -> close <= 100.0",
        "position[\"action\"] != \"BUY\" -> position['action'] == 'BUY'",
    ]


def test_every_clause_is_dropped_and_every_and_is_swapped() -> None:
    left, right = "rsi < level", "~(close > 100.0)"
    assert f"({left}) & {right} -> {left}" in told("drop")
    assert f"({left}) & {right} -> {right}" in told("drop")
    assert f"({left}) & {right} -> (rsi < level) | ~(close > 100.0)" in told("swap")
    assert sum("BUY" in each for each in told("drop")) == 2
    assert sum(" and " in each for each in told("swap")) == 1


def test_every_series_comes_a_bar_late_and_settings_do_not() -> None:
    shifted = told("shift")
    assert shifted.count("close -> series.ago(close, 1)") == 2
    assert "rsi -> series.ago(rsi, 1)" in shifted
    assert "enter_long -> series.ago(enter_long, 1)" in shifted
    assert "idx -> idx - 1" in shifted
    assert not any("level" in each for each in shifted)


def test_each_mutant_is_python_with_one_change_in_its_line() -> None:
    before = STRATEGY.splitlines()
    for mutant in make_mutants(STRATEGY):
        after = mutant.source.splitlines()
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(STRATEGY))
        changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b]
        assert changed == [mutant.line]


def test_numbers_count_up_and_no_mutant_is_there_twice() -> None:
    mutants = make_mutants(STRATEGY)
    assert [mutant.number for mutant in mutants] == list(range(1, len(mutants) + 1))
    assert len({mutant.source for mutant in mutants}) == len(mutants)


def test_what_is_no_rule_has_no_mutants() -> None:
    lines = STRATEGY.splitlines()
    touched = {lines[mutant.line - 1] for mutant in make_mutants(STRATEGY)}
    assert "    return x > 3" not in touched
    assert "LIMIT = 5" not in touched


def test_text_that_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        make_mutants("class Strategy:\n  x ==\n")
