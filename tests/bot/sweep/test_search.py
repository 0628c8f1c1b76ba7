"""A contract's search is repeatable, counts what was tried before, and is held to a policy."""

import json
from pathlib import Path
from typing import Any

import pytest

from Backtest.metrics.sharpe_odds import deflated_sharpe, moments_of, spread_of_ratios
from bot.contract.goals import Optimize, WalkForward
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.gates.port import Verdict
from bot.proof.searching import Searched, judge_luck
from bot.proof.trial_ledger import scope_of
from bot.report.searched import fold_rows, headline, line_rows, pictures, search_words
from bot.settings import LuckPolicy, parse_settings
from bot.sweep.lines import policy_lines
from bot.sweep.luck import Luck
from bot.sweep.runs import Player
from bot.sweep.search import Before, Search, carry_out_search, name_of_try

ROOT = Path(__file__).parents[3]
PLAIN = load_contract(ROOT / "contracts" / "oversold_dip.yaml").strategy
DATA = read_market_data(PLAIN, ROOT)
ASKED = Optimize(metric="sharpe", trials=8, walk_forward=WalkForward(folds=2))
CONTRACT = PLAIN.model_copy(update={"optimize": ASKED})
POLICY = LuckPolicy(worlds=1, max_chance=None)


def searched(before: Before | None = None, policy: LuckPolicy = POLICY) -> Search:
    return carry_out_search(CONTRACT, DATA.candles, DATA.digest, policy, before)[0]


@pytest.fixture(scope="module")
def found() -> Search:
    return searched()


def test_twenty_repeats_give_the_same_bytes(found: Search) -> None:
    assert {searched().content for _ in range(19)} == {found.content}


def test_what_was_tried_before_lowers_the_odds(found: Search) -> None:
    names = frozenset(f"{number:016x}" for number in range(5_000))
    later = searched(Before(sequence=3, digest="sha256:x", tries=names))
    told, own = later.told, found.told
    assert later.values == found.values
    assert told["trials_in_all"] == own["trials_in_all"] + 5_000
    assert told["luck"]["deflated"] < own["luck"]["deflated"]
    # By the formula of the paper, from the returns themselves.
    rows = Player(CONTRACT, compile_contract(CONTRACT)).rows(
        DATA.candles["BTC/USDT"], [found.values]
    )
    moments = moments_of(rows[0].sums.sum(axis=0))
    ratios = [ratio for ratio in own["sets"]["sharpe"] if ratio is not None]
    spread = spread_of_ratios(ratios)
    assert moments is not None
    assert spread is not None
    yearly = (own["figures"]["sharpe"] / moments.sharpe) ** 2
    # Of the others nobody knows the ratios: they scatter as these, or as chance lets them.
    known, chance = spread**2 / yearly, 1.0 / (moments.count - 1)
    in_all = told["trials_in_all"]
    pooled = ((in_all - 5_000) * known + 5_000 * max(known, chance)) / in_all
    odds = deflated_sharpe(moments, in_all, pooled**0.5)
    assert told["luck"]["deflated"] == pytest.approx(odds)


def test_one_try_is_named_by_its_rules_and_numbers_alone() -> None:
    values = {"oversold": 30, "rsi_period": 10}
    name = name_of_try(CONTRACT, values)
    other = CONTRACT.model_copy(update={"notes": "x", "optimize": None, "seed": 3})
    assert name_of_try(other, values) == name
    assert name_of_try(CONTRACT, {**values, "oversold": 31}) != name
    risk = CONTRACT.risk.model_copy(update={"stop_loss": 0.5})
    assert name_of_try(CONTRACT.model_copy(update={"risk": risk}), values) != name


def verdict(search: Search) -> Verdict:
    return judge_luck(Searched(search, "", scope_of(CONTRACT, 0, 1)))


def test_every_line_that_is_not_met_is_a_reason(found: Search) -> None:
    refused = verdict(found)
    assert not refused.passed
    for line in found.told["lines"]:
        assert (line["name"] in refused.reason) == (not line["met"])
    told = {**found.told, "lines": [{**line, "met": True} for line in found.told["lines"]]}
    assert verdict(Search(told)).passed
    assert verdict(Search({**found.told, "lines": []})).figure == "nothing asked"


@pytest.mark.parametrize(
    ("luck", "met"),
    [
        (Luck(10, deflated=0.95, overfitting=0.5, stability=0.5, break_even_cost_bps=15.0), True),
        (Luck(10, deflated=0.949, overfitting=0.5, stability=0.5, break_even_cost_bps=15.0), False),
        (Luck(10, deflated=0.95, overfitting=0.51, stability=0.5, break_even_cost_bps=15.0), False),
        (Luck(10, deflated=0.95, overfitting=0.5, stability=None, break_even_cost_bps=15.0), False),
        (Luck(10, deflated=0.95, overfitting=0.5, stability=0.5, break_even_cost_bps=14.9), False),
    ],
)
def test_lines_are_met_at_their_value_and_never_by_what_is_not_known(luck: Luck, met: bool) -> None:
    policy = LuckPolicy(
        min_track_record=None, min_missed_return=None, max_chance=None, min_unseen_sharpe=None
    )
    assert all(line.met for line in policy_lines(luck, policy, 10.0)) is met


def test_a_policy_that_nobody_can_meet_is_refused() -> None:
    assert parse_settings(b"luck: {worlds: 39, max_chance: 0.025}").luck.worlds == 39
    with pytest.raises(InputError, match="max_chance needs more worlds"):
        parse_settings(b"luck: {worlds: 5}")
    with pytest.raises(InputError, match="unknown key"):
        parse_settings(b"luck: {min_sharpe: 5}")


def test_the_report_tells_what_was_not_searched_first(found: Search) -> None:
    told: Any = json.loads(found.content)
    assert "where it was not searched; on all candles" in headline(told, "LINE")
    assert headline({**told, "walk_forward": None}, "LINE").endswith("expect less")
    assert len(fold_rows(told)) == 2
    assert len(line_rows(told)) == len(told["lines"]) > 5
    assert any("The ledger has" in line for line in search_words(told))
    for holdout, since in (
        (None, "not sealed by this contract"),
        ("2024-04-01", "from 2024-04-01"),
    ):
        words = " ".join(search_words({**told, "holdout": holdout, "openings": 2}))
        assert f"({since}" in words
        assert "None" not in words
    drawn = pictures(told)
    assert [each.startswith("<svg") for each in drawn] == [True, True]
    # One cell for each pair of values that was tried, and a ring around the chosen one.
    assert 2 <= drawn[0].count("<rect") - 2 <= told["sets_tried"]
    assert pictures(told) == drawn


def test_a_contract_without_a_search_is_refused() -> None:
    with pytest.raises(InputError, match="asks for no search"):
        carry_out_search(PLAIN, DATA.candles, DATA.digest, POLICY)
