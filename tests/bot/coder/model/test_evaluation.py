"""The evaluation counts decisions, not text, and is itself tried with scripted models."""

import json

import pytest

from bot.coder.model.evaluation import (
    EvaluatedCase,
    decisions,
    evaluate_model,
    read_cases,
    summary,
)
from tests.bot.coder.model.talks import asking
from tests.doubles.model.messages_api import Exchange, Step, answers, says, serving

CASES = read_cases()


def reads(change: str = "") -> Step:
    """A model that knows what was meant, and writes it a little otherwise."""
    known = {words: text for case in CASES for words, text in case.rules.values()}

    def step(exchange: Exchange) -> None:
        data = exchange.body["messages"][0]["content"].partition("<data>\n")[2]
        shown = json.loads(data.rpartition("\n</data>")[0])
        text = known[shown["rules"][shown["asked"]]["prose"]]
        answers(f"({text}){change}")(exchange)

    return step


def test_there_are_sixty_rules_and_twenty_strategies_of_one_meaning_each() -> None:
    single = [case for case in CASES if not case.name.startswith("strategy ")]
    assert len(single) >= 60
    assert len(CASES) - len(single) >= 20
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(len(case.rules) >= 2 for case in CASES if case not in single)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_reference_decides_something(case: EvaluatedCase) -> None:
    wanted = decisions(case, {name: text for name, (_, text) in case.rules.items()})
    assert wanted.any(axis=0).all()
    assert not wanted.all(axis=0).any()


def test_a_model_that_means_the_same_in_other_words_has_the_whole_score() -> None:
    few = [*CASES[:6], CASES[-1]]
    with serving(otherwise=reads(" and always")) as server:
        scores = list(evaluate_model(few, asking(server), 2))
    total = summary(scores)
    assert (total["answers"], total["exact"], total["score"]) == (14, 14, 1.0)
    assert total["cost_usd"] == pytest.approx(0.0032 * 16)  # the last has two rules
    assert total["mean_rounds"] == pytest.approx(16 / 14)


def test_a_wrong_reading_is_counted_in_bars() -> None:
    with serving(otherwise=answers("rsi < oversold - 1")) as server:
        (score,) = evaluate_model(CASES[:1], asking(server), 1)
    assert 0 < score.differing < score.bars / 10
    assert not score.is_exact


def test_no_answer_counts_as_every_bar() -> None:
    with serving(otherwise=says("no")) as server:
        (score,) = evaluate_model(CASES[:1], asking(server), 1)
    assert (score.differing, score.rounds, score.answered) == (score.bars, 3, False)
    assert summary([score])["score"] == 0.0
    assert score.cost == 3 * 3200
