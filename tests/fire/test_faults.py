"""A sample of the faults and the crashes, the same on every machine; `make faults` has them all."""

import pytest

from tests.fire.cells import FAULTS, KILLS, Cell, try_cell
from tests.fire.flows import FLOWS
from tests.fire.matrices import Worker, chosen
from tests.fire.snapshot import OPENED, untrue

# Of every flow the calls that change something are few; most cells are reads, and alike.
SAMPLED = {
    "good contract pushed": 30,
    "bad contract pushed": 9,
    "contract deleted": 9,
    "explain": 9,
    "bad form filed": 5,
}


@pytest.mark.parametrize("flow", SAMPLED)
def test_after_a_fault_the_run_is_right_or_says_what_to_do_and_the_next_one_is(
    flow: str, worker: Worker
) -> None:
    reference = worker.reference(flow)
    cells = [cell for cell in reference.cells(FAULTS) if chosen(cell, SAMPLED[flow])]
    assert len(cells) >= 3
    found = [try_cell(worker.bench, reference, cell) for cell in cells]
    assert [verdict for verdict in found if verdict.why] == []


def writes(worker: Worker, flow: str) -> list[Cell]:
    reference = worker.reference(flow)
    return [cell for cell in reference.cells(KILLS) if cell.kind == "killed after"]


@pytest.mark.parametrize("flow", ["bad contract pushed", "contract deleted"])
def test_killed_right_after_a_write_the_next_run_ends_as_without_the_kill(
    flow: str, worker: Worker
) -> None:
    cells = writes(worker, flow)
    assert len(cells) >= 2
    found = [try_cell(worker.bench, worker.reference(flow), cell) for cell in cells]
    assert [verdict for verdict in found if verdict.why] == []


def test_killed_between_the_push_and_the_pull_request_the_next_run_opens_it(
    worker: Worker,
) -> None:
    reference = worker.reference("good contract pushed")
    pushed, opened = (
        next(
            c
            for c in writes(worker, reference.flow.name)
            if reference.calls[c.call].path.endswith(end)
        )
        for end in ("git-receive-pack", "/pulls")
    )
    found = [try_cell(worker.bench, reference, cell) for cell in (pushed, opened)]
    assert [verdict for verdict in found if verdict.why] == []


def test_a_cell_that_ends_wrong_is_seen(worker: Worker) -> None:
    """The judge is not blind: a pull request that somebody removes is a difference."""
    reference = worker.reference("explain")
    cell = Cell("explain", len(reference.calls) - 1, "500")  # too late to end as known halfway
    reference.known.clear()
    assert not try_cell(worker.bench, reference, cell).why
    then = dict(reference.objects)
    reference.objects["refs"] = {**then["refs"], "refs/heads/ai/generated/dip/other": "0" * 40}
    reference.known.clear()
    try:
        assert "refs" in try_cell(worker.bench, reference, cell).why
    finally:
        reference.objects.update(then)
        reference.known.clear()


def test_every_flow_has_calls_that_change_something(worker: Worker) -> None:
    assert {flow.name for flow in FLOWS} >= set(SAMPLED)
    for name in SAMPLED:
        assert writes(worker, name), name


def test_a_success_that_is_not_there_is_seen(worker: Worker) -> None:
    reference = worker.reference("bad form filed")
    worker.bench.go_back(reference.start)
    world = worker.bench.world
    assert untrue(world, "") == ""
    told = f"Proven and proposed in #1.\n\n{OPENED}"
    assert "#1" in untrue(world, told)
    assert "open" in untrue(world, "#1 is closed: its contract is gone.")
    world.hosted.say(1, told, "github-actions[bot]")
    assert "#1" in untrue(world, "")
