import pytest

from bot.contract.document.characters import hidden_kind
from bot.report.terminal import WIDTH, equity_line, figure_table, gate_table, table
from tests.bot.report.hostile import TEXTS
from tests.bot.report.stories import PASSED, REFUSED, Answer


def test_columns_are_aligned_and_lines_fit() -> None:
    long = Answer("ümläut-日本", False, "1 of 9", "word " * 90, "a.py:1", "step " * 60)
    lines = gate_table((*REFUSED, long)).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    where = lines[0].index("result")
    assert all(line[where : where + 4] in ("pass", "FAIL") for line in lines[1:6])


def test_all_passed_is_said_in_words() -> None:
    assert gate_table(PASSED).endswith("\n13 of 13 gates passed\n")


def test_what_failed_is_named_and_explained() -> None:
    table = gate_table(REFUSED)
    assert "11 of 13 gates passed; failed: mypy, acceptance" in table
    assert "next:  Annotate the function" in table


def test_a_gate_that_another_kept_from_running_takes_one_line() -> None:
    crashed = Answer("pytest", False, "no report", "ZeroDivisionError", "a.py:3", "mend it")
    kept = Answer("lookahead", False, "not run", "not run: see pytest", "a.py", "mend pytest first")
    lines = gate_table((crashed, kept)).splitlines()
    assert lines[-2].split() == ["lookahead", "FAIL", "not", "run:", "see", "pytest"]
    assert len(lines) == 1 + 4 + 1 + 1


def test_a_failure_without_a_reason_says_so() -> None:
    assert "The gate gave no reason." in gate_table([Answer("x", False)])


def test_no_gates_is_no_proof() -> None:
    assert gate_table([]) == "No gate has run, so nothing is proven.\n"


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_reason_cannot_steer_the_terminal_or_add_a_verdict(text: str) -> None:
    table = gate_table([Answer(text, False, text, text, text, text), PASSED[0]])
    assert not [char for char in table if hidden_kind(char)]
    flush_left = [line for line in table.splitlines() if not line.startswith(" ")]
    assert len(flush_left) == 4, "the heading, two gates and the count"


def test_a_table_wraps_its_last_column_and_keeps_the_others_in_line() -> None:
    text = table(("name", "what"), [("one", "word " * 30), ("three", "a\nb")])
    lines = text.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith("one    word")
    assert lines[2].startswith("       word")
    assert lines[-2:] == ["three  a", "       b"]


def test_figures_fit_and_are_left_out_where_nothing_was_played() -> None:
    assert figure_table({}) == ""
    played = {"bars": 10, "return": -0.0101, "win_rate": 0.5, "sharpe": None, "total_trades": 4}
    text = figure_table(played)
    assert "return              -1.01%" in text
    assert "trades won          50.00%" in text
    assert "50.00%" not in figure_table({**played, "total_trades": 0})
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_equity_is_one_line_from_its_lowest_to_its_highest() -> None:
    rows = "".join(f"t,{100 + n % 90},0,0\n" for n in range(900))
    line = equity_line(f"timestamp,equity,cash,drawdown\n{rows}".encode())
    assert len(line) == WIDTH
    assert set("▁█") <= set(line)
    for odd in (b"", b"timestamp,equity\n", b"a,b\nx,y\nx,y\n", b"a,b\nx,nan\nx,1\n"):
        assert equity_line(odd) == ""
