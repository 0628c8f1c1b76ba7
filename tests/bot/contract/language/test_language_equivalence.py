"""The evaluator answers as the interpreter does, and neither looks ahead."""

import random
from typing import Any

import numpy as np
import pytest

from bot.contract.language.evaluator import evaluate
from bot.contract.language.interpreter import Interpreter
from bot.contract.language.program import check_language, read_program
from tests.bot.contract.language import worlds


def contract_with(rules: dict[str, str], extra: dict[str, str] | None = None) -> dict[str, Any]:
    indicators = {**worlds.INDICATORS}
    indicators.update({name: {"expression": text} for name, text in (extra or {}).items()})
    return {
        "market": {"type": "futures", "timeframe": "1h"},
        "parameters": worlds.PARAMETERS,
        "indicators": indicators,
        "rules": rules,
        "risk": {"stop_loss": {"atr": 2.0, "timeperiod": "period"}},
    }


def same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(np.asarray(left), np.asarray(right), equal_nan=True))


@pytest.mark.parametrize("seed", range(300))
def test_the_evaluator_equals_the_interpreter_bar_for_bar(seed: int) -> None:
    rng = random.Random(seed)
    number = worlds.random_number(rng, 4)
    rules = {name: worlds.random_condition(rng, 4) for name in ("enter_long", "exit_long")}
    raw = contract_with(rules, {"made": number})
    assert check_language(raw) == [], (number, rules)
    program = read_program(raw)
    candles = worlds.random_candles(rng, rng.choice([1, 2, 3, 60]))
    interpreter = Interpreter(program)
    readings = [interpreter.step(candle) for candle in candles]
    values = evaluate(program, worlds.frame_of(candles))
    for rule, text in rules.items():
        assert [r.rules[rule] for r in readings] == values[rule].tolist(), text
    for key in readings[0].indicators:
        assert same([r.indicators[key] for r in readings], values[key]), (key, number)


@pytest.mark.parametrize("seed", range(100))
def test_cutting_the_future_never_changes_the_past(seed: int) -> None:
    rng = random.Random(10_000 + seed)
    raw = contract_with({"enter_long": worlds.random_condition(rng, 5)})
    program = read_program(raw)
    candles = worlds.random_candles(rng, 50)
    whole = evaluate(program, worlds.frame_of(candles))
    for cut in sorted(rng.sample(range(1, 50), 6)):
        part = evaluate(program, worlds.frame_of(candles[:cut]))
        for key, values in part.items():
            assert same(values, whole[key][:cut]), key
