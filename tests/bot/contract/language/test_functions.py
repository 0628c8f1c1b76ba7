"""Each row of the table of functions says one thing to everybody who reads it."""

import random

import numpy as np
import pytest

from bot.contract.language.evaluator import evaluate
from bot.contract.language.functions import FUNCTIONS, Function
from bot.contract.language.interpreter import Interpreter
from bot.contract.language.program import Program, read_program
from bot.contract.language.program_steps import ExpressionStep
from bot.contract.language.warmup import warmup
from bot.contract.language.words import in_words
from tests.bot.contract.language import worlds

ROWS = [pytest.param(function, id=function.name) for function in FUNCTIONS.values()]
GIVEN = {"number": ("close", "open"), "any": ("close",), "boolean": ("close > open",)}
# Its last bar hangs on the whole past; the exponential average settles, and is never exact.
WITHOUT_END = ("bars_since", "ema")


def call_of(function: Function) -> str:
    left = {kind: iter(texts) for kind, texts in GIVEN.items()}
    texts = ["3" if kind == "window" else next(left[kind]) for _, kind in function.arguments]
    return f"{function.name}({', '.join(texts)})"


def program_of(function: Function) -> Program:
    return read_program({"indicators": {"asked": {"expression": call_of(function)}}})


@pytest.mark.parametrize("function", ROWS)
def test_a_function_says_the_same_bar_by_bar_and_at_once(function: Function) -> None:
    program = program_of(function)
    candles = worlds.random_candles(random.Random(function.name), 60)
    interpreter = Interpreter(program)
    one_by_one = [float(interpreter.step(candle).indicators["asked"]) for candle in candles]
    at_once = evaluate(program, worlds.frame_of(candles))["asked"].astype(np.float64)
    assert np.array_equal(one_by_one, at_once, equal_nan=True)
    assert len(set(at_once[~np.isnan(at_once)])) > 1, "these candles show nothing"


@pytest.mark.parametrize("function", [row for row in ROWS if row.id not in WITHOUT_END])
def test_a_function_needs_no_more_of_the_past_than_its_span(function: Function) -> None:
    program = program_of(function)
    frame = worlds.frame_of(worlds.random_candles(random.Random(function.name), 60))
    whole = evaluate(program, frame)["asked"]
    for end in range(20, 60):
        part = evaluate(program, frame[end - warmup(program) : end + 1])["asked"]
        assert np.array_equal(part[-1:], whole[end : end + 1], equal_nan=part.dtype == np.float64)


@pytest.mark.parametrize("function", ROWS)
def test_a_sentence_names_every_argument(function: Function) -> None:
    program = program_of(function)
    step = program.steps[0]
    assert isinstance(step, ExpressionStep)
    assert "{" not in in_words(step.tree)
    for place, (_, kind) in enumerate(function.arguments):
        assert f"{{{place}}}" in function.words, kind
