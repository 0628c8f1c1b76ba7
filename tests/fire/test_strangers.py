import pytest

from tests.bot.workflow.hub import git, issue
from tests.doubles.github.messages import Exchange
from tests.fire import strangers
from tests.fire.bench import Kept, Ran
from tests.fire.flows import FORM
from tests.fire.matrices import Worker


@pytest.fixture(scope="module")
def start(worker: Worker) -> Kept:
    worker.bench.go_back(worker.empty)
    return strangers.prepare(worker.bench)


@pytest.mark.parametrize("case", strangers.CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_nothing_happens_and_nothing_is_spent(
    case: strangers.Case, worker: Worker, start: Kept
) -> None:
    assert strangers.try_case(worker.bench, start, case) == ""


@pytest.mark.parametrize("job", strangers.LOST)
def test_permission_lost_in_between_ends_it(job: str, worker: Worker, start: Kept) -> None:
    assert strangers.lose_before(worker.bench, start, job) == ""


def test_what_was_spent_is_seen() -> None:
    wrote = Exchange("POST", "/repos/a/b/issues/1/comments", {}, None, 201)
    pushed = Exchange(
        "POST", "/a/b.git/git-receive-pack", {}, None, 200, route="/{owner}/{repo}.git"
    )
    assert strangers.spent(Ran(calls=(wrote,)))
    assert strangers.spent(Ran(calls=(pushed,)))
    assert strangers.spent(Ran(jobs=("plan", "gates")))
    assert not strangers.spent(Ran(jobs=("plan",)))


def test_only_the_text_of_the_trigger_counts(worker: Worker, start: Kept) -> None:
    bench = worker.bench
    bench.go_back(start)
    bench.world.hosted.record.issues[1].body = FORM.replace("rsi < 30", "rsi < 99")
    assert bench.run("issues", issue(1, FORM)).code == 0
    (branch,) = bench.world.branches
    contract = git(bench.world.bare, "show", f"{branch}:contracts/issue_1.yaml")
    assert "rsi < 30" in contract
    assert "99" not in contract
