import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.report.curve import Point, drawdown, round_steps, thin, time_marks
from bot.report.drawing import BROAD, NARROW
from bot.report.holding import held_value
from bot.report.picture import equity_svg, most_traded, picture
from bot.report.trade_pictures import close_ups, distribution, left_out_words, more_prices
from tests.bot.report.hostile import TEXTS
from tests.bot.report.stories import told
from tests.chance import examples

HOUR = 3_600_000
START = 1_704_067_200_000


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)  # noqa: S314 - we wrote it, and want to know if it is XML


def arrays(points: list[Point]) -> tuple[np.ndarray, np.ndarray]:
    times, found = zip(*points, strict=True)
    return np.array(times, dtype=np.int64), np.array(found, dtype=np.float64)


values = st.floats(-1e9, 1e9, allow_nan=False)
series = st.lists(values, min_size=1, max_size=600).map(
    lambda found: [(START + index * HOUR, value) for index, value in enumerate(found)]
)


@examples(200)
@given(series, st.integers(1, 60))
def test_thinning_keeps_ends_and_extremes_and_invents_nothing(
    points: list[Point], columns: int
) -> None:
    kept = thin(*arrays(points), columns)
    assert len(kept) <= 2 * columns + 2
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    numbers = [value for _, value in points]
    assert {min(numbers), max(numbers)} <= {value for _, value in kept}
    assert kept == sorted(set(kept) & set(points))


def test_a_fall_of_one_candle_among_a_million_is_drawn() -> None:
    rows = np.arange(1_000_000)
    times, values = START + rows * 60_000, 10_000.0 + rows / 1000
    values[654_321] = 5_000.0
    drawn = equity_svg((times, values), capital=10_000)
    assert len(drawn) < 16_000
    assert "Drawdown, deepest 53.07%" in drawn
    falls = thin(times, drawdown(values), 200)
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
    equity = START + HOUR * np.arange(len(found)), np.array(found, dtype=np.float64)
    drawn = equity_svg(equity, capital=10_000, held=equity)
    parsed(drawn)
    assert not re.search(r"\b(nan|inf)\b", drawn)


@examples(80)
@given(series, series)
def test_every_curve_is_drawn_within_the_picture(points: list[Point], held: list[Point]) -> None:
    drawn = equity_svg(arrays(points), capital=1.0, held=arrays(held))
    root = parsed(drawn)
    for element in root.iter():
        for name, least, most in (("x", 0, 860), ("y", 0, 430), ("cx", 0, 860), ("cy", 0, 430)):
            if name in element.attrib:
                assert least <= float(element.attrib[name]) <= most


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_title_stays_text(text: str) -> None:
    equity, held = arrays([(START, 1.0), (START + HOUR, 2.0)]), arrays([(START, 1.0)])
    root = parsed(equity_svg(equity, title=text, unit=text, held=held))
    tags = [element.tag for element in root.iter()]
    plain = parsed(equity_svg(equity, title="a", unit="b", held=held))
    assert tags == [element.tag for element in plain.iter()]


def test_the_picture_is_told_to_those_who_do_not_see_it() -> None:
    drawn = picture(told())
    root = parsed(drawn)
    names = {element.tag.split("}")[1]: element.text or "" for element in root.iter()}
    assert root.attrib["role"] == "img"
    assert names["title"] == "OversoldDip: equity, price and drawdown"
    assert "Deepest drawdown 1.01%" in names["desc"]
    assert "prefers-color-scheme:dark" in drawn
    assert not re.search(r"<script|href|url\(|@import", drawn)


def test_a_market_beyond_the_scale_has_a_scale_of_its_own() -> None:
    drawn = picture(told())
    assert "Buy and hold, 11,894.45 USDT, right scale" in drawn
    assert 'class="sw-h" stroke-dasharray="5 3" stroke-linejoin' in drawn
    assert "right scale" not in picture(told("channel_breakout"))


@pytest.mark.parametrize("width", [BROAD, NARROW])
def test_every_trade_is_marked_on_the_price_with_its_first_stop(width: int) -> None:
    story = told("channel_breakout")
    drawn = picture(story, width)
    paths = {
        (element.attrib["class"], element.attrib.get("stroke-linecap", "")): element.attrib["d"]
        for element in parsed(drawn).iter()
        if element.tag.endswith("path")
    }
    won = sum(trade.pnl > 0 for trade in story.trades)
    count = len(story.trades)
    assert paths["sw-p", ""].count("M") == paths["sw-s", ""].count("M") == count
    assert paths["sw-w", "round"].count("M") == won
    assert paths["sw-l", "round"].count("M") == count - won
    assert f"ETH/USDT: {count} trades" in drawn


def test_of_many_trades_those_that_moved_most_are_marked() -> None:
    story = told("channel_breakout")
    many = [replace(trade, pnl=trade.pnl + n) for n in range(20) for trade in story.trades]
    drawn = picture(replace(story, trades=many))
    assert f"{len(many)} trades, the 150 largest shown" in drawn
    assert len(drawn) < 40_000


@pytest.mark.parametrize("width", [BROAD, NARROW])
def test_a_trade_still_open_at_the_end_is_not_counted_as_a_trade(width: int) -> None:
    story = told("channel_breakout")
    *done, last = [replace(trade, forced=False) for trade in story.trades]
    drawn = picture(replace(story, trades=[*done, replace(last, forced=True)]), width)
    assert f"ETH/USDT: {len(done)} trades, 1 still open" in drawn


def test_doubtful_trades_lift_a_band_over_the_equity() -> None:
    story = told("channel_breakout")
    assert "doubtful" not in picture(story)
    first, *others = story.trades
    doubted = replace(first, ambiguous=True, best_pnl=first.pnl + 500.0)
    drawn = picture(replace(story, trades=[doubted, *others]))
    final = story.equity[1][-1] + 500.0
    assert f"with every doubtful trade won, {final:,.2f}" in drawn
    assert '<path class="sw-a" fill-opacity=".35"' in drawn


def test_holding_ends_where_the_summary_says() -> None:
    for name in ("oversold_dip", "trend_follow"):
        story = told(name)
        growth = story.held[1][-1] / story.contract.capital - 1
        assert growth == pytest.approx(story.summary["buy_and_hold"]["return"], rel=1e-12)


def test_holding_two_symbols_shares_the_capital() -> None:
    candles = {
        "A": (np.array([1, 2]), np.array([10.0, 11.0]), np.array([11.0, 12.0])),
        "B": (np.array([2, 3]), np.array([5.0, 1.0]), np.array([10.0, 20.0])),
    }
    times, values = held_value(candles, 100.0)
    assert (times.tolist(), values.tolist()) == ([1, 2, 3], [105.0, 160.0, 260.0])
    assert len(held_value({}, 100.0)[0]) == 0


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


def test_no_word_of_a_phone_s_picture_is_cut_off() -> None:
    story = told("channel_breakout")
    (_, candles), many = next(iter(story.candles.items())), list(story.trades) * 20
    long = {"1000SATS/USDT:USDT": candles, "B/USDT": candles}
    doubted = [replace(trade, symbol="1000SATS/USDT:USDT", ambiguous=True) for trade in many]
    drawn = picture(replace(story, candles=long, trades=doubted), NARROW)
    assert f"1000SATS/USDT:USDT: {len(many)} trades, 60 shown" in drawn
    begun = re.findall(r'<text class="sw-t" x="([\d.]+)" y="[\d.]+">([^<]*)<', drawn)
    assert len(begun) >= 5
    assert [words for x, words in begun if float(x) + 6.2 * len(words) > NARROW] == []


def test_the_symbol_with_the_most_trades_is_drawn_first() -> None:
    candles = next(iter(told("channel_breakout").candles.values()))
    known = dict.fromkeys("ABCD", candles)
    trades = [replace(told("channel_breakout").trades[0], symbol=name) for name in "CCDA"]
    assert most_traded(known, trades) == ["C", "A", "D", "B"]
    story = replace(told("channel_breakout"), candles=known, trades=trades)
    assert "C: 2 trades, one of 4 symbols" in picture(story)
    assert "A: 1 trade, one of 4 symbols" in more_prices(story, NARROW)[0]


def test_more_symbols_than_pictures_are_told() -> None:
    candles = next(iter(told("channel_breakout").candles.values()))
    story = replace(told("channel_breakout"), candles=dict.fromkeys("ABCDEF", candles))
    assert left_out_words(story) == ""
    story = replace(story, candles=dict.fromkeys("ABCDEFG", candles))
    assert left_out_words(story).endswith("the 6 symbols with the most trades, of 7.")


def test_a_trade_is_drawn_on_its_own_candles_alone() -> None:
    story = told("channel_breakout")
    assert len(close_ups(story)) == 3
    assert close_ups(replace(story, candles={"OTHER": story.candles["ETH/USDT"]})) == []


def test_the_last_label_of_the_returns_is_not_cut_off() -> None:
    edges = [-0.01, 0.0, 0.01, 0.02, 0.03, 0.04, 0.05]
    drawn = distribution({"distribution": {"edges": edges, "counts": [1, 2, 1, 1, 1, 1]}})
    assert ">4.0%<" in drawn
    assert ">5.0%<" not in drawn
