"""No call is made that could pass a limit, whoever else spends at the same time."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.coder.budget import Budget, BudgetSpent, ledger_folder
from bot.errors import WorldError


class Noon:
    """Stands still."""

    def now(self) -> datetime:
        return datetime(2026, 11, 1, 12, tzinfo=UTC)


def budget(folder: Path, here: int = 1_000, today: int = 1_000) -> Budget:
    return Budget(here, today, folder, Noon())


def test_what_a_call_cost_is_booked_and_not_what_it_could_have_cost(tmp_path: Path) -> None:
    spent = budget(tmp_path)
    assert spent.settle(spent.set_aside(900), 10) == 10
    assert spent.settle(spent.set_aside(900), 20) == 20
    assert spent.spent == 30
    lines = [json.loads(line) for line in (tmp_path / "2026-11-01.jsonl").read_text().splitlines()]
    assert [line.get("most", line.get("cost")) for line in lines] == [900, 10, 900, 20]


def test_a_call_that_could_pass_the_invocations_limit_is_not_made(tmp_path: Path) -> None:
    spent = budget(tmp_path, here=100)
    spent.settle(spent.set_aside(100), 60)
    with pytest.raises(BudgetSpent, match="max_cost_per_invocation_usd"):
        spent.set_aside(41)
    spent.set_aside(40)


def test_the_day_is_shared_by_all_and_a_new_one_begins(tmp_path: Path) -> None:
    first, second = budget(tmp_path), budget(tmp_path)
    first.settle(first.set_aside(600), 600)
    with pytest.raises(BudgetSpent, match="max_cost_per_day_usd"):
        second.set_aside(401)
    Budget(1_000, 1_000, tmp_path).set_aside(401)  # another day


def test_of_ten_at_once_only_as_many_call_as_the_day_allows(tmp_path: Path) -> None:
    def spend(number: int) -> int:
        own = budget(tmp_path, today=350)
        try:
            return own.settle(own.set_aside(100), 100)
        except BudgetSpent:
            return 0

    with ThreadPoolExecutor(10) as pool:
        paid = sorted(pool.map(spend, range(10)))
    assert paid == [0] * 7 + [100] * 3


def test_a_call_that_nobody_settled_counts_as_the_most_it_could_cost(tmp_path: Path) -> None:
    budget(tmp_path).set_aside(700)  # and then the process died
    with pytest.raises(BudgetSpent):
        budget(tmp_path).set_aside(301)


def test_a_call_of_unknown_cost_is_booked_at_its_most(tmp_path: Path) -> None:
    spent = budget(tmp_path)
    assert spent.settle(spent.set_aside(700), None) == 700


def test_a_ledger_that_cannot_be_read_lets_nothing_be_spent(tmp_path: Path) -> None:
    (tmp_path / "2026-11-01.jsonl").write_text("torn")
    with pytest.raises(WorldError, match="cannot be used"):
        budget(tmp_path).set_aside(1)
    (tmp_path / "file").write_text("")
    with pytest.raises(WorldError, match="cannot be used"):
        budget(tmp_path / "file").set_aside(1)


def test_the_ledger_lies_outside_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert ledger_folder() == Path("/state/stratwright/costs")
