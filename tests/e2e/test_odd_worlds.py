"""Repositories, disks and data that do not play along: right, or a clear word, and nothing half."""

import os
from pathlib import Path

import pytest

from bot.contract.load import load_contract
from bot.errors import InputError, StratwrightError, WorldError
from bot.files import path_in_repository
from bot.git.proposal import BranchTaken
from bot.pipeline import take_on
from sandbox_runner.port import open_sandbox
from tests.bot.git.test_faults import fill, read_only, small_disk
from tests.bot.git.worlds import World, commit_file, make_world, sh
from tests.e2e.lines import (
    candles_text,
    checked,
    contract_text,
    delivered,
    line_world,
    open_shop,
    run,
    snapshot,
    stratwright,
)
from tests.remembered import Remembering


def stopped(
    world: World,
    sandbox: Remembering,
    kind: type[StratwrightError],
    path: str = "contracts/dip.yaml",
) -> StratwrightError:
    """It ends with a word and a hint, and the repository is as it was."""
    before = snapshot(world)
    with pytest.raises(kind) as stop:
        run(world, sandbox, path)
    assert stop.value.message
    assert stop.value.hint
    assert snapshot(world) == before
    assert world.left_behind() == []
    return stop.value


def checkout(world: World) -> dict[str, object]:
    found = snapshot(world)
    return {key: found[key] for key in ("head", "index", "config", "files")}


def succeeded(world: World, sandbox: Remembering, path: str = "contracts/dip.yaml") -> None:
    """It is proposed and verified, and checkout and index are byte for byte as they were."""
    before = checkout(world)
    result = run(world, sandbox, path)
    assert result.status == "proposed"
    assert checkout(world) == before
    assert world.left_behind() == []
    assert checked(world.work, result.tag, sandbox).outcome == "holds"


def test_a_dirty_tree_and_index_stay_as_they_are(world: World, sandbox: Remembering) -> None:
    (world.work / "README.md").write_text("changed\n", "utf-8")
    (world.work / "staged.txt").write_text("staged\n", "utf-8")
    sh(world.work, "add", "staged.txt")
    (world.work / "Backtest/codes").mkdir(parents=True)
    (world.work / "Backtest/codes/quick_dip.py").write_text("mine, not committed\n", "utf-8")
    succeeded(world, sandbox)
    commit = sh(world.remote, "rev-parse", "ai/generated/dip/strategy")
    assert "staged.txt" not in sh(world.work, "ls-tree", "-r", "--name-only", commit)
    assert sh(world.work, "show", f"{commit}:README.md") == "a trader's repository"


def test_a_contract_that_is_not_committed_goes_along(world: World, sandbox: Remembering) -> None:
    (world.work / "contracts/new.yaml").write_text(contract_text("new"), "utf-8")
    succeeded(world, sandbox, "contracts/new.yaml")


def test_candles_that_git_does_not_have_are_named(world: World, sandbox: Remembering) -> None:
    said: list[str] = []
    shop = open_shop(world, sandbox, say=said.append)
    take_on(load_contract(world.work / "contracts/dip.yaml"), shop)
    assert not any("is not in Git" in line for line in said)
    (world.work / "data/own.csv").write_text(candles_text(300), "utf-8")
    (world.work / "contracts/own.yaml").write_text(
        contract_text("own", data="data/own.csv"), "utf-8"
    )
    take_on(load_contract(world.work / "contracts/own.yaml"), shop)
    assert any("data/own.csv is not in Git: commit it" in line for line in said)


def test_candles_that_come_into_git_later_make_a_run_that_others_can_verify(
    world: World, sandbox: Remembering
) -> None:
    path, warning = "contracts/own.yaml", "data/own.csv is not in Git: commit it"
    (world.work / "data/own.csv").write_text(candles_text(300), "utf-8")
    (world.work / path).write_text(contract_text("own", data="data/own.csv"), "utf-8")
    first = run(world, sandbox, path)
    folder = "artifacts/own/strategy"
    for name in ("gates.json", "report.html"):
        assert warning in sh(world.work, "show", f"{first.tag}:{folder}/{name}")
    assert checked(world.work, first.tag, sandbox).outcome == "holds"
    assert run(world, sandbox, path).status == "unchanged"
    sh(world.work, "add", "data/own.csv")
    sh(world.work, "commit", "-q", "-m", "candles")
    sh(world.work, "push", "-q", "origin", "main")
    second = run(world, sandbox, path)
    assert second.tag != first.tag
    assert warning not in sh(world.work, "show", f"{second.tag}:{folder}/report.html")
    assert checked(world.work, second.tag, sandbox).outcome == "holds"
    assert checked(world.work, first.tag, sandbox).outcome == "holds"


def test_candles_that_differ_from_the_base_are_refused(world: World, sandbox: Remembering) -> None:
    """The tag would hold the base's candles, and verify would find others than were proven."""
    (world.work / "data/btc.csv").write_text(candles_text(300), "utf-8")
    error = stopped(world, sandbox, InputError)
    assert "data/btc.csv here is not the one of main" in error.message
    sh(world.work, "commit", "-q", "-am", "fewer candles")
    assert "push" in stopped(world, sandbox, InputError).hint
    sh(world.work, "push", "-q", "origin", "main")


def test_a_detached_head_proposes_on_top_of_the_default_branch(
    world: World, sandbox: Remembering
) -> None:
    sh(world.work, "switch", "-q", "--detach")
    succeeded(world, sandbox)


def test_without_a_remote_it_stays_here(tmp_path: Path, sandbox: Remembering) -> None:
    succeeded(line_world(tmp_path, remote=False), sandbox)


def test_in_a_worktree_it_works_as_in_the_checkout(world: World, sandbox: Remembering) -> None:
    other = world.work.with_name("other")
    sh(world.work, "worktree", "add", "-q", "-b", "side", str(other))
    result = run(World(other, world.remote), sandbox)
    assert result.status == "proposed"
    assert run(world, sandbox).status in ("unchanged", "proposed")


def test_a_shallow_clone_without_a_name_says_what_to_fetch(
    world: World, tmp_path: Path, sandbox: Remembering
) -> None:
    commit_file(world.work, "more.txt", "more\n")
    sh(world.work, "push", "-q", "origin", "main")
    clone = World(tmp_path / "shallow", world.remote)
    sh(tmp_path, "clone", "-q", "--depth=1", f"file://{world.remote}", str(clone.work))
    sh(clone.work, "config", "user.name", "Ada")
    sh(clone.work, "config", "user.email", "ada@example.com")
    assert "--unshallow" in stopped(clone, sandbox, InputError).hint
    sh(clone.work, "fetch", "-q", "--unshallow")
    succeeded(clone, sandbox)


def test_without_an_identity_it_says_how_to_set_one(world: World, sandbox: Remembering) -> None:
    sh(world.work, "config", "--unset", "user.email")
    assert "git config user.email" in stopped(world, sandbox, InputError).hint


def test_a_repository_without_commits_says_how_to_make_one(
    tmp_path: Path, sandbox: Remembering
) -> None:
    world = World(tmp_path / "work", tmp_path / "remote.git")
    (world.work / "contracts").mkdir(parents=True)
    sh(world.work, "init", "-q", "-b", "main")
    sh(world.work, "config", "user.name", "Ada")
    sh(world.work, "config", "user.email", "ada@example.com")
    (world.work / "contracts/dip.yaml").write_text(contract_text(), "utf-8")
    assert "git commit" in stopped(world, sandbox, InputError).hint


def test_outside_of_any_repository_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "dip.yaml").write_text(contract_text(), "utf-8")
    done = stratwright(tmp_path, "run", "dip.yaml", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert done.returncode == 2
    assert "not inside a Git repository" in done.stderr
    assert "git init" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dip.yaml"]


def test_a_contract_from_outside_is_proposed_into_contracts(
    world: World, tmp_path: Path, sandbox: Remembering
) -> None:
    path = tmp_path / "elsewhere/dip2.yaml"
    path.parent.mkdir()
    path.write_text(contract_text("far"), "utf-8")
    succeeded(world, sandbox, str(path))
    names = sh(world.remote, "ls-tree", "-r", "--name-only", "ai/generated/far/strategy")
    assert "contracts/dip2.yaml" in names.splitlines()


@pytest.mark.parametrize("name", ["d\u00efp.yaml", "d\nip.yaml", "x" * 90 + ".yaml"])
def test_a_contract_whose_path_cannot_stand_in_records_is_refused(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot be a contract's path"):
        path_in_repository(tmp_path / name, tmp_path)


def test_a_contract_of_another_repository_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    assert path_in_repository(tmp_path / "b/x/c.yaml", tmp_path / "a") == "contracts/c.yaml"
    assert path_in_repository(tmp_path / "a/x/c.yaml", tmp_path / "a") == "x/c.yaml"


DATA = {
    "missing": (None, "not there"),
    "empty": ("", "read|empty|candle"),
    "not-candles": ("a,b\n1,2\n", "column|candle"),
    "nan": ("timestamp,open,high,low,close,volume\n2024-01-01T00:00:00Z,1,1,1,,1\n", "line 2"),
    "backwards": (
        "timestamp,open,high,low,close,volume\n2024-01-02T00:00:00Z,1,1,1,1,1\n"
        "2024-01-01T00:00:00Z,1,1,1,1,1\n",
        "line 3",
    ),
    "binary": ("\0\1\2" * 50, "read|candle|column"),
}


@pytest.mark.parametrize("name", DATA)
def test_candles_that_cannot_be_used_are_told(
    name: str, world: World, sandbox: Remembering
) -> None:
    content, words = DATA[name]
    (world.work / "data/new.csv").unlink(missing_ok=True)
    if content is not None:
        (world.work / "data/new.csv").write_text(content, "utf-8")
    path = world.work / "contracts/new.yaml"
    path.write_text(contract_text("new", data="data/new.csv"), "utf-8")
    before = snapshot(world)
    with pytest.raises(InputError, match=words) as stop:
        run(world, sandbox, "contracts/new.yaml")
    assert stop.value.exit_code == 2
    assert snapshot(world) == before
    assert not list(world.work.glob(".git/stratwright/bus/*"))


@pytest.mark.parametrize("data", ["../btc.csv", "/etc/passwd.csv", "~/btc.csv", ".git/config.csv"])
def test_data_outside_the_repository_is_refused(
    data: str, world: World, sandbox: Remembering
) -> None:
    (world.work.parent / "btc.csv").write_text(candles_text(), "utf-8")
    (world.work / "contracts/new.yaml").write_text(contract_text("new", data=data), "utf-8")
    before = snapshot(world)
    with pytest.raises(InputError):
        run(world, sandbox, "contracts/new.yaml")
    assert snapshot(world) == before


@pytest.mark.parametrize("link", ["file", "folder"])
def test_data_behind_a_symbolic_link_is_refused(
    link: str, world: World, sandbox: Remembering
) -> None:
    outside = world.work.parent / "outside"
    outside.mkdir()
    (outside / "btc.csv").write_text(candles_text(), "utf-8")
    if link == "file":
        (world.work / "data/link.csv").symlink_to(outside / "btc.csv")
        data = "data/link.csv"
    else:
        (world.work / "linked").symlink_to(outside)
        data = "linked/btc.csv"
    (world.work / "contracts/new.yaml").write_text(contract_text("new", data=data), "utf-8")
    before = snapshot(world)
    with pytest.raises(InputError, match="symbolic link"):
        run(world, sandbox, "contracts/new.yaml")
    assert snapshot(world) == before


def test_a_pipe_instead_of_candles_does_not_hang(world: World, sandbox: Remembering) -> None:
    os.mkfifo(world.work / "data/pipe.csv")
    path = world.work / "contracts/new.yaml"
    path.write_text(contract_text("new", data="data/pipe.csv"), "utf-8")
    with pytest.raises(InputError):
        run(world, sandbox, "contracts/new.yaml")


def test_a_read_only_remote_takes_nothing_and_loses_nothing(
    world: World, sandbox: Remembering
) -> None:
    with read_only(world.remote):
        stopped_by_the_world(world, sandbox, "does not take the push")
    succeeded(world, sandbox)


def test_a_remote_that_is_gone_is_told(world: World, sandbox: Remembering) -> None:
    moved = world.remote.with_name("moved.git")
    world.remote.rename(moved)
    before = sh(world.work, "show-ref")
    with pytest.raises(WorldError) as stop:
        run(world, sandbox)
    assert stop.value.exit_code == 4
    assert sh(world.work, "show-ref") == before
    moved.rename(world.remote)
    succeeded(world, sandbox)


def stopped_by_the_world(world: World, sandbox: Remembering, words: str) -> None:
    before = checkout(world), world.refs()
    with pytest.raises(WorldError, match=words) as stop:
        run(world, sandbox)
    assert stop.value.exit_code == 4
    assert (checkout(world), world.refs()) == before
    assert list(world.work.glob(".git/stratwright/forge/pulls/*")) == []
    assert world.left_behind() == []


def test_a_base_that_diverged_at_the_remote_is_no_obstacle(
    world: World, tmp_path: Path, sandbox: Remembering
) -> None:
    other = tmp_path / "other"
    sh(tmp_path, "clone", "-q", str(world.remote), str(other))
    sh(other, "config", "user.name", "Bo")
    sh(other, "config", "user.email", "bo@example.com")
    commit_file(other, "bo.md", "Bo\n")
    sh(other, "push", "-q", "origin", "main")
    commit_file(world.work, "ada.md", "Ada\n")
    succeeded(world, sandbox)


def test_a_branch_that_diverged_at_the_remote_is_left_alone(
    proposed: World, tmp_path: Path, sandbox: Remembering
) -> None:
    branch = "ai/generated/dip/strategy"
    other = tmp_path / "other"
    sh(tmp_path, "clone", "-q", "-b", branch, str(proposed.remote), str(other))
    sh(other, "config", "user.name", "Bo")
    sh(other, "config", "user.email", "bo@example.com")
    commit_file(other, "bo.md", "Bo\n")
    sh(other, "push", "-q", "origin", branch)
    before = proposed.refs()
    assert "left alone" in run(proposed, sandbox).note
    path = proposed.work / "contracts/dip.yaml"
    path.write_text(contract_text(oversold=31), "utf-8")
    with pytest.raises(BranchTaken):
        run(proposed, sandbox)
    assert proposed.refs() == before


def test_a_checked_out_branch_is_not_moved_under_its_files(
    proposed: World, sandbox: Remembering
) -> None:
    sh(proposed.work, "switch", "-q", "ai/generated/dip/strategy")
    path = proposed.work / "contracts/dip.yaml"
    path.write_text(contract_text(oversold=31), "utf-8")
    before = delivered(proposed)
    with pytest.raises(InputError, match="checked out"):
        run(proposed, sandbox)
    assert delivered(proposed) == before


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, sandbox: Remembering) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        world = line_world(disk)
        fill(disk)
        stopped_by_the_world(world, sandbox, "disk|space|write")
        (disk / "filler").unlink()
        succeeded(world, sandbox)


def test_a_disk_that_fills_up_on_the_way_leaves_nothing_half_written(
    tmp_path: Path, sandbox: Remembering
) -> None:
    for step in ("written", "sealed", "locked", "committed"):
        with small_disk(tmp_path / step, "3m") as disk:
            world = line_world(disk)

            def at(now: str, step: str = step, disk: Path = disk) -> None:
                if now == step:
                    fill(disk)

            before = checkout(world)
            with pytest.raises(WorldError) as stop:
                run(world, sandbox, at=at)
            assert stop.value.exit_code == 4
            assert checkout(world) == before
            (disk / "filler").unlink()
            result = run(world, sandbox)
            assert (result.status, result.pull_request) == ("proposed", 1)
            assert not result.tag.endswith(".2")
            assert world.left_behind() == []


def test_read_only_git_folder_is_told(world: World, sandbox: Remembering) -> None:
    with read_only(world.work / ".git"):
        before = snapshot(world)
        with pytest.raises(WorldError) as stop:
            run(world, sandbox)
        assert stop.value.exit_code == 4
        assert snapshot(world) == before


def test_a_bare_repository_is_no_place_to_work_in(tmp_path: Path) -> None:
    bare = make_world(tmp_path).remote
    with pytest.raises(InputError, match="bare repository"):
        open_shop(World(bare, bare), open_sandbox())
