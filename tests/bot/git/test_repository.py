import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import InputError, SafetyStop
from bot.git.identity import TaskName, parse_trailers
from bot.git.proposal import BranchTaken, State
from bot.git.repository import open_repository
from tests.bot.git.worlds import (
    HOUSE,
    TASK,
    World,
    commit_file,
    draft,
    identify,
    make_world,
    sh,
)

BRANCH = f"refs/heads/{TASK.branch}"
FILE = "Backtest/codes/oversold_dip.py"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_proposal_is_one_commit_on_the_base_with_trailers_and_an_annotated_tag(
    world: World,
) -> None:
    repository = world.open()
    proposed = repository.propose(draft(repository))
    assert proposed.state is State.PROPOSED
    assert proposed.remote == "origin"
    assert sh(world.work, "rev-list", "--count", f"main..{TASK.branch}") == "1"
    assert sh(world.work, "cat-file", "-t", proposed.tag) == "tag"
    trailers = parse_trailers(repository.message_of(proposed.commit))
    assert trailers is not None
    assert trailers == parse_trailers(repository.message_of(proposed.tag))
    assert trailers.correlation_id == identify("one")
    listed = sh(
        world.work, "log", "-1", "--format=%(trailers:key=Correlation-Id,valueonly)", TASK.branch
    )
    assert listed == identify("one")
    assert repository.read(proposed.commit, FILE) == b"# one\n"
    assert repository.read(proposed.commit, "README.md") == b"a trader's repository\n"
    sh(world.work, "fsck", "--strict")


def test_both_sides_have_the_same_branch_and_tag(world: World) -> None:
    repository = world.open()
    proposed = repository.propose(draft(repository))
    refs = world.refs()
    for name in (BRANCH, f"refs/tags/{proposed.tag}"):
        assert refs[f"here:{name}"] == refs[f"there:{name}"]
    assert world.left_behind() == []


def test_checkout_index_and_head_stay_as_they_are(world: World) -> None:
    (world.work / "README.md").write_text("being edited\n")
    (world.work / "staged.txt").write_text("staged\n")
    sh(world.work, "add", "staged.txt")
    index = (world.work / ".git/index").read_bytes()
    before = sh(world.work, "status", "--porcelain=v2", "--branch")
    index = (world.work / ".git/index").read_bytes()
    repository = world.open()
    repository.propose(draft(repository))
    assert (world.work / ".git/index").read_bytes() == index
    assert sh(world.work, "status", "--porcelain=v2", "--branch") == before
    assert (world.work / "README.md").read_text() == "being edited\n"


def test_the_same_proposal_again_changes_nothing_and_writes_no_object(world: World) -> None:
    repository = world.open()
    first = repository.propose(draft(repository))
    refs, objects = world.refs(), sh(world.work, "count-objects", "-v")
    again = world.open()
    second = again.propose(draft(again))
    assert second.state is State.UNCHANGED
    assert (second.commit, second.tag) == (first.commit, first.tag)
    assert again.propose(draft(again), compared=first.commit) == second
    assert world.refs() == refs
    assert sh(world.work, "count-objects", "-v") == objects


def test_the_same_proposal_elsewhere_has_the_same_commit(tmp_path: Path) -> None:
    one, two = make_world(tmp_path / "one"), World(tmp_path / "two", tmp_path / "none")
    sh(tmp_path, "clone", "-q", str(one.remote), str(two.work))
    sh(two.work, "remote", "remove", "origin")
    sh(two.work, "config", "user.name", "Ada Trader")
    sh(two.work, "config", "user.email", "ada@example.com")
    here, there = one.open(), two.open()
    first, second = here.propose(draft(here)), there.propose(draft(there))
    assert first.commit == second.commit
    assert one.refs()[f"here:refs/tags/{first.tag}"] == two.refs()[f"here:refs/tags/{first.tag}"]
    assert second.remote == ""


def test_a_changed_contract_replaces_the_branch_and_keeps_the_older_tag(world: World) -> None:
    repository = world.open()
    first = repository.propose(draft(repository, "one"))
    commit_file(world.work, "notes.md", "more\n")
    sh(world.work, "push", "-q", "origin", "main")
    second = repository.propose(draft(repository, "two"))
    refs = world.refs()
    assert refs[f"there:{BRANCH}"] == refs[f"here:{BRANCH}"] == second.commit
    assert sh(world.work, "rev-parse", f"{second.commit}^") == sh(world.work, "rev-parse", "main")
    assert sh(world.remote, "rev-parse", f"{first.tag}^{{commit}}") == first.commit


def test_a_contract_that_is_changed_back_gets_its_first_commit_again(world: World) -> None:
    repository = world.open()
    first = repository.propose(draft(repository, "one"))
    repository.propose(draft(repository, "two"))
    back = repository.propose(draft(repository, "one"))
    assert back.state is State.PROPOSED
    assert back.commit == first.commit == world.refs()[f"there:{BRANCH}"]


def test_regenerate_gets_the_next_tag_and_the_first_stays(world: World) -> None:
    repository = world.open()
    first = repository.propose(draft(repository))
    tag = repository.next_tag(TASK, identify("one"))
    assert tag == f"{first.tag}.2"
    other = draft(repository, files={FILE: b"# written anew\n"}, tag=tag)
    second = repository.propose(other)
    assert world.refs()[f"there:{BRANCH}"] == second.commit != first.commit
    assert sh(world.remote, "rev-parse", f"{first.tag}^{{commit}}") == first.commit
    assert repository.delivered(TASK, identify("one")) == tag


@pytest.mark.parametrize("deed", ["commit", "amend", "merge", "rebase"])
def test_a_branch_that_somebody_worked_on_is_not_overwritten(world: World, deed: str) -> None:
    repository = world.open()
    first = repository.propose(draft(repository, "one"))
    commit_file(world.work, "notes.md", "more\n")
    sh(world.work, "switch", "-q", TASK.branch)
    if deed == "commit":
        commit_file(world.work, FILE, "# mended by hand\n")
    elif deed == "amend":
        sh(world.work, "commit", "-q", "--amend", "--no-edit", "--author", "Bo <bo@example.com>")
    else:
        sh(world.work, deed, "-q", "main", *(["--no-edit"] if deed == "merge" else []))
    sh(world.work, "push", "-q", "--force", "origin", TASK.branch)
    sh(world.work, "switch", "-q", "main")
    before = world.refs()
    with pytest.raises(BranchTaken, match="did not make") as stop:
        repository.propose(draft(repository, "two"))
    assert stop.value.exit_code == 5
    # The same contract was delivered; what people made of it since is theirs.
    again = repository.propose(draft(repository, "one"))
    assert (again.state, again.commit) == (State.UNCHANGED, first.commit)
    assert "left alone" in again.note
    assert world.refs() == before


def test_commits_that_only_the_remote_has_are_not_overwritten(world: World, tmp_path: Path) -> None:
    repository = world.open()
    repository.propose(draft(repository, "one"))
    other = tmp_path / "other"
    sh(tmp_path, "clone", "-q", "-b", TASK.branch, str(world.remote), str(other))
    sh(other, "config", "user.name", "Bo")
    sh(other, "config", "user.email", "bo@example.com")
    commit_file(other, FILE, "# Bo knows better\n")
    sh(other, "push", "-q")
    before = world.refs()
    with pytest.raises(BranchTaken, match="at the remote"):
        repository.propose(draft(repository, "two"))
    assert world.refs() == before


def test_a_branch_of_that_name_that_was_never_ours_is_left_alone(world: World) -> None:
    sh(world.work, "branch", TASK.branch)
    with pytest.raises(BranchTaken):
        world.open().propose(draft(world.open()))


def test_a_checked_out_branch_does_not_move_under_its_owner(world: World) -> None:
    repository = world.open()
    repository.propose(draft(repository, "one"))
    sh(world.work, "switch", "-q", TASK.branch)
    before = world.refs()
    with pytest.raises(InputError, match="is checked out in") as stop:
        repository.propose(draft(repository, "two"))
    assert "switch -" in stop.value.hint
    assert world.refs() == before
    assert repository.propose(draft(repository, "one")).state is State.UNCHANGED


@pytest.mark.parametrize("way", ["--no-ff", "--squash"])
def test_a_merged_candidate_needs_nothing_more(world: World, way: str) -> None:
    repository = world.open()
    proposed = repository.propose(draft(repository))
    sh(world.work, "merge", "-q", way, TASK.branch)
    if way == "--squash":
        sh(world.work, "commit", "-q", "-m", "take the strategy")
    sh(world.work, "branch", "-D", TASK.branch)
    sh(world.work, "push", "-q", "origin", "main", f":{TASK.branch}")
    before = world.refs()
    assert repository.merged(proposed.commit, repository.base())
    assert repository.propose(draft(repository)).state is State.MERGED
    assert world.refs() == before


def test_a_clone_without_tags_finds_what_the_remote_has(world: World, tmp_path: Path) -> None:
    repository = world.open()
    first = repository.propose(draft(repository))
    shallow = World(tmp_path / "shallow", world.remote)
    address = f"file://{world.remote}"
    sh(tmp_path, "clone", "-q", "--depth=1", "--no-tags", address, str(shallow.work))
    sh(shallow.work, "config", "user.name", "Bo")
    sh(shallow.work, "config", "user.email", "bo@example.com")
    other = shallow.open()
    assert other.propose(draft(other), compared=first.commit).commit == first.commit
    assert other.read(first.commit, FILE) == b"# one\n"
    second = other.propose(draft(other, "two"))
    assert world.refs()[f"there:{BRANCH}"] == second.commit


def test_a_detached_head_stands_on_the_default_branch_of_origin(world: World) -> None:
    commit_file(world.work, "notes.md", "not pushed\n")
    sh(world.work, "switch", "-q", "--detach")
    base = world.open().base()
    assert base.branch == "main"
    assert base.commit == sh(world.work, "rev-parse", "origin/main")


def test_a_detached_head_without_a_remote_stands_on_its_commit(tmp_path: Path) -> None:
    world = make_world(tmp_path, remote=False)
    sh(world.work, "switch", "-q", "--detach")
    base = world.open().base()
    assert (base.commit, base.branch) == (sh(world.work, "rev-parse", "HEAD"), "")


def test_what_was_not_pushed_is_not_published(world: World) -> None:
    commit_file(world.work, "diary.md", "private\n")
    repository = world.open()
    proposed = repository.propose(draft(repository))
    assert repository.read(proposed.commit, "diary.md") is None


def test_a_branch_that_origin_does_not_know_stands_on_the_default_branch(world: World) -> None:
    sh(world.work, "switch", "-q", "-c", "idea")
    assert world.open().base().branch == "main"
    assert world.open().base("main").commit == sh(world.work, "rev-parse", "main")
    with pytest.raises(InputError, match="no branch 'nowhere'"):
        world.open().base("nowhere")


def test_a_linked_worktree_shares_locks_and_refs(world: World, tmp_path: Path) -> None:
    sh(world.work, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = open_repository(tmp_path / "side")
    assert side.folder == world.open().folder
    assert side.propose(draft(side)).commit == world.refs()[f"here:{BRANCH}"]


def test_bytes_are_kept_whatever_the_configuration_says(world: World) -> None:
    sh(world.work, "config", "core.autocrlf", "true")
    sh(world.work, "config", "commit.gpgSign", "true")
    sh(world.work, "config", "tag.gpgSign", "true")
    sh(world.work, "config", "push.followTags", "true")
    sh(world.work, "config", "i18n.commitEncoding", "latin1")
    sh(world.work, "config", "user.signingKey", "nobody")
    commit = ["-c", "commit.gpgSign=false", "commit", "-q", "-m", "attributes"]
    (world.work / ".gitattributes").write_text("* text eol=crlf\n*.py ident\n")
    sh(world.work, "add", ".gitattributes")
    sh(world.work, *commit)
    sh(world.work, "push", "-q", "--no-follow-tags", "origin", "main")
    data = b"# $Id$\r\nline\nlast\r\n\x00\xff"
    repository = world.open()
    proposed = repository.propose(draft(repository, files={FILE: data}))
    assert repository.read(proposed.commit, FILE) == data
    assert b"gpgsig" not in repository.git.ask("cat-file", "commit", proposed.commit).out


def test_no_hook_of_the_user_runs_and_the_remotes_do(world: World, tmp_path: Path) -> None:
    for name in ("pre-push", "reference-transaction", "pre-commit", "commit-msg"):
        hook = world.work / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/{name}\nexit 1\n")
        hook.chmod(0o755)
    theirs = world.remote / "hooks/post-receive"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text(f"#!/bin/sh\ntouch {tmp_path}/theirs\n")
    theirs.chmod(0o755)
    repository = world.open()
    repository.propose(draft(repository))
    assert {path.name for path in tmp_path.iterdir()} == {"work", "remote.git", "theirs"}


def test_replaced_folders_lose_their_older_files(world: World) -> None:
    commit_file(world.work, f"artifacts/{TASK}/old/report.html", "old\n")
    commit_file(world.work, "artifacts/other/kept.txt", "kept\n")
    sh(world.work, "push", "-q", "origin", "main")
    repository = world.open()
    commit = repository.propose(draft(repository)).commit
    files = sh(world.work, "ls-tree", "-r", "--name-only", commit, "artifacts/").splitlines()
    assert files == ["artifacts/other/kept.txt", f"artifacts/{TASK}/summary.json"]


@pytest.mark.parametrize(
    "path",
    [
        "../out.py",
        "/etc/passwd",
        ".git/config",
        "a/.GIT/hooks/x",
        "a//b",
        "a/./b",
        "a\nb",
        "a\\b",
        "",
    ],
)
def test_a_path_that_is_not_plain_is_refused(world: World, path: str) -> None:
    before = world.refs()
    repository = world.open()
    with pytest.raises(InputError):
        repository.propose(draft(repository, files={path: b"x"}))
    assert world.refs() == before


def test_a_file_does_not_take_a_folders_place_nor_a_folder_a_links(world: World) -> None:
    (world.work / "link").symlink_to("/etc")
    commit_file(world.work, "folder/file.txt", "x\n")
    sh(world.work, "add", "link")
    sh(world.work, "commit", "-q", "-m", "link")
    sh(world.work, "push", "-q", "origin", "main")
    repository = world.open()
    with pytest.raises(InputError, match="folder is a folder in the base commit"):
        repository.propose(draft(repository, files={"folder": b"x"}))
    with pytest.raises(InputError, match="link is no folder"):
        repository.propose(draft(repository, files={"link/passwd": b"x"}))


def test_a_branch_called_ai_is_named_as_what_is_in_the_way(tmp_path: Path) -> None:
    world = make_world(tmp_path, remote=False)
    sh(world.work, "branch", "ai")
    with pytest.raises(InputError, match="'ai' is taken"):
        world.open().propose(draft(world.open()))
    assert set(world.refs()) == {"here:refs/heads/ai", "here:refs/heads/main"}


def test_a_different_tag_at_the_remote_stops_the_run(world: World) -> None:
    repository = world.open()
    proposed = repository.propose(draft(repository))
    sh(world.remote, "tag", "-d", proposed.tag)
    sh(
        world.remote,
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "tag",
        "-a",
        "-m",
        "x",
        proposed.tag,
        "main",
    )
    with pytest.raises(SafetyStop, match="is not the one that was made here"):
        repository.propose(draft(repository))


def test_a_branch_that_vanished_comes_back(world: World) -> None:
    repository = world.open()
    proposed = repository.propose(draft(repository))
    sh(world.work, "branch", "-D", TASK.branch)
    sh(world.remote, "branch", "-D", TASK.branch)
    assert repository.propose(draft(repository)).state is State.PROPOSED
    assert world.refs()[f"there:{BRANCH}"] == proposed.commit


def test_the_repository_id_is_owner_and_name_or_the_first_commit(world: World) -> None:
    first = sh(world.work, "rev-list", "--max-parents=0", "HEAD")
    commit_file(world.work, "x.md", "x\n")
    assert world.open().repository_id == first
    sh(world.work, "remote", "set-url", "origin", "git@github.com:ada/bots.git")
    assert world.open().repository_id == "ada/bots"


def test_tasks_are_listed_from_their_refs(world: World) -> None:
    repository = world.open()
    other = TaskName("trend", "entry")
    for task in (TASK, other):
        repository.propose(draft(repository, task=task))
    assert repository.tasks() == (TASK, other)


def test_not_a_repository_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not inside a Git repository") as stop:
        open_repository(tmp_path)
    assert "git init" in stop.value.hint
    with pytest.raises(InputError, match="is not a folder"):
        open_repository(tmp_path / "nowhere")


def test_a_bare_repository_is_to_be_cloned(world: World) -> None:
    with pytest.raises(InputError, match="bare repository"):
        open_repository(world.remote)
    with pytest.raises(InputError, match="inside Git's own folder"):
        open_repository(world.work / ".git")


def test_a_repository_without_commits_says_what_is_missing(tmp_path: Path) -> None:
    sh(tmp_path, "init", "-q", "-b", "main")
    with pytest.raises(InputError, match="no commit yet"):
        open_repository(tmp_path)
    assert open_repository(tmp_path, to_write=False).tasks() == ()


def test_an_unborn_branch_is_told_from_an_empty_repository(tmp_path: Path) -> None:
    world = make_world(tmp_path, remote=False)
    sh(world.work, "switch", "-q", "--orphan", "empty")
    with pytest.raises(InputError, match="'empty' has no commit"):
        world.open()


def test_a_missing_identity_gives_the_commands(world: World) -> None:
    sh(world.work, "config", "--unset", "user.email")
    with pytest.raises(InputError, match="who you are") as stop:
        world.open()
    assert "git config user.email" in stop.value.hint


def test_a_repository_of_another_user_gives_the_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(InputError, match="does not trust") as stop:
        world.open()
    assert f"--add safe.directory {world.work}" in stop.value.hint


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    sh(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", "work")
    world = World(tmp_path / "work", tmp_path / "none")
    sh(world.work, "config", "user.name", "Ada")
    sh(world.work, "config", "user.email", "ada@example.com")
    commit_file(world.work, "a.md", "a\n")
    repository = world.open()
    assert len(repository.propose(draft(repository)).commit) == 64


def test_git_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, bot.git.repository; sys.exit('git' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=HOUSE, check=False).returncode == 0
