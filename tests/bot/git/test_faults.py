"""A run that dies, a crowd of runs, and a world that does not play along."""

import contextlib
import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import InputError, WorldError
from bot.git.command import Answer, explain
from bot.git.identity import TaskName
from bot.git.proposal import BranchTaken, State
from bot.git.refs import clear_lock
from tests.bot.git.worlds import (
    TASK,
    World,
    commit_file,
    draft,
    finish,
    identify,
    make_world,
    run_child,
    sh,
)

# Only root may mount; CI machines let sudo do it without asking.
ROOT = () if os.geteuid() == 0 else ("sudo", "-n")
STEPS = ("locked", "objects", "pushed", "refs")
DIE_AT = (
    "def die(step):\n    if step == sys.argv[1]: os.kill(os.getpid(), signal.SIGKILL)\n"
    "repository = world.open()\n"
    "repository.propose(draft(repository, sys.argv[2]), die)\n"
)
PROPOSE = (
    "repository = world.open()\n"
    "task = TaskName(sys.argv[1], 'strategy')\n"
    "print(repository.propose(draft(repository, task=task)).state)\n"
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def ours(world: World) -> dict[str, str]:
    return {name: oid for name, oid in world.refs().items() if "/ai/" in name}


@pytest.mark.parametrize("remote", [True, False], ids=["remote", "no-remote"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_after_any_step_the_next_run_ends_where_it_would_have(
    tmp_path: Path, step: str, remote: bool
) -> None:
    calm = make_world(tmp_path / "calm", remote=remote)
    killed = World(tmp_path / "killed/work", tmp_path / "killed/remote.git")
    killed.work.parent.mkdir()
    subprocess.run(["cp", "-r", calm.work, killed.work], check=True)
    if remote:
        subprocess.run(["cp", "-r", calm.remote, killed.remote], check=True)
        sh(killed.work, "remote", "set-url", "origin", str(killed.remote))
    for content in ("one", "two"):
        repository = calm.open()
        repository.propose(draft(repository, content))
        finish(run_child(killed, DIE_AT, step, content), killed=True)
        again = killed.open()
        assert again.propose(draft(again, content)).state in (State.PROPOSED, State.UNCHANGED)
        assert killed.refs() == calm.refs()
    assert killed.left_behind() == []
    sh(killed.work, "fsck", "--strict")


@pytest.mark.parametrize("step", STEPS)
def test_killed_and_then_the_contract_changed_still_ends_well(world: World, step: str) -> None:
    finish(run_child(world, DIE_AT, step, "one"), killed=True)
    repository = world.open()
    second = repository.propose(draft(repository, "two"))
    tips = {oid for name, oid in ours(world).items() if "/heads/" in name or "/remotes/" in name}
    assert tips == {second.commit}


def test_the_same_contract_five_times_at_once_is_proposed_once(world: World) -> None:
    children = [run_child(world, PROPOSE, TASK.workflow) for _ in range(5)]
    states = sorted(finish(child).strip() for child in children)
    assert states == ["proposed"] + ["unchanged"] * 4
    assert sorted(ours(world)) == sorted(
        [
            f"here:refs/heads/{TASK.branch}",
            f"here:refs/remotes/origin/{TASK.branch}",
            f"here:refs/tags/{TASK.tag(identify('one'))}",
            f"there:refs/heads/{TASK.branch}",
            f"there:refs/tags/{TASK.tag(identify('one'))}",
        ]
    )
    assert world.left_behind() == []


def test_ten_contracts_at_once_are_ten_proposals(world: World) -> None:
    names = [f"flow-{number}" for number in range(10)]
    children = [run_child(world, PROPOSE, name) for name in names]
    assert [finish(child).strip() for child in children] == ["proposed"] * 10
    heads = sh(world.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads/ai").split()
    assert heads == sorted(TaskName(name, "strategy").branch for name in names)
    assert len(sh(world.remote, "tag", "--list").split()) == 10
    assert world.left_behind() == []


def test_two_clones_that_propose_the_same_at_once_agree(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other", world.remote)
    subprocess.run(["cp", "-r", world.work, other.work], check=True)
    children = [run_child(each, PROPOSE, TASK.workflow) for each in (world, other) * 2]
    for child in children:
        finish(child)
    assert ours(world) == ours(other)


def test_a_run_waits_for_another_and_says_so(world: World) -> None:
    repository = world.open()
    path = repository.folder / "locks" / "oversold-dip.strategy.lock"
    path.parent.mkdir(parents=True)
    told: list[str] = []
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(WorldError, match=r"has not ended within 0\.2 s"):
            repository.lock(TASK, 0.2, told.append).__enter__()
    assert told == ["waiting for another run of oversold-dip/strategy"]
    with repository.lock(TASK, 0.2), repository.lock(TASK, 0.2):
        assert path.exists()
    assert not path.exists()


def test_a_lock_that_a_killed_git_left_on_our_branch_is_removed(tmp_path: Path) -> None:
    world = make_world(tmp_path, remote=False)
    repository = world.open()
    repository.propose(draft(repository, "one"))
    lock = world.work / f".git/refs/heads/{TASK.branch}.lock"
    lock.touch()
    second = repository.propose(draft(repository, "two"))
    assert sh(world.work, "rev-parse", TASK.branch) == second.commit
    assert world.left_behind() == []


def test_a_lock_that_is_not_ours_is_left_and_named(tmp_path: Path) -> None:
    lock = tmp_path / "packed-refs.lock"
    lock.touch()
    assert not clear_lock(lock, removable=False)
    assert lock.exists()
    answer = Answer("update-ref", 128, b"", f"fatal: Unable to create '{lock}': File exists.")
    assert str(lock) in explain(answer).message


@pytest.mark.parametrize("content", ["one", "two"])
def test_a_machine_that_died_inside_the_push_is_cleaned_up_after(
    world: World, content: str
) -> None:
    """Git sets the refs of an atomic push one by one: the branch moved, the tag is still locked."""
    repository = world.open()
    repository.propose(draft(repository, "zero"))
    finish(run_child(world, DIE_AT, "pushed", "one"), killed=True)
    tag = TASK.tag(identify("one"))
    sh(world.remote, "tag", "-d", tag)
    (world.remote / f"refs/tags/{tag}.lock").touch()
    proposed = repository.propose(draft(repository, content))
    refs = world.refs()
    assert refs[f"there:refs/heads/{TASK.branch}"] == proposed.commit
    assert f"there:refs/tags/{proposed.tag}" in refs
    assert list((repository.folder / "begun").iterdir()) == []
    if content == "one":
        assert world.left_behind() == []


def test_a_remote_that_declines_leaves_nothing_on_either_side(world: World) -> None:
    hook = world.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'only releases on fridays' >&2\nexit 1\n")
    hook.chmod(0o755)
    before = world.refs()
    repository = world.open()
    with pytest.raises(WorldError, match="does not take the push: only releases") as stop:
        repository.propose(draft(repository))
    assert stop.value.exit_code == 4
    assert world.refs() == before
    hook.unlink()
    assert repository.propose(draft(repository)).state is State.PROPOSED


def test_a_branch_that_the_remote_protects_takes_the_tag_with_it(world: World) -> None:
    hook = world.remote / "hooks/update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/ai/*) exit 1;; esac\n')
    hook.chmod(0o755)
    before = world.refs()
    with pytest.raises(WorldError, match="does not take the push"):
        world.open().propose(draft(world.open()))
    assert world.refs() == before


def test_a_remote_that_is_gone_is_named_with_what_to_do(world: World) -> None:
    world.remote.rename(world.remote.with_name("moved.git"))
    before = sh(world.work, "show-ref")
    with pytest.raises(WorldError, match="is not there") as stop:
        world.open().propose(draft(world.open()))
    assert "git remote set-url origin" in stop.value.hint
    assert sh(world.work, "show-ref") == before


def test_a_remote_that_does_not_answer_is_tried_three_times(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.git.remote._FIRST_PAUSE_S", 0.5)  # tests of other folders shorten it
    sh(world.work, "remote", "set-url", "origin", "http://user:hunter2@127.0.0.1:9/ada/bots.git")
    started = time.monotonic()
    with pytest.raises(WorldError, match="did not answer in 3 attempts") as stop:
        world.open().propose(draft(world.open()))
    assert time.monotonic() - started > 1
    assert stop.value.exit_code == 4
    assert "hunter2" not in stop.value.message


def test_a_remote_that_moved_under_the_push_is_looked_at_again(
    world: World, tmp_path: Path
) -> None:
    """Somebody pushes between our look and our push: the lease catches it."""
    repository = world.open()
    repository.propose(draft(repository, "one"))
    other = tmp_path / "other"
    sh(tmp_path, "clone", "-q", "-b", TASK.branch, str(world.remote), str(other))
    sh(other, "config", "user.name", "Bo")
    sh(other, "config", "user.email", "bo@example.com")
    commit_file(other, "bo.md", "Bo\n")

    def interfere(step: str) -> None:
        if step == "objects":
            sh(other, "push", "-q")

    before = {name: oid for name, oid in world.refs().items() if name.startswith("here:")}
    with pytest.raises(BranchTaken):
        repository.propose(draft(repository, "two"), interfere)
    after = world.refs()
    assert {name: oid for name, oid in after.items() if name.startswith("here:")} == before
    assert after[f"there:refs/heads/{TASK.branch}"] == sh(other, "rev-parse", "HEAD")


def test_somebody_who_commits_here_meanwhile_keeps_the_branch(world: World) -> None:
    repository = world.open()
    repository.propose(draft(repository, "one"))

    def interfere(step: str) -> None:
        if step == "pushed":
            sh(world.work, "update-ref", f"refs/heads/{TASK.branch}", "main")

    with pytest.raises(WorldError, match="at the same moment"):
        repository.propose(draft(repository, "two"), interfere)
    assert sh(world.work, "rev-parse", TASK.branch) == sh(world.work, "rev-parse", "main")


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A real file system that fills up."""
    folder.mkdir()
    options = f"size={size},uid={os.geteuid()}"
    if subprocess.run(
        [*ROOT, "mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False
    ).returncode:
        pytest.skip("a small disk needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run([*ROOT, "umount", "--lazy", folder], check=True)


def fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def test_a_full_disk_here_changes_no_ref(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        world = make_world(disk)
        repository = world.open()
        before = world.refs()
        (repository.folder / "locks").mkdir(parents=True)
        fill(disk)
        with pytest.raises(WorldError, match=r"disk.* full") as stop:
            repository.propose(draft(repository))
        assert stop.value.exit_code == 4
        assert world.refs() == before
        (disk / "filler").unlink()
        assert repository.propose(draft(repository)).state is State.PROPOSED
        assert world.left_behind() == []


def test_a_full_disk_at_the_remote_changes_no_ref(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        world = make_world(tmp_path)
        remote = disk / "remote.git"
        subprocess.run(["cp", "-r", world.remote, remote], check=True)
        sh(world.work, "remote", "set-url", "origin", str(remote))
        full = World(world.work, remote)
        before = full.refs()
        fill(disk)
        with pytest.raises(WorldError, match=r"disk of the remote .* is full"):
            full.open().propose(draft(full.open()))
        assert full.refs() == before


def test_a_read_only_remote_is_told_apart(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    before = world.refs()
    with read_only(world.remote), pytest.raises(WorldError, match="does not take the push"):
        world.open().propose(draft(world.open()))
    assert world.refs() == before


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody may write below a folder; root needs a mount for that."""
    if os.geteuid() == 0:
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", folder, folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    else:
        subprocess.run(["chmod", "-R", "a-w", folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["chmod", "-R", "u+w", folder], check=True)


def test_without_git_on_the_path_the_message_says_so(world: World, tmp_path: Path) -> None:
    code = (
        "from bot.errors import WorldError\nos.environ['PATH'] = '/nowhere'\n"
        "try:\n    world.open()\nexcept WorldError as error:\n    print(error.message)\n"
    )
    assert "git was not found" in finish(run_child(world, code))


def test_a_corrupt_base_is_a_message(world: World) -> None:
    repository = world.open()
    proposal = draft(repository)
    commit = proposal.base.commit
    (world.work / ".git/objects" / commit[:2] / commit[2:]).unlink()
    with pytest.raises((WorldError, InputError)):
        repository.propose(proposal)
