"""Many contracts, many comments, few requests: what a large repository costs."""

import json
import re
import sys

import pytest

from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.forge.port import Thread
from bot.workflow.items import MOST_JOBS
from bot.workflow.writing import USUAL
from tests.bot.workflow.hub import NAME, push
from tests.doubles.github.messages import GIT_ROUTE, GRAPHQL_ROUTE, Exchange
from tests.e2e.lines import candles_text, contract_text
from tests.fire.cells import changes, differs
from tests.fire.flows import CANDLES
from tests.fire.matrices import Worker
from tests.fire.snapshot import comments, objects

CONTRACTS = 200


FREE = (GIT_ROUTE, GRAPHQL_ROUTE, "/rate_limit")


def asked(calls: tuple[Exchange, ...]) -> int:
    """How many requests to the API count against the limit."""
    return sum(1 for call in calls if call.route not in FREE and call.status != 304)


def test_two_hundred_contracts_in_one_push(
    worker: Worker, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    bench.world.commit({CANDLES: candles_text()})
    files: dict[str, str | bytes | None] = {
        f"contracts/dip_{n}.yaml": contract_text(workflow=f"dip-{n}", data=CANDLES)
        for n in range(CONTRACTS)
    }
    event = "push", push(*bench.world.commit(files))
    plan = bench.run(*event, stages=("plan",))
    assert plan.code == 0, plan.log
    build, write = plan.outputs["build"], plan.outputs["write"]
    assert sum(len(row["keys"].split(",")) for row in build) == CONTRACTS
    assert len(build) <= MOST_JOBS
    assert len(write) <= MOST_JOBS
    assert asked(plan.calls) <= 3  # one for a hundred open pull requests, whatever was pushed
    assert re.search(rf"{CONTRACTS} contracts take about \d+ requests.*“Re-run", plan.log)
    assert "[rate-limit]" in plan.summary

    # One of them to its end: what it costs does not depend on the other 199.
    output = bench.world.clone.parent / "run-100" / "output-plan-"
    key = build[7]["keys"].split(",")[0]
    one = json.dumps([{**build[7], "name": "x", "keys": key, "leg": "leg_8"}])
    output.write_text(f"announce<<E\n[]\nE\nbuild<<E\n{one}\nE\nwrite<<E\n{one}\nE\n")
    ran = bench.run(*event, stages=("generate", "gates", "write"))
    assert ran.code == 0, ran.log
    assert len(bench.world.branches) == 1
    assert asked(ran.calls) <= USUAL
    with capsys.disabled():
        sys.stdout.write(
            f"\n{CONTRACTS} contracts: the plan asks {asked(plan.calls)} times in all, "
            f"a contract {asked(ran.calls)} times in its jobs, "
            f"{len(build)} jobs build and {len(write)} write\n"
        )


def test_several_contracts_end_to_end_are_counted_and_told(worker: Worker) -> None:
    """The number on the run's page and in the logs is the number that GitHub counts."""
    bench = worker.bench
    bench.go_back(worker.empty)
    bench.world.commit({CANDLES: candles_text()})
    files: dict[str, str | bytes | None] = {
        f"contracts/dip_{n}.yaml": contract_text(workflow=f"dip-{n}", data=CANDLES)
        for n in range(2)
    }
    event = "push", push(*bench.world.commit(files))
    bench.hub.limits._windows.clear()
    ran = bench.run(*event)
    assert ran.code == 0, ran.log
    assert len(bench.world.branches) == 2
    told = re.findall(r"^(\d+) requests .* which (\d+) count", ran.log, re.MULTILINE)
    assert len(told) == ran.jobs.count("plan") + 2 * len(ran.outputs["write"])
    (window,) = bench.hub.limits._windows.values()
    assert sum(int(counted) for _, counted in told) == asked(ran.calls) == window.used
    everything = [call for call in ran.calls if call.route != GIT_ROUTE]
    assert sum(int(made) for made, _ in told) == len(everything)
    assert any(call.status == 304 for call in everything)
    assert asked(ran.calls) <= 2 * USUAL
    on_the_page = re.findall(r"count against the hour's limit, ([0-9.]+) a contract", ran.summary)
    assert len(on_the_page) == 2
    assert all(float(each) <= USUAL for each in on_the_page)


def test_among_five_thousand_comments_and_issues_the_status_is_found(worker: Worker) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    hosted = bench.world.hosted
    for _ in range(2500):
        hosted.open_issue("Other", "", "mallory")
    number = hosted.open_issue("Strategy", "", "alice").number
    for _ in range(1250):
        hosted.say(number, "first", "mallory")
    forge = GitHubForge(GitHubApi(NAME, bench.world.token(), bench.hub.url, pace=0.0))
    first = forge.threads.say(Thread(number), "begun", "status", 1)
    for _ in range(1250):
        hosted.say(number, "<!-- stratwright:status run=9 -->\nnot ours", "mallory")
    before = forge.api.calls
    second = forge.threads.say(Thread(number), "done", "status", 2)
    assert (second.id, "done" in second.body) == (first.id, True)
    mine = [each for each in hosted.record.comments.values() if each.author.login.endswith("[bot]")]
    assert len(mine) == 1
    assert forge.api.calls - before <= 3 * 26 + 2
    assert forge.pulls(only_open=True) == ()


@pytest.mark.parametrize("left", [0, 1, 12, 39])
def test_with_few_requests_left_nothing_is_begun_and_the_time_is_told(
    left: int, worker: Worker
) -> None:
    reference = worker.reference("bad contract pushed")
    bench = worker.bench
    for kept, stages in ((reference.start, ("plan",)), (reference.middle, ("write",))):
        bench.go_back(kept)
        before = objects(bench.world)
        bench.hub.use_up(bench.world.token(), left, 1800)
        ran = bench.run(*reference.event, stages=stages)
        assert ran.code == 4
        assert "[rate-limit]" in ran.log
        assert re.search(r"Run again after \d\d:\d\d UTC", ran.log)
        assert re.search(r"\d\d:\d\d UTC", ran.summary) or stages == ("write",)
        assert objects(bench.world) == before
        told = [text for texts in comments(bench.world).values() for text in texts]
        assert all("[rate-limit]" in text for text in told)
        assert sum(1 for call in ran.calls if changes(call) and call.applied) == len(told)
    # When the hour is over it goes on.
    bench.hub.limits._windows.clear()
    again = bench.run(*reference.event, run=101, world=bench.another_clone(reference.start))
    assert again.code == reference.flow.code
    assert differs(bench, reference) == ""
