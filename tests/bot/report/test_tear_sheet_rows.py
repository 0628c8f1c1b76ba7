"""Months, falls and splits as rows, from the summary alone."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from bot.report import tear_sheet_rows as rows
from bot.report.page import report_html
from tests.bot.report.stories import told


def test_a_summary_without_a_tear_sheet_has_no_rows() -> None:
    for summary in ({}, {"tear_sheet": None}, {"tear_sheet": {}}):
        assert rows.risk_rows(summary) == []
        assert rows.month_rows(summary) == []
        assert rows.fall_rows(summary) == []
        assert rows.split_tables(summary) == []
        assert rows.spread_rows(summary) == []
        assert rows.doubt_rows(summary) == []


def test_months_stand_under_their_names() -> None:
    months = [["2023-12", 0.06], ["2024-01", -0.03], ["2024-02", None], ["2024-03", 0.0]]
    summary = {"tear_sheet": {"by_month": months}, "by_year": {"2024": {"return": -0.03}}}
    (old, first, _), (new, second, whole) = rows.month_rows(summary)
    assert (old, new) == ("2023", "2024")
    assert first[11] == ("+6.0", "n g3")
    assert [cell for cell in first[:11] if cell != ("", "n")] == []
    assert second[0] == ("-3.0", "n l2")
    assert (second[1], second[2]) == (("", "n"), ("0.0", "n l0"))
    assert whole == "-3.00%"


@pytest.mark.parametrize("name", ["oversold_dip", "channel_breakout"])
def test_every_split_has_every_trade_once(name: str) -> None:
    story = told(name)
    done = [trade for trade in story.trades if not trade.forced]
    sheet = story.summary["tear_sheet"]
    for key, _ in rows.SPLITS:
        parts = sheet[key].values()
        assert sum(part["trades"] for part in parts) == len(done) > 0, key
        assert math.isclose(sum(part["pnl"] for part in parts), story.summary["total_pnl"]), key
    assert next(title for title, *_ in rows.split_tables(story.summary)) == "Exit rule"


def test_the_deepest_fall_is_the_summarys() -> None:
    story = told("oversold_dip")
    sheet = story.summary["tear_sheet"]
    assert sheet["drawdowns"][0]["depth"] == pytest.approx(story.summary["max_drawdown"], abs=1e-12)
    whole = math.prod(1.0 + value for _, value in sheet["by_month"]) - 1.0
    assert whole == pytest.approx(story.summary["return"], abs=1e-12)
    assert rows.fall_rows(story.summary)[0][3] == "not yet"


def test_of_many_symbols_the_best_and_the_worst_are_shown_and_all_are_counted() -> None:
    chance = random.Random(3)
    parts = {
        f"C{number}/USDT": {"trades": 1, "win_rate": 0.5, "pnl": chance.uniform(-100, 100)}
        for number in range(200)
    }
    ((title, shown, total),) = rows.split_tables({"tear_sheet": {"by_symbol": parts}})
    assert (title, len(shown), total) == ("Symbol", rows.MOST_PARTS, 200)
    ordered = sorted(parts, key=lambda name: parts[name]["pnl"], reverse=True)
    half = rows.MOST_PARTS // 2
    assert [row[0] for row in shown] == [*ordered[:half], *ordered[-half:]]
    page = report_html(replace(told("oversold_dip"), summary=summary_with(parts)))
    assert "The 12 best and the 12 worst, of 200; summary.json has all of them." in page


def summary_with(parts: dict[str, dict[str, float]]) -> dict[str, Any]:
    summary = told("oversold_dip").summary
    return {**summary, "tear_sheet": {**summary["tear_sheet"], "by_symbol": parts}}


def test_as_many_symbols_as_fit_stay_in_the_contracts_order() -> None:
    parts = {
        f"C{number}": {"trades": 1, "win_rate": 0.0, "pnl": float(number % 5)}
        for number in range(rows.MOST_PARTS)
    }
    ((_, shown, total),) = rows.split_tables({"tear_sheet": {"by_symbol": parts}})
    assert ([row[0] for row in shown], total) == (list(parts), rows.MOST_PARTS)
