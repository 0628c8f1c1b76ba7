"""A sample of what goes wrong in the deploy workflow; `make faults` has all of it."""

import pytest

from tests.fire.cells import FAULTS, KILLS, Cell
from tests.fire.deploys import try_strangers
from tests.fire.matrices import Worker, chosen

# Most calls are reads, and alike; the record is made in the first of these flows.
SAMPLED = {"approved by a comment": (FAULTS, 173), "rollback by a comment": (KILLS, 29)}


@pytest.mark.parametrize("flow", SAMPLED)
def test_after_a_fault_or_a_kill_the_same_request_ends_with_the_same_entries(
    flow: str, worker: Worker
) -> None:
    stage, (kinds, sample) = worker.stage(flow), SAMPLED[flow]
    cells = [cell for cell in stage.cells(kinds) if chosen(cell, sample)]
    assert len(cells) >= 3
    assert [found for found in map(stage.try_cell, cells) if found.why] == []


def test_a_halt_whose_push_was_taken_and_not_answered_stands_once(worker: Worker) -> None:
    stage = worker.stage("halt by a comment")
    pushes = [n for n, call in enumerate(stage.calls) if call.path.endswith("/git-receive-pack")]
    cells = [Cell(stage.flow.name, number, "time-out after") for number in pushes]
    assert cells
    assert [found for found in map(stage.try_cell, cells) if found.why] == []


def test_asked_for_five_times_at_once_with_two_killed_there_is_one_record(worker: Worker) -> None:
    stage = worker.stage("approved by a comment")
    assert stage.often(2, rounds=1) == ""
    assert len(stage.scene.records) == 1


def test_a_second_record_or_an_untrue_word_is_seen(worker: Worker) -> None:
    """The judge is not blind."""
    stage = worker.stage("approved by a comment")
    stage.go_back()
    stage.scene.say("<!-- stratwright:approval run=1 -->\n### Approved for paper: human_verified_1")
    assert "is told and not there" in stage.untrue()
    stage.go_back()
    then, stage.final = stage.final, {**stage.final, "entries": []}
    try:
        assert stage.second().startswith("entries: ")
    finally:
        stage.final = then


def test_strangers_and_quoted_words_lead_to_nothing(worker: Worker) -> None:
    stage = worker.stage("approved by a comment")
    stage.go_back()
    found = [*try_strangers(stage.scene)][::6]
    assert len(found) > 5
    assert [each for each in found if each[2]] == []
