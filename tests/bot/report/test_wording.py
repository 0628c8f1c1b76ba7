from dataclasses import replace
from typing import Any

from bot.contract.goals import Acceptance, Optimized
from bot.report import wording
from bot.report.figure_table import figure_rows
from bot.report.story import Story
from tests.bot.report.stories import PASSED, REFUSED, told


def with_figures(**figures: Any) -> Story:
    story = told()
    return replace(story, summary={**story.summary, **figures})


def test_the_verdict_is_one_line() -> None:
    story = told()
    assert wording.verdict_title(story) == (
        "Accepted: asked min_trades 10, max_drawdown 0.3, and met; all 13 gates passed"
    )
    assert wording.verdict_title(replace(story, verdicts=PASSED[:1])) == (
        "Accepted: asked min_trades 10, max_drawdown 0.3, and met; the gate passed"
    )
    free = story.contract.model_copy(update={"acceptance": Acceptance()})
    title = "Proven, nothing asked of its results: all 13 gates passed"
    assert wording.verdict_title(replace(story, contract=free)) == title
    refused = replace(story, verdicts=REFUSED)
    assert wording.verdict_title(refused) == "Refused: 2 of 13 gates failed"
    assert not refused.accepted
    assert not replace(story, verdicts=()).accepted


def test_values_that_a_search_chose_are_never_shown_as_if_nobody_had_searched() -> None:
    story = told()
    word = Optimized(searched=f"sha256:{'0' * 64}", seed=7, sets=9, was={"oversold": 30})
    chosen = story.contract.model_copy(update={"optimized": word})
    line = wording.result_line(story)
    assert "search" not in line
    assert wording.result_line(replace(story, contract=chosen)) == (
        f"{line} · a search chose its values: expect less"
    )


def test_the_ambiguity_band_is_told_in_words() -> None:
    assert "no ambiguity band" in wording.ambiguity_words(told())
    band = {"ambiguous_trades": 3, "worst_pnl": -101.4, "best_pnl": 20.1}
    words = wording.ambiguity_words(with_figures(ambiguity_band=band))
    assert words.startswith("In 3 of 14 trades one candle touched both of their exits")
    assert "profit -101.40" in words
    assert "+20.10" in words


def test_what_is_not_counted_is_told() -> None:
    assert wording.open_end_words(told()) == ""
    words = wording.open_end_words(with_figures(forced_exits=1, forced_pnl=5.0, orders_rejected=2))
    assert words.startswith("1 position was still open at the end")
    assert "2 orders were rejected" in words


def test_costs_are_stated_with_where_orders_fill() -> None:
    words = wording.cost_words(told())
    assert "commission 0.1% of the value of every fill" in words
    assert "fill at the next candle's open" in words
    costs = told().contract.costs.model_copy(update={"spread": 0.0004})
    dear = told().contract.model_copy(update={"costs": costs, "execution": "this_close"})
    words = wording.cost_words(replace(told(), contract=dear))
    assert "a spread of 0.04%, half of it on each of those" in words
    assert "fill at that candle's close" in words


def test_money_has_a_currency_only_if_all_symbols_share_it() -> None:
    def of(*symbols: str) -> str:
        market = told().contract.market.model_copy(update={"symbols": symbols})
        return wording.currency(told().contract.model_copy(update={"market": market}))

    assert of("BTC/USDT", "ETH/USDT:USDT") == "USDT"
    assert of("BTC/USDT", "ETH/EUR") == ""
    assert of("SP500") == ""


def test_the_command_is_safe_to_paste() -> None:
    assert wording.reproduce_command(told()).startswith("stratwright verify ai/oversold-dip/")
    evil = replace(told(), tag="x; rm -rf ~\n`id`")
    assert wording.reproduce_command(evil) == "stratwright verify 'x; rm -rf ~ `id`'"


def test_no_trades_have_no_win_rate() -> None:
    """Nought won of nought is not a share of nought."""
    story = told("oversold_dip")
    none = replace(story, summary={**story.summary, "total_trades": 0, "win_rate": 0.0})
    rows = {name: value for name, value, _ in wording.metric_rows(none)}
    assert rows["Win rate"] == "\N{EN DASH}"
    assert dict(figure_rows(none.summary))["Win rate"] == "\N{EN DASH}"
