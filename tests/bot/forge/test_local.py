import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bus.port import Event, EventName, open_bus, timestamp
from bot.cli import main
from bot.errors import InputError, RefusedError, WorldError
from bot.forge.local import LocalForge
from bot.forge.port import Decision, PullState, Thread, open_forge
from bot.git.repository import Repository
from tests.bot.forge.drafts import local_draft as propose
from tests.bot.git.worlds import (
    HOUSE,
    TASK,
    World,
    commit_file,
    finish,
    identify,
    make_world,
    run_child,
    sh,
)

NOW = datetime(2026, 11, 7, 14, 30, tzinfo=UTC)


class SetClock:
    def now(self) -> datetime:
        return NOW


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def forge_of(repository: Repository) -> LocalForge:
    return LocalForge(repository, SetClock())


def test_a_pull_request_is_opened_once_and_brought_up_to_date(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    one = propose(repository, "one")
    first = forge.submit(one)
    assert (first.number, first.state, first.author) == (
        1,
        PullState.OPEN,
        "Ada Trader <ada@example.com>",
    )
    assert forge.submit(one) == first
    two = propose(repository, "two")
    second = forge.submit(two)
    assert (second.number, second.draft) == (1, two)
    assert forge.pulls() == (second,)
    assert forge.find(TASK.branch) == second
    assert forge.find("ai/generated/other/strategy") is None


def test_a_closed_pull_request_is_not_reopened_unless_asked(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    one = propose(repository)
    forge.submit(one)
    closed = forge.close(1, "too risky")
    assert (closed.state, closed.reason) == (PullState.CLOSED, "too risky")
    assert forge.submit(one) == closed == forge.close(1)
    assert forge.submit(one, reopen=True).state is PullState.OPEN


def test_a_changed_contract_may_ask_anew_after_a_no(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    forge.submit(propose(repository, "one"))
    forge.close(1)
    second = forge.submit(propose(repository, "two"))
    assert (second.number, second.state) == (2, PullState.OPEN)
    assert forge.get(1).state is PullState.CLOSED


@pytest.mark.parametrize("way", ["--no-ff", "--squash"])
def test_merged_is_what_git_says(world: World, way: str) -> None:
    repository = world.open()
    forge = forge_of(repository)
    one = propose(repository)
    forge.submit(one)
    sh(world.work, "merge", "-q", way, TASK.branch)
    if way == "--squash":
        sh(world.work, "commit", "-q", "-m", "take it")
    assert forge.get(1).state is PullState.MERGED
    assert forge.submit(one).number == 1
    with pytest.raises(InputError, match="merged already"):
        forge.close(1)
    assert forge.submit(propose(repository, "two")).number == 2


def test_comments_only_grow_and_a_marker_shows_its_newest(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    forge.submit(propose(repository))
    forge.threads.say(Thread(1), "gates: 1 of 2", marker="status")
    forge.threads.say(Thread(1), "looks fine")
    last = forge.threads.say(Thread(1), "gates: 2 of 2", marker="status")
    assert forge.threads.say(Thread(1), "gates: 2 of 2", marker="status") == last
    assert [comment.body for comment in forge.threads.all(Thread(1))] == [
        "looks fine",
        "gates: 2 of 2",
    ]
    lines = (repository.folder / "forge/comments/1.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [1, 2, 3]
    with pytest.raises(InputError, match="no pull request 7"):
        forge.threads.say(Thread(7), "hello")


def test_a_review_is_about_one_commit(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    one = propose(repository, "one")
    forge.submit(one)
    review = forge.people.review(1, Decision.APPROVED, one.head)
    assert forge.people.review(1, Decision.APPROVED, one.head) == review
    forge.submit(propose(repository, "two"))
    with pytest.raises(RefusedError, match="by now, not at"):
        forge.people.review(1, Decision.APPROVED, one.head)
    assert forge.people.reviews(1) == (review,)
    forge.close(1)
    with pytest.raises(InputError, match="is closed"):
        forge.people.review(1, Decision.APPROVED, forge.get(1).draft.head)


@pytest.mark.parametrize("side", ["here", "there"])
def test_a_branch_that_moved_cannot_be_approved(world: World, side: str) -> None:
    repository = world.open()
    forge = forge_of(repository)
    one = propose(repository)
    forge.submit(one)
    folder = world.work if side == "here" else world.remote
    sh(folder, "update-ref", f"refs/heads/{TASK.branch}", "main")
    with pytest.raises(RefusedError, match="has moved"):
        forge.people.review(1, Decision.APPROVED, one.head)


def test_a_broken_record_is_named(world: World) -> None:
    repository = world.open()
    forge = forge_of(repository)
    forge.submit(propose(repository))
    path = repository.folder / "forge/pulls/1.json"
    path.write_text(path.read_text().replace('"open"', '"ajar"'))
    with pytest.raises(WorldError, match=r"pulls/1\.json is not a PullRequest"):
        forge.get(1)


def test_a_branch_that_is_not_generated_has_no_pull_request_here(world: World) -> None:
    repository = world.open()
    one = propose(repository)
    with pytest.raises(InputError, match="not a branch of generated code"):
        forge_of(repository).submit(replace(one, branch="feature"))
    with pytest.raises(InputError, match="no forge 'gitea'"):
        open_forge("gitea", repository)


def test_many_at_once_get_one_pull_request_each(world: World) -> None:
    code = (
        "from bot.forge.port import Draft, open_forge\n"
        "repository = world.open()\nforge = open_forge('local', repository)\n"
        "task = TaskName(sys.argv[1], 'strategy')\nbase = repository.base()\n"
        "draft = Draft(task.branch, base.branch, base.commit, 'f' * 40, 't', 'c', 'x', '')\n"
        "print(forge.submit(draft).number)\n"
    )
    names = ["a", "b", "c", "a", "b", "c"]
    numbers = [int(finish(child)) for child in [run_child(world, code, name) for name in names]]
    assert sorted(set(numbers)) == [1, 2, 3]
    assert numbers[:3] == numbers[3:]
    assert world.left_behind() == []


def run(world: World, *arguments: str) -> int:
    return main([*arguments, "--repository", str(world.work)])


def test_the_commands_list_show_diff_approve_and_close(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(world, "pr", "list") == 0
    assert "no pull requests yet" in capsys.readouterr().out
    repository = world.open()
    forge = open_forge("local", repository)
    one = propose(repository)
    forge.submit(replace(one, title="\x1b[2Jwiped", body="::error::x"))
    assert run(world, "pr", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["branch"] == TASK.branch
    assert run(world, "pr", "approve", "1", "--head", one.head[:10], "--comment", "fine") == 0
    told = capsys.readouterr().out
    assert "Nothing was merged" in told
    assert f"git merge --no-ff {one.head[:12]}" in told
    assert run(world, "pr", "approve", "1", "--comment", "fine") == 0
    capsys.readouterr()
    assert run(world, "pr", "show", "1") == 0
    shown = capsys.readouterr().out
    assert f"approved {one.head[:12]}" in shown
    assert f"stratwright verify {one.tag}" in shown
    assert "\x1b" not in shown
    assert "\n::" not in shown
    (granted,) = open_bus(repository.folder).read("approvals")
    assert granted.data == {
        "pull_request": 1,
        "head": one.head,
        "approver": "Ada Trader <ada@example.com>",
    }
    assert run(world, "pr", "diff", "1", "--json") == 0
    assert "+# one" in json.loads(capsys.readouterr().out)["diff"]
    assert run(world, "pr", "close", "1", "--comment", "no") == 0
    assert run(world, "pr", "approve", "1") == 2
    assert run(world, "pr", "show", "9") == 2
    assert sh(world.work, "rev-parse", "main") == sh(world.work, "rev-parse", "origin/main")


def test_the_list_says_who_approved_the_proposed_commit(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = world.open()
    forge = forge_of(repository)
    forge.submit(propose(repository))
    assert run(world, "pr", "list") == 0
    assert "approved by" not in capsys.readouterr().out
    assert run(world, "pr", "approve", "1") == 0
    capsys.readouterr()
    assert run(world, "pr", "list") == 0
    assert "approved by" in capsys.readouterr().out
    forge.submit(propose(repository, "two"))  # a new commit voids the approval
    assert run(world, "pr", "list") == 0
    assert "approved by" not in capsys.readouterr().out


def test_an_approval_of_another_commit_is_refused(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = world.open()
    open_forge("local", repository).submit(propose(repository))
    assert run(world, "pr", "approve", "1", "--head", "main") == 1
    assert "by now, not at" in capsys.readouterr().err
    assert list(open_bus(repository.folder).read("approvals")) == []


def test_the_diff_goes_byte_for_byte_into_a_pipe(world: World) -> None:
    repository = world.open()
    open_forge("local", repository).submit(propose(repository))
    code = "import sys; from bot.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "pr", "diff", "1", "--repository", str(world.work)]
    patch = subprocess.run(command, cwd=HOUSE, capture_output=True, check=True).stdout
    assert b'"win_rate": 0.5}\r\n' in patch
    (world.work.parent / "a.patch").write_bytes(patch)
    sh(world.work, "apply", "--index", "../a.patch")
    assert sh(world.work, "write-tree") == sh(world.work, "rev-parse", f"{TASK.branch}^{{tree}}")


def test_what_a_killed_writer_left_is_no_pull_request(world: World) -> None:
    repository = world.open()
    left = repository.folder / "forge/pulls/.1.json.part"
    left.parent.mkdir(parents=True)
    left.write_text("{")
    forge = forge_of(repository)
    assert forge.pulls() == ()
    assert forge.submit(propose(repository)).number == 1
    assert world.left_behind() == []


def status(world: World, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert run(world, "status", "--json") == 0
    (task,) = json.loads(capsys.readouterr().out)
    assert isinstance(task, dict)
    return task


def test_status_says_where_a_task_stands(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(world, "status") == 0
    assert "nothing proposed yet" in capsys.readouterr().out
    repository = world.open()
    forge = open_forge("local", repository)
    bus = open_bus(repository.folder)

    def happen(name: EventName, content: str) -> None:
        bus.publish(Event(name, identify(content), TASK.workflow, TASK.task, timestamp(NOW)))

    happen(EventName.TASK_DISPATCHED, "one")
    assert status(world, capsys)["status"] == "running"
    happen(EventName.TODO_CREATED, "one")
    assert status(world, capsys)["status"] == "blocked"
    one = propose(repository)
    forge.submit(one)
    happen(EventName.PR_OPENED, "one")
    expected = {
        "workflow": "oversold-dip",
        "task": "strategy",
        "status": "proposed",
        "correlation_id": identify("one"),
        "branch": TASK.branch,
        "tag": one.tag,
        "commit": one.head,
        "pull_request": 1,
        "last_event": "2026-11-07T14:30:00.000Z PR_OPENED",
        "coder": "",
        "figures": {},  # this proposal has no summary
        "approvals": [],
    }
    assert status(world, capsys) == expected
    happen(EventName.TEST_FAILED, "two")
    blocked = status(world, capsys)
    assert (blocked["status"], blocked["correlation_id"]) == ("blocked", identify("two"))
    happen(EventName.PR_OPENED, "one")
    commit_file(world.work, "x.md", "x\n")
    sh(world.work, "merge", "-q", "--no-edit", TASK.branch)
    assert status(world, capsys)["status"] == "merged"
    assert run(world, "status") == 0
    assert "oversold-dip/strategy  merged  #1" in capsys.readouterr().out
