"""The plan says what to write, where and how it is judged."""

import json
from pathlib import Path

from bot.contract.language.program import compile_contract
from bot.contract.language.warmup import warmup
from bot.contract.load import load_contract, parse_contract
from bot.plan.todo import make_plan

GOLDEN = Path(__file__).parents[2] / "golden" / "plan"
MODULE = """
version: "1.0"
workflow: feeds
task: store
kind: module
name: CandleStore
after: [fetch]
files:
  - path: Backtest/codes/candle_store.py
    signatures: ["def load(path: str) -> list[int]:", class Store]
    acceptance: [Refuses doubled rows.]
    tests: [A doubled row raises ValueError.]
  - path: tests/test_candle_store.py
"""


def test_the_plan_of_a_strategy_is_the_golden_one() -> None:
    loaded = load_contract(GOLDEN / "oversold_dip.yaml")
    candles = warmup(compile_contract(loaded.strategy))
    plan = make_plan(loaded.contract, "tests/golden/plan/oversold_dip.yaml", candles)
    expected = json.loads((GOLDEN / "oversold_dip.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(plan.to_dict())) == expected


def test_the_four_milestones_come_in_order() -> None:
    contract = load_contract(GOLDEN / "oversold_dip.yaml").contract
    todos = make_plan(contract, "x.yaml").todos
    assert [todo.id for todo in todos] == ["data", "indicators", "entries", "exits"]
    assert [todo.depends_on for todo in todos] == [(), ("data",), ("indicators",), ("entries",)]
    for todo in todos:
        assert todo.acceptance
        assert todo.signatures
        assert todo.tests
        assert "tests/test_oversold_dip.py" in todo.files


def test_a_module_is_planned_from_its_files() -> None:
    contract = parse_contract(MODULE.encode(), "yaml", Path("m.yaml")).contract
    plan = make_plan(contract, "m.yaml")
    assert plan.kind == "module"
    assert plan.after == ("fetch",)
    assert [todo.files for todo in plan.todos] == [
        ("Backtest/codes/candle_store.py",),
        ("tests/test_candle_store.py",),
    ]
    assert plan.todos[0].signatures == ("def load(path: str) -> list[int]", "class Store")
    assert plan.todos[0].acceptance == ("Refuses doubled rows.",)
    assert plan.todos[1].depends_on == ("file-1",)
