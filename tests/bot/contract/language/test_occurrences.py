"""How often rules and clauses held, against the interpreter, bar by bar."""

import random

from bot.contract.language.interpreter import Interpreter
from bot.contract.language.occurrences import count_signals
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
    found = count_signals(program, {"A": worlds.frame_of(candles), "B": worlds.frame_of(candles)})
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
    rule = count_signals(compile_contract(subject), {"A": frame})["rules"]["enter_long"]
    assert rule["held"] == 0
    assert rule["never_together"] == ["close is above open", "close is below open"]
