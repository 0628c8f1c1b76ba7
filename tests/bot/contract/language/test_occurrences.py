"""How often rules and clauses held, against the interpreter, bar by bar."""

import math
import random

import numpy as np

from bot.contract.language.evaluator import evaluate
from bot.contract.language.interpreter import Interpreter
from bot.contract.language.occurrences import count_signals, with_clauses
from bot.contract.language.program import compile_contract
from tests.bot.coder.template.test_freqtrade_strategy import contract
from tests.bot.contract.language import worlds


def test_counts_are_those_of_the_interpreter() -> None:
    subject = contract(
        rules={
            "enter_long": "close > open and close > close[1]",
            "exit_long": "close > open or close < 0",
            "enter_short": "close > 1 and close < 0",
        },
        risk={"stop_loss": 0.1},
    )
    program = compile_contract(subject)
    candles = worlds.random_candles(random.Random(5), 200)
    interpreter = Interpreter(program)
    rows = [interpreter.step(candle).rules for candle in candles]
    values = evaluate(with_clauses(program), worlds.frame_of(candles))
    found = count_signals(program, [values, values])
    for rule in program.rules:
        assert found["rules"][rule]["held"] == 2 * sum(row[rule] for row in rows), rule
    assert found["collisions"] == found["rules"]["enter_long"]["held"] > 0
    assert (found["candles"], found["entries"]) == (400, 0)
    clauses = found["rules"]["enter_short"]["clauses"]
    assert [clause["held"] for clause in clauses] == [400, 0]
    assert "never_together" not in found["rules"]["enter_short"]


def test_clauses_that_hold_apart_and_never_together_are_found() -> None:
    subject = contract(
        rules={"enter_long": "close > 0 and close > open and close < open"},
        risk={"stop_loss": 0.1},
    )
    frame = worlds.frame_of(worlds.random_candles(random.Random(5), 200))
    program = compile_contract(subject)
    values = evaluate(with_clauses(program), frame)
    rule = count_signals(program, [values])["rules"]["enter_long"]
    assert rule["held"] == 0
    assert rule["never_together"] == ["close is above open", "close is below open"]


def test_entries_and_collisions_are_counted_candle_by_candle() -> None:
    rules = ("enter_long", "exit_long", "enter_short", "exit_short")
    dice = np.random.default_rng(7)
    for sides in ((True, True, True, True), (True, True, False, False), (False, False, True, True)):
        names = [rule for rule, there in zip(rules, sides, strict=True) if there]
        subject = contract(
            rules=dict.fromkeys(names, "close > open"),
            risk={"stop_loss": {"atr": 2, "timeperiod": 14}},
        )
        program = compile_contract(subject)
        values: dict[str, np.ndarray] = {rule: dice.random(300) < 0.3 for rule in names}
        (field,) = program.atr_periods
        values[f"{field}.atr"] = np.where(dice.random(300) < 0.2, np.nan, 1.0)
        found = count_signals(program, [values, values])
        entries = collisions = 0
        for row in range(300):
            now = {rule: rule in values and bool(values[rule][row]) for rule in rules}
            both = now["enter_long"] and now["enter_short"]
            clash = both or any(now[f"enter_{s}"] and now[f"exit_{s}"] for s in ("long", "short"))
            entry = (now["enter_long"] or now["enter_short"]) and not clash
            entries += entry and not math.isnan(values[f"{field}.atr"][row])
            collisions += clash
        assert (found["entries"], found["collisions"]) == (2 * entries, 2 * collisions)
