"""No row is searched near one that its best set is judged by, whatever is cut."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.contract.goals import WalkForward
from bot.errors import InputError
from bot.sweep.folds import cut_folds
from tests.chance import examples


@examples(60)
@given(
    st.sampled_from(["rolling", "anchored", "combinatorial"]),
    st.integers(3, 8),
    st.floats(0.3, 0.9),
    st.integers(0, 200),
    st.integers(3_000, 40_000),
)
def test_searched_and_judged_rows_lie_a_gap_apart(
    split: str, count: int, train: float, gap: int, rows: int
) -> None:
    asked = WalkForward(train=train, folds=count, split=split)  # type: ignore[arg-type]
    try:
        folds = cut_folds(rows, asked, gap)
    except InputError:
        return
    judged: list[int] = []
    for fold in folds:
        test = {row for first, last in fold.test for row in range(first, last)}
        near = {row + far for row in test for far in (-gap, gap)} | test
        searched = {row for first, last in fold.train for row in range(first, last)}
        assert searched <= {*range(rows)}
        assert not searched & near
        if split != "combinatorial":
            assert max(searched) < min(test)
        judged += sorted(test)
    if split == "combinatorial":
        assert len(folds) == len(list(combinations(range(count), 2)))
        assert sorted(judged) == sorted([*range(rows)] * (count - 1))
    else:
        assert len(folds) == count
        assert judged == list(range(judged[0], rows))


def test_rolling_parts_are_of_one_length_and_anchored_ones_begin_at_the_start() -> None:
    rolling = cut_folds(1_900, WalkForward(train=0.7, folds=4), 0)
    assert [fold.train[0][1] - fold.train[0][0] for fold in rolling] == [700] * 4
    assert [fold.test[0] for fold in rolling] == [
        (700, 1000), (1000, 1300), (1300, 1600), (1600, 1900)
    ]  # fmt: skip
    anchored = cut_folds(1_900, WalkForward(train=0.7, folds=4, split="anchored"), 10)
    assert [fold.train[0] for fold in anchored] == [(0, 690), (0, 990), (0, 1290), (0, 1590)]


def test_a_history_that_is_too_short_is_refused() -> None:
    with pytest.raises(InputError, match="too few for 4 folds: 200 are left out"):
        cut_folds(500, WalkForward(), 200)
