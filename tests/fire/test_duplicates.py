import pytest

from tests.fire import duplicates
from tests.fire.matrices import Worker


@pytest.mark.parametrize(
    "attempt",
    [
        duplicates.two_writers,
        duplicates.opened_and_labelled,
        duplicates.late_push,
        duplicates.late_form,
        duplicates.often("bad contract pushed"),
        duplicates.often("explain"),
    ],
    ids=[
        "two-writers",
        "opened-and-labeled",
        "late-push",
        "late-form",
        "20-pushes",
        "20-comments",
    ],
)
def test_asked_for_more_than_once_there_is_one_of_each(
    attempt: duplicates.Attempt, worker: Worker
) -> None:
    assert attempt(worker.bench, worker.empty) == ""
