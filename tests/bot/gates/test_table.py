import re
from pathlib import Path

from bot.gates.freqtrade.target import NAME as FREQTRADE
from bot.gates.table import FOREIGN, LINTERS, NAMES, TABLE
from bot.proof import trial

HOUSE = Path(__file__).resolve().parents[3]


def test_every_gate_has_one_name_and_one_row_in_the_docs() -> None:
    names = (*NAMES, *FOREIGN, FREQTRADE)
    assert len(set(names)) == len(names)
    page = (HOUSE / "docs/gates.md").read_text("utf-8")
    assert set(names) <= set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))


def test_every_job_that_a_gate_needs_is_one_of_the_trial() -> None:
    text = Path(trial.__file__).read_text("utf-8")
    for job in {job for row in TABLE for job in row.jobs}:
        assert f'"{job}": ' in text, job


def test_the_linters_come_first_and_gates_on_results_need_a_backtest() -> None:
    assert tuple(row.name for row in TABLE[: len(LINTERS)]) == LINTERS
    assert all(row.needs_backtest is not bool(row.jobs) for row in TABLE)
