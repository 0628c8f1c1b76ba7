"""A survivor is argued only if nothing tells it from the strategy and something could have."""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.gates.mutation.mutant_sources import Mutant
from bot.gates.mutation.mutation_gate import Mutation
from bot.gates.mutation.survivors import Likeness, compare
from sandbox_runner.port import Sandbox, open_sandbox

CORPUS = Path(__file__).parents[3] / "corpus"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespace")


def source_of(name: str) -> tuple[Contract, str]:
    path = CORPUS / f"{name}.yaml"
    contract = load_contract(path).strategy
    files = TemplateCoder().write(contract, path.name).contents
    return contract, files[f"Backtest/codes/{contract.file_stem}.py"].decode()


def changed(source: str, number: int, before: str, after: str) -> Mutant:
    assert before in source
    line = source[: source.index(before)].count("\n") + 1
    return Mutant(number, "step", line, before, after, source.replace(before, after))


def test_half_the_sum_and_a_third_of_it_cross_alike(sandbox: Sandbox) -> None:
    contract, source = source_of("trail_alone")
    mutants = [
        changed(source, 1, "hl2 = (high + low) / 2", "hl2 = (high + low) / 3"),
        changed(source, 2, "close > ohlc4", "close > series.ago(ohlc4, 1)"),
        changed(source, 3, "close > ohlc4", "close > no_such_name"),
    ]
    likeness = compare(contract, source, mutants, sandbox)
    assert [likeness.is_argued(mutant) for mutant in mutants] == [True, False, False]
    assert likeness.why(mutants[0]).startswith("not told apart: the same columns")
    assert likeness.why(mutants[1]).startswith("a mistake: it differs on market 501: enter_long")
    assert likeness.why(mutants[2]) == "a mistake: it differs on it fails, bar 0"


def test_a_pattern_that_never_shows_argues_nothing(sandbox: Sandbox) -> None:
    contract, source = source_of("all_patterns_1")
    (line,) = [text for text in source.splitlines() if "CDLCONCEALBABYSWALL" in text]
    mutant = changed(source, 1, line, line.replace("(open_,", "(series.ago(open_, 1),"))
    likeness = compare(contract, source, [mutant], sandbox)
    assert not likeness.is_argued(mutant)
    assert likeness.is_undecided(mutant)
    assert likeness.why(mutant).startswith("undecided in ")
    assert "concealbabyswall is the same at every bar" in likeness.why(mutant)


def test_a_clause_that_never_decides_argues_nothing(sandbox: Sandbox) -> None:
    contract, source = source_of("every_scalar")
    mutant = changed(source, 1, "& ~(size_of_bar > 100)", "")
    likeness = compare(contract, source, [mutant], sandbox)
    assert not likeness.is_argued(mutant)
    words = "`it is not the case that size_of_bar is above 100` holds wherever"
    assert words in likeness.why(mutant)


def test_what_was_not_compared_is_not_argued() -> None:
    mutant = Mutant(1, "step", 1, "1", "2", "2")
    assert not Likeness().is_argued(mutant)
    assert Likeness().why(mutant) == "not compared"


def test_an_argued_mutant_counts_for_neither_side() -> None:
    mutants = tuple(Mutant(number, "step", number, "1", "2", "") for number in range(1, 5))
    likeness = Likeness({3: "", 4: "market 501: rsi, bar 3"}, {}, 100)
    mutation = Mutation(mutants, {1: "test_x", 2: "test_x"}, mutants[2:], likeness)
    assert mutation.score == 2 / 3
    assert (len(mutation.killed), len(mutation.mutants)) == (2, 4)
    assert mutation.argued == mutants[2:3]
    assert mutation.open == mutants[3:]
    assert "line 4" in mutation.verdict.reason
    assert mutation.verdict.figure == "2 of 4 mutants killed, 1 argued"
    assert mutation.to_dict()["survived"] == [
        "line 4: step: 1 -> 2 (a mistake: it differs on market 501: rsi, bar 3)"
    ]


def test_an_undecided_mutant_is_named_and_fails_nothing() -> None:
    mutants = tuple(Mutant(number, "step", number, "1", "2", "") for number in range(1, 5))
    likeness = Likeness(dict.fromkeys((3, 4), ""), {3: ("`volume is above 0` holds",)}, 100)
    mutation = Mutation(mutants, {1: "test_x", 2: "test_x"}, mutants[2:], likeness)
    assert (mutation.undecided, mutation.argued, mutation.open) == (mutants[2:3], mutants[3:], ())
    assert mutation.verdict.passed
    figure = "2 of 4 mutants killed, 1 argued, 1 undecided: `volume is above 0` holds"
    assert mutation.verdict.figure == figure
