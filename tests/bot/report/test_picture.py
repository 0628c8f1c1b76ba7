import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.report.curve import Point, drawdown, round_steps, thin, time_marks
from bot.report.holding import held_value
from bot.report.picture import equity_svg, picture
from tests.bot.report.hostile import TEXTS
from tests.bot.report.stories import told
from tests.chance import examples

HOUR = 3_600_000
START = 1_704_067_200_000


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)  # noqa: S314 - we wrote it, and want to know if it is XML


values = st.floats(-1e9, 1e9, allow_nan=False)
series = st.lists(values, min_size=1, max_size=600).map(
    lambda found: [(START + index * HOUR, value) for index, value in enumerate(found)]
)


@examples(200)
@given(series, st.integers(1, 60))
def test_thinning_keeps_ends_and_extremes_and_invents_nothing(
    points: list[Point], columns: int
) -> None:
    kept = thin(points, columns)
    assert len(kept) <= 2 * columns + 2
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    numbers = [value for _, value in points]
    assert {min(numbers), max(numbers)} <= {value for _, value in kept}
    assert kept == sorted(set(kept) & set(points))


def test_a_fall_of_one_candle_among_a_million_is_drawn() -> None:
    equity = [(START + index * 60_000, 10_000.0 + index / 1000, 0.0) for index in range(1_000_000)]
    equity[654_321] = (equity[654_321][0], 5_000.0, 0.0)
    drawn = equity_svg(equity, capital=10_000)
    assert len(drawn) < 16_000
    assert "Drawdown, deepest 53.07%" in drawn
    falls = thin(drawdown([(time, value) for time, value, _ in equity]), 200)
    assert min(fall for _, fall in falls) < -0.5


@pytest.mark.parametrize(
    "found",
    [
        [],
        [10_000.0],
        [10_000.0] * 2,
        [10_000.0] * 5000,
        [0.0, 0.0],
        [0.0],
        [-5.0, -7.0],
        [1e-12, 2e-12],
        [1e300, -1e300],
        [10_000.0, math.nan, math.inf, 9_000.0],
        [math.nan],
        [100.0, 0.0, 50.0],
    ],
)
def test_odd_curves_are_drawn(found: list[float]) -> None:
    equity = [(START + index * HOUR, value, 0.0) for index, value in enumerate(found)]
    drawn = equity_svg(equity, capital=10_000, held=[(time, value) for time, value, _ in equity])
    parsed(drawn)
    assert not re.search(r"\b(nan|inf)\b", drawn)


@examples(80)
@given(series, series)
def test_every_curve_is_drawn_within_the_picture(points: list[Point], held: list[Point]) -> None:
    drawn = equity_svg([(time, value, 0.0) for time, value in points], capital=1.0, held=held)
    root = parsed(drawn)
    for element in root.iter():
        for name, least, most in (("x", 0, 860), ("y", 0, 430), ("cx", 0, 860), ("cy", 0, 430)):
            if name in element.attrib:
                assert least <= float(element.attrib[name]) <= most


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_title_stays_text(text: str) -> None:
    equity = [(START, 1.0, 1.0), (START + HOUR, 2.0, 2.0)]
    root = parsed(equity_svg(equity, title=text, unit=text, held=[(START, 1.0)]))
    tags = [element.tag for element in root.iter()]
    plain = parsed(equity_svg(equity, title="a", unit="b", held=[(START, 1.0)]))
    assert tags == [element.tag for element in plain.iter()]


def test_the_picture_is_told_to_those_who_do_not_see_it() -> None:
    drawn = picture(told())
    root = parsed(drawn)
    names = {element.tag.split("}")[1]: element.text or "" for element in root.iter()}
    assert root.attrib["role"] == "img"
    assert names["title"] == "OversoldDip: equity and drawdown"
    assert "Deepest drawdown 1.01%" in names["desc"]
    assert "prefers-color-scheme:dark" in drawn
    assert not re.search(r"<script|href|url\(|@import", drawn)


def test_a_market_beyond_the_scale_is_told_not_drawn() -> None:
    assert "Buy and hold, 11,894.45 USDT at the end, off this scale" in picture(told())
    assert 'class="sw-h"' not in picture(told())
    assert 'class="sw-h"' in picture(told("channel_breakout"))


def test_holding_ends_where_the_summary_says() -> None:
    for name in ("oversold_dip", "trend_follow"):
        story = told(name)
        growth = story.held[-1][1] / story.contract.capital - 1
        assert growth == pytest.approx(story.summary["buy_and_hold"]["return"], rel=1e-12)


def test_holding_two_symbols_shares_the_capital() -> None:
    candles = {
        "A": (np.array([1, 2]), np.array([10.0, 11.0]), np.array([11.0, 12.0])),
        "B": (np.array([2, 3]), np.array([5.0, 1.0]), np.array([10.0, 20.0])),
    }
    assert held_value(candles, 100.0) == [(1, 105.0), (2, 160.0), (3, 260.0)]
    assert held_value({}, 100.0) == []


@examples(200)
@given(values, st.floats(1e-6, 1e9), st.integers(2, 10))
def test_marks_are_within_the_range_and_few(low: float, span: float, most: int) -> None:
    marks = round_steps(low, low + span, most)
    assert len(marks) <= most
    slack = span * 1e-6 + abs(low) * 1e-9
    assert all(low - slack <= mark <= low + span + slack for mark in marks)


@examples(200)
@given(st.integers(-2_000_000_000_000, 4_000_000_000_000), st.integers(1, 3_000_000_000_000))
def test_time_marks_are_within_the_span_and_few(start: int, span: int) -> None:
    marks = time_marks(start, start + span, 8)
    assert len(marks) <= 12
    assert all(start <= moment <= start + span for moment, _ in marks)
    assert len({label for _, label in marks}) == len(marks)


def test_time_marks_read_well() -> None:
    day = 24 * HOUR
    assert [label for _, label in time_marks(START, START + day, 8)][:2] == [
        "1 Jan 00:00",
        "1 Jan 06:00",
    ]
    assert [label for _, label in time_marks(START, START + 120 * day, 8)] == [
        "Jan 2024",
        "Feb 2024",
        "Mar 2024",
        "Apr 2024",
    ]
    assert time_marks(START, START + 1500 * day, 8)[0][1] == "2024"
