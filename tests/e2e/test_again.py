"""The same contract again, a changed one, and many at once."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from bot.approval.chain import BRANCH, Approval, append, read_chain
from bot.cli import main
from bot.commands.run import in_order
from bot.contract.language import program
from bot.errors import InputError
from bot.forge.port import open_forge
from bot.gates.table import NAMES
from bot.git.command import GitCommand
from bot.git.proposal import BranchTaken
from bot.git.repository import open_repository
from bot.proof.version_change import compare_commits
from bot.report.hidden_block import read_hidden_block
from bot.report.inert import BREAK
from bot.report.wording import change_lines
from tests.bot.approval.test_checks import NOW, RECORD
from tests.bot.git.worlds import World, commit_file, sh
from tests.e2e.lines import (
    contract_text,
    delivered,
    line_world,
    open_shop,
    run,
    snapshot,
    start,
    stratwright,
)
from tests.remembered import Remembering

KEYS = {
    *("status", "correlation_id", "branch", "tag", "commit"),
    *("pull_request", "gates", "artifacts", "note", "remembered", "figures"),
}


def rewrite(world: World, **changes: int) -> None:
    (world.work / "contracts/dip.yaml").write_text(contract_text(**changes), "utf-8")


def said(world: World) -> str:
    """The text of the pull request."""
    return open_forge("local", open_repository(world.work)).get(1).draft.body


def head_of(references: dict[str, str]) -> str:
    return references["there:refs/heads/ai/generated/dip/strategy"]


def close(world: World) -> None:
    repository = open_repository(world.work)
    open_forge("local", repository).close(1, "not convinced")


def test_the_same_contract_again_is_unchanged_and_makes_no_object(
    proposed: World, sandbox: Remembering
) -> None:
    before = snapshot(proposed)
    again = run(proposed, sandbox)
    assert (again.status, again.exit_code, again.pull_request) == ("unchanged", 0, 1)
    assert [verdict.name for verdict in again.gates] == list(NAMES)
    assert all(verdict.passed for verdict in again.gates)
    assert snapshot(proposed) == before


def test_a_changed_contract_updates_its_own_branch_and_pull_request(
    proposed: World, sandbox: Remembering
) -> None:
    first = delivered(proposed)
    rewrite(proposed, oversold=31)
    second = run(proposed, sandbox)
    assert (second.status, second.pull_request) == ("proposed", 1)
    after = delivered(proposed)
    assert after["there:refs/heads/ai/generated/dip/strategy"] == second.commit
    tags = {name for name in after if "/tags/" in name}
    assert {name: after[name] for name in first if "/tags/" in name}.items() <= first.items()
    assert len(tags) == 4
    # The text compares with what the pull request showed before, and stays so.
    body = said(proposed)
    assert f"Against what was shown before ({head_of(first)[:6]}" in body.replace(BREAK, "")
    assert run(proposed, sandbox).status == "unchanged"
    assert said(proposed) == body
    commits = head_of(first), second.commit
    repository = open_repository(proposed.work)
    found = compare_commits(repository, "artifacts/dip/strategy", *commits)
    assert found is not None
    told = change_lines(found.trades)[0].partition(", on the same candles: ")[2]
    assert told in html.unescape(body)
    assert found.figures[0][0] == "Return"
    assert compare_commits(repository, "artifacts/dip/none", *commits) is None


def test_a_pull_request_shows_its_approval_and_how_it_trades_otherwise_than_live(
    proposed: World, sandbox: Remembering, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(proposed, sandbox)

    def shown() -> str:
        assert main(["pr", "show", "1", "--repository", str(proposed.work)]) == 0
        return capsys.readouterr().out.partition("## Approval")[2]

    assert f"Not approved yet: `stratwright approve {first.tag}`" in shown()
    assert "Last approved for live: nothing of this task yet." in shown()
    named = {"workflow": "dip", "task": "strategy", "tag": first.tag, "commit": first.commit}
    record = RECORD.model_copy(update=named)
    entry = Approval(sequence=1, previous="", at=NOW, record=record, signature="")
    branch = open_repository(proposed.work).side_branch(BRANCH)
    append(branch, read_chain(branch, None), entry)
    assert f"Approved for live on trader-1 by bob@example.com: `{record.token}`" in shown()
    assert f"Last approved for live: `{first.tag}` ({record.token}), these very bytes." in shown()
    rewrite(proposed, oversold=31)
    run(proposed, sandbox)
    assert "Not approved yet: " in shown()
    said_live = shown().partition("Last approved for live: ")[2].replace(BREAK, "")
    assert said_live.startswith(f"`{first.tag}` ({record.token}). On the candles of the new one: ")
    assert "on the same candles: " in said_live
    # The same words that the pull request has for what it showed before.
    assert html.unescape(said_live).partition("candles: ")[2].partition("candles: ")[2].split("\n")[
        0
    ] in html.unescape(said(proposed))


def test_a_contract_changed_back_gets_its_first_candidate_back(
    proposed: World, sandbox: Remembering
) -> None:
    first = run(proposed, sandbox)
    rewrite(proposed, oversold=31)
    run(proposed, sandbox)
    rewrite(proposed)
    back = run(proposed, sandbox)
    assert (back.tag, back.commit, back.pull_request) == (first.tag, first.commit, 1)
    assert sh(proposed.remote, "rev-parse", back.branch) == first.commit
    assert run(proposed, sandbox).status == "unchanged"


def test_another_contract_does_not_take_over_an_open_pull_request(
    proposed: World, sandbox: Remembering
) -> None:
    (proposed.work / "contracts/other.yaml").write_text(contract_text(oversold=31), "utf-8")
    before = snapshot(proposed)
    with pytest.raises(InputError, match="#1 is about another contract of dip/strategy") as caught:
        run(proposed, sandbox, "contracts/other.yaml")
    assert "contracts/dip.yaml, not contracts/other.yaml" in caught.value.message
    assert "stratwright pr close 1" in caught.value.hint
    assert snapshot(proposed) == before


def test_a_contract_that_was_renamed_keeps_its_pull_request(
    proposed: World, sandbox: Remembering
) -> None:
    (proposed.work / "contracts/dip.yaml").rename(proposed.work / "contracts/other.yaml")
    moved = run(proposed, sandbox, "contracts/other.yaml")
    assert (moved.status, moved.pull_request) == ("proposed", 1)


def test_a_human_commit_on_the_branch_is_left_alone_with_a_message(
    proposed: World, sandbox: Remembering
) -> None:
    branch = "ai/generated/dip/strategy"
    sh(proposed.work, "switch", "-q", branch)
    human = commit_file(proposed.work, "notes.md", "mine\n")
    sh(proposed.work, "switch", "-q", "main")
    before = snapshot(proposed)["refs"]
    assert "left alone" in run(proposed, sandbox).note
    assert snapshot(proposed)["refs"] == before
    rewrite(proposed, oversold=31)
    with pytest.raises(BranchTaken, match="left alone") as stop:
        run(proposed, sandbox)
    assert stop.value.exit_code == 5
    assert sh(proposed.work, "rev-parse", branch) == human
    assert snapshot(proposed)["refs"] == before


def test_a_pull_request_closed_unmerged_stays_closed(proposed: World, sandbox: Remembering) -> None:
    close(proposed)
    before = snapshot(proposed)
    again = run(proposed, sandbox)
    assert (again.status, again.exit_code) == ("unchanged", 0)
    assert "closed unmerged" in again.note
    assert snapshot(proposed) == before


def test_regenerate_reopens_and_appends_a_number(proposed: World, sandbox: Remembering) -> None:
    first = run(proposed, sandbox)
    close(proposed)
    second = run(proposed, sandbox, regenerate=True)
    assert (second.status, second.pull_request) == ("proposed", 1)
    assert second.tag == f"{first.tag}.2"
    assert sh(proposed.remote, "rev-parse", f"{first.tag}^{{commit}}") == first.commit
    # Reopened first and written then: a run that dies between both must end with the same text.
    block = read_hidden_block(open_shop(proposed, sandbox).forge.get(1).draft.body)
    assert block is not None
    assert block["previous"] == first.tag
    again = run(proposed, sandbox)
    assert (again.status, again.tag) == ("unchanged", second.tag)


def test_there_is_nothing_to_regenerate_where_an_open_pull_request_shows_the_same(
    proposed: World, sandbox: Remembering
) -> None:
    first = run(proposed, sandbox)
    before = snapshot(proposed)["refs"]
    again = run(proposed, sandbox, regenerate=True)
    assert (again.status, again.exit_code, again.tag) == ("unchanged", 0, first.tag)
    assert "nothing to regenerate" in again.note
    assert snapshot(proposed)["refs"] == before
    commit_file(proposed.work, "notes.md", "mine\n")
    sh(proposed.work, "push", "-q", "origin", "main")
    moved = run(proposed, sandbox, regenerate=True)
    assert (moved.status, moved.tag) == ("proposed", f"{first.tag}.2")


def test_merged_into_another_branch_is_not_merged(proposed: World, sandbox: Remembering) -> None:
    """Whoever may push can merge the branch somewhere and call it done."""
    first = run(proposed, sandbox)
    path = proposed.work / ".git/stratwright/forge/pulls/1.json"
    record = json.loads(path.read_text("utf-8"))
    record["state"], record["draft"]["base"] = "merged", "elsewhere"
    path.write_text(json.dumps(record), "utf-8")
    again = run(proposed, sandbox)
    assert (again.status, again.tag) == ("proposed", first.tag)
    assert "has it already" not in again.note
    assert (again.pull_request or 0) > 1


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_merged_contract_is_nothing_to_do(
    proposed: World, sandbox: Remembering, how: str
) -> None:
    branch = "ai/generated/dip/strategy"
    if how == "merge":
        sh(proposed.work, "merge", "-q", "--no-ff", "-m", "take it", branch)
    else:
        sh(proposed.work, "merge", "-q", "--squash", branch)
        sh(proposed.work, "commit", "-q", "-m", "take it")
    sh(proposed.work, "push", "-q", "origin", "main")
    before = snapshot(proposed)
    again = run(proposed, sandbox)
    assert (again.status, again.exit_code) == ("unchanged", 0)
    assert "has it already" in again.note
    assert snapshot(proposed) == before


def test_the_same_contract_three_times_at_once_is_one(world: World, memory: Path) -> None:
    children = [start(world, memory) for _ in range(3)]
    answers = [child.end() for child in children]
    assert all(answers)
    states = sorted(answer["status"] for answer in answers if answer)
    assert states == ["proposed", *["unchanged"] * 2]
    assert len({answer["commit"] for answer in answers if answer}) == 1
    assert {answer["pull_request"] for answer in answers if answer} == {1}
    assert len(delivered(world)) == 5
    assert world.left_behind() == []


def test_three_contracts_at_once_are_three_of_each(tmp_path: Path, memory: Path) -> None:
    world = line_world(tmp_path)
    names = [f"flow-{number}" for number in range(3)]
    for name in names:
        (world.work / f"contracts/{name}.yaml").write_text(contract_text(name), "utf-8")
    children = [start(world, memory, f"contracts/{name}.yaml") for name in names]
    answers = [child.end() for child in children]
    assert [answer and answer["status"] for answer in answers] == ["proposed"] * 3
    assert {answer["pull_request"] for answer in answers if answer} == {1, 2, 3}
    for side in (world.work, world.remote):
        assert len(sh(side, "branch", "--list", "ai/*").split("\n")) == 3
        assert len(sh(side, "tag", "--list", "ai/*").split("\n")) == 3
    assert world.left_behind() == []
    sh(world.work, "fsck", "--strict")
    sh(world.remote, "fsck", "--strict")


def test_contracts_run_after_those_they_wait_for(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(contract_text(task="late", more="after: [early]"), "utf-8")
    second.write_text(contract_text(task="early"), "utf-8")
    assert in_order([first, second]) == [second, first]
    assert in_order([first]) == [first]


def test_contracts_that_wait_for_each_other_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(contract_text(task="one", more="after: [two]"), "utf-8")
    second.write_text(contract_text(task="two", more="after: [one]"), "utf-8")
    with pytest.raises(InputError, match="wait for each other"):
        in_order([first, second])


def test_two_contracts_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(contract_text(), "utf-8")
    with pytest.raises(InputError, match="are both dip/strategy"):
        in_order([tmp_path / "a.yaml", tmp_path / "b.yaml"])


def test_several_contracts_in_one_call_give_a_line_each_and_the_worst_code(world: World) -> None:
    """The command itself, with the sandbox as it is."""
    (world.work / "contracts/broken.yaml").write_text("version: 7\n", "utf-8")
    names = ["contracts/broken.yaml", "contracts/gone.yaml", "contracts/dip.yaml"]
    done = stratwright(world.work, "run", "--json", "--fresh", *names)
    broken, gone, good = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert broken["problems"]
    assert "no file" in gone["error"]
    assert set(good) == KEYS
    assert good["status"] == "proposed"
    assert "dip/strategy: pytest done" in done.stderr
    again = stratwright(world.work, "run", "--json", "--quiet", "contracts/dip.yaml")
    assert (again.returncode, again.stderr) == (0, "")
    assert json.loads(again.stdout)["status"] == "unchanged"


def test_a_run_reads_its_rules_once_and_starts_few_processes_of_git(
    tmp_path: Path, sandbox: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process costs milliseconds at home and more in a container: 69 were started once."""
    started: list[str] = []
    read: list[object] = []
    begin, reader = GitCommand.start, program.LanguageReader

    def counted(self: GitCommand, *arguments: str, **more: Any) -> Any:
        started.append(" ".join(arguments))
        return begin(self, *arguments, **more)

    def noted(raw: Any) -> Any:
        read.append(raw)
        return reader(raw)

    monkeypatch.setattr(GitCommand, "start", counted)
    monkeypatch.setattr(program, "LanguageReader", noted)
    world = line_world(tmp_path)
    for status in ("proposed", "unchanged"):
        started.clear()
        read.clear()
        program._KNOWN.clear()
        assert run(world, sandbox).status == status
        assert len(started) <= 25, started
        assert len(read) == 1
