"""A plan's items spread over the jobs that GitHub has to give."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.workflow.items import LEGS, MOST_JOBS, Action, Item, key_of, make_matrix


def items(count: int, action: Action) -> list[Item]:
    return [Item(action, key_of(f"{action} {number}")) for number in range(count)]


@given(st.integers(0, 1500), st.integers(0, 600))
def test_every_item_has_one_job_and_there_are_never_too_many_jobs(good: int, bad: int) -> None:
    work = items(good, Action.PROPOSE) + items(bad, Action.REFUSE)
    matrix = make_matrix(work)
    assert len(matrix.build) <= len(LEGS)
    assert len(matrix.write) <= MOST_JOBS
    assert Counter(key for job in matrix.write for key in job.keys) == Counter(i.key for i in work)
    built = Counter(key for job in matrix.build for key in job.keys)
    assert built == Counter(i.key for i in work if i.action is Action.PROPOSE)
    sizes = [len(job.keys) for job in matrix.build] or [0]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 1500), st.integers(0, 600))
def test_a_job_that_writes_takes_the_files_of_one_leg_which_has_all_its_keys(
    good: int, bad: int
) -> None:
    matrix = make_matrix(items(good, Action.PROPOSE) + items(bad, Action.REFUSE))
    legs = {job.leg: set(job.keys) for job in matrix.build}
    assert len(legs) == len(matrix.build)
    assert set(legs) <= set(LEGS)
    for job in matrix.write:
        assert (
            set(job.keys) <= legs[job.leg]
            if job.leg
            else not set(job.keys) & set().union(*legs.values())
        )


@pytest.mark.parametrize("count", [1, 199, 200])
def test_up_to_two_hundred_contracts_have_a_job_each_that_writes(count: int) -> None:
    wanted = {(item.key,) for item in items(count, Action.PROPOSE)}
    assert {job.keys for job in make_matrix(items(count, Action.PROPOSE)).write} == wanted


def test_jobs_have_different_names() -> None:
    matrix = make_matrix(items(1000, Action.PROPOSE))
    assert len({job.keys[0] for job in matrix.build}) == len(matrix.build)
    assert len({job.keys[0] for job in matrix.write}) == len(matrix.write)
