"""What a bar proves, checked against every path that price could have taken through it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from Backtest.compiled import kernel_parts
from Backtest.fills import (
    BY_LIMIT,
    BY_STOP,
    FROM_OPEN,
    NO_STOP,
    NO_TARGET,
    Bar,
    Exit,
    Step,
    exit_of_bar,
    level_away,
    limit_entry,
    mirrored,
    roi_price,
    round_down,
    round_up,
    stop_entry,
)
from Backtest.sim_settings import step_parts
from tests.chance import examples

GRID = (1.0, 2.0, 3.0, 4.0, 5.0)
ALL_BARS = [
    Bar(opened, high, low, closed)
    for low, opened, closed, high in product(GRID, repeat=4)
    if low <= min(opened, closed) and max(opened, closed) <= high
]
ALL_LEVELS = [
    (stop, fill, target) for stop, fill, target in product(GRID, repeat=3) if stop < fill < target
]


def outcomes(bar: Bar, stop: float, target: float, entered: int, fill: float) -> set[str]:
    """Walk every path of up to four legs through the bar; collect how the position ends."""
    found = set()
    for legs in product((bar.low, fill, bar.high), repeat=4):
        if bar.low in legs and bar.high in legs:
            found.add(walk([bar.open, *legs, bar.close], stop, target, entered, fill))
    return found


def walk(path: list[float], stop: float, target: float, entered: int, fill: float) -> str:
    """Move from point to point in small steps and see what is met first."""
    held = entered == FROM_OPEN
    now = path[0]
    for point in path[1:]:
        while True:
            if not held and (now <= fill if entered == BY_LIMIT else now >= fill):
                held = True
            if held and now <= stop:
                return "stop"
            if held and now >= target:
                return "target"
            if now == point:
                break
            now += 1.0 if point > now else -1.0
    return "held"


def expected(found: set[str]) -> tuple[str, bool]:
    """The worst ending, and whether a stop was only one of several."""
    worst = next(ending for ending in ("stop", "held", "target") if ending in found)
    return worst, worst == "stop" and len(found) > 1


def test_the_worst_path_decides_and_doubt_is_marked() -> None:
    for bar, (stop, fill, target) in product(ALL_BARS, ALL_LEVELS):
        if bar.open == fill:
            check(bar, stop, target, FROM_OPEN, fill)


def test_after_a_limit_fill_only_what_must_follow_counts() -> None:
    for bar, (stop, fill, target) in product(ALL_BARS, ALL_LEVELS):
        if bar.low <= fill < bar.open:
            check(bar, stop, target, BY_LIMIT, fill)


def test_after_a_stop_fill_only_what_must_follow_counts() -> None:
    for bar, (stop, fill, target) in product(ALL_BARS, ALL_LEVELS):
        if bar.open < fill <= bar.high:
            check(bar, stop, target, BY_STOP, fill)


def check(bar: Bar, stop: float, target: float, entered: int, fill: float) -> None:
    ending, doubtful = expected(outcomes(bar, stop, target, entered, fill))
    leave = exit_of_bar(bar, stop, target, entered, fill)
    if ending == "held":
        assert leave is None
        return
    assert leave is not None
    assert leave.rule == ending
    assert leave.price == (stop if ending == "stop" else target)
    assert leave.ambiguous is doubtful


def test_a_bar_that_opens_beyond_a_level_fills_at_its_open() -> None:
    assert exit_of_bar(Bar(90, 96, 88, 91), 95, 105) == Exit("stop_gap", 90)
    assert exit_of_bar(Bar(110, 112, 109, 111), 95, 105) == Exit("target_gap", 110)


def test_without_levels_a_position_stays() -> None:
    assert exit_of_bar(Bar(100, 200, 1, 100), NO_STOP, NO_TARGET) is None


def test_a_stop_on_the_wrong_side_of_an_inside_fill_ends_it_at_the_fill() -> None:
    assert exit_of_bar(Bar(100, 101, 97, 99), 98.5, 105, BY_LIMIT, 98) == Exit("stop_gap", 98)


def test_a_mirror_twice_is_the_bar_itself() -> None:
    bar = Bar(1.0, 3.0, 0.5, 2.0)
    assert mirrored(mirrored(bar)) == bar


def test_limits_take_the_better_open_and_are_never_worse() -> None:
    assert limit_entry(Bar(97, 99, 96, 98), 98) == ("limit_better_open", 97, FROM_OPEN)
    assert limit_entry(Bar(98, 99, 96, 98), 98) == ("limit", 98, FROM_OPEN)
    assert limit_entry(Bar(100, 101, 97, 99), 98) == ("limit", 98, BY_LIMIT)
    assert limit_entry(Bar(100, 101, 99, 100), 98) is None


def test_stop_entries_pay_the_open_of_a_gap() -> None:
    assert stop_entry(Bar(104, 105, 103, 104), 102) == ("stop_gap", 104, FROM_OPEN)
    assert stop_entry(Bar(102, 105, 101, 104), 102) == ("stop", 102, FROM_OPEN)
    assert stop_entry(Bar(100, 103, 99, 101), 102) == ("stop", 102, BY_STOP)
    assert stop_entry(Bar(100, 101, 99, 101), 102) is None


def test_levels_stand_on_the_right_side_of_longs_and_shorts() -> None:
    assert level_away(100.0, 1, Step(0.02, True), gain=False) == 98.0
    assert level_away(100.0, -1, Step(0.02, True), gain=False) == 102.0
    assert level_away(100.0, 1, Step(3.0, False), gain=True) == 103.0
    assert level_away(100.0, -1, Step(3.0, False), gain=True) == 97.0


@pytest.mark.parametrize("sign", [1, -1])
def test_the_roi_price_earns_its_profit_after_both_commissions(sign: int) -> None:
    fee, entry = 0.001, 100.0
    price = roi_price(entry, 0.04, fee, sign)
    paid, got = (entry, price) if sign > 0 else (price, entry)
    opened = entry * (1 + fee) if sign > 0 else entry * (1 - fee)
    assert (got * (1 - fee) - paid * (1 + fee)) / opened == pytest.approx(0.04)


@examples(300)
@given(
    st.floats(0.01, 1e5),
    st.sampled_from([(0.01, 2), (0.05, 2), (0.25, 2), (0.3, 1), (1e-4, 4), (5.0, 0)]),
)
def test_steps_bracket_a_value_and_keep_one_that_is_on_them(
    value: float, step: tuple[float, int]
) -> None:
    size, digits = step
    below, above = round_down(value, size), round_up(value, size)
    noise = size * 1e-6
    assert below <= value + noise
    assert above >= value - noise
    assert above - below <= size + noise
    assert round_up(below, size) == below == round_down(below, size)
    assert (below, above) == (round(below, digits), round(above, digits))


@examples(300)
@given(st.floats(1e-3, 1e6), st.sampled_from([1e-8, 1e-5, 0.1, 0.3, 0.7]))
def test_a_volume_in_lots_however_small_is_left_alone(value: float, lot: float) -> None:
    volume = round_down(value, lot)
    assert round_down(volume, lot) == volume == round_up(volume, lot)


@pytest.mark.parametrize(
    ("value", "step"), [(128571437.9, 14285714.285714285), (150092027.38476181, 1e-8)]
)
def test_steps_too_many_for_exact_doubles_are_those_of_the_compiled_loop(
    value: float, step: float
) -> None:
    parts = (step, *(float(part) for part in step_parts(step)))
    assert round_down(value, step) == kernel_parts.step_down.py_func(value, *parts)
    assert round_up(value, step) == kernel_parts.step_up.py_func(value, *parts)
