"""A scene's last candle decides its rule, and its name says by which clause."""

from pathlib import Path

import pytest

from adapters.testing import market
from bot.coder.template.expected import Expected, expect, walk
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.contract.numbers import flat_settings
from tests.bot.coder.template.test_template_coder import EXAMPLES, ROOT, contract

CORPUS = ROOT / "tests" / "corpus"
# One of a single condition, one with edges on longer markets, one with rare candle patterns.
SHOWN = [*EXAMPLES, CORPUS / "macd_turn.yaml", CORPUS / "candle_patterns.yaml"]


def expected_of(path: Path) -> Expected:
    made = load_contract(path).strategy
    program = compile_contract(made)
    return expect(made, program, dict(flat_settings(made, program).defaults))


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_the_interpreter_gives_every_scenes_answer(path: Path) -> None:
    program, expected = compile_contract(load_contract(path).strategy), expected_of(path)
    for title, (rule, seed, bar, holds) in expected.scenes.items():
        candles = market(bar + 1, seed, expected.minutes)
        assert walk(program, candles)[rule][-1] is holds, title
    for rule in program.rules:
        assert expected.scenes[f"{rule} holds"][3] is True
        assert expected.scenes[f"{rule} does not hold"][3] is False


def test_each_clause_decides_alone() -> None:
    scenes = expected_of(ROOT / "contracts" / "oversold_dip.yaml").scenes
    assert scenes["enter_long fails only by: close is above trend"][3] is False
    assert scenes["enter_long fails only by: rsi is below oversold"][3] is False
    assert scenes["exit_long holds only by: rsi is above 70"][3] is True
    assert scenes["exit_long holds only by: close crosses below trend"][3] is True


def test_a_pattern_that_the_market_does_not_show_is_sighted_elsewhere() -> None:
    expected = expected_of(CORPUS / "all_patterns_1.yaml")
    assert len(expected.sightings) > 5
    for name, (_, _, value) in expected.sightings.items():
        assert value in (-200, -100, 100, 200), name
        assert not any(expected.samples[name].values())


def test_a_gap_after_the_warm_up_is_expected_and_no_other() -> None:
    made = contract(
        indicators={"share": {"expression": "1 / (hour() - 3)"}},
        rules={"enter_long": "share > 0"},
    )
    program = compile_contract(made)
    expected = expect(made, program, dict(flat_settings(made, program).defaults))
    gaps = range(expected.warmup, expected.bars)
    assert dict(expected.gaps) == {"share": [bar for bar in gaps if bar % 24 == 3]}
