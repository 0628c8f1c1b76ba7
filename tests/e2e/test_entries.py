"""A run proposes what was learned as a file of its own, where settings ask for it."""

from dataclasses import dataclass, field

import pytest

from bot.cli import main
from bot.coder.template.template_coder import TemplateCoder
from bot.knowledge.growth import consolidate
from tests.bot.git.worlds import World, commit_file, sh
from tests.e2e.lines import ChangedCoder, checked, contract_text, events, line_world, run
from tests.remembered import Remembering

SETTINGS = 'version: "1.0"\nbrain: {entries: true}\n'


@pytest.fixture
def world(tmp_path) -> World:
    world = line_world(tmp_path)
    commit_file(world.work, "stratwright.yml", SETTINGS)
    sh(world.work, "push", "-q", "origin", "main")
    return world


def files_of(world: World, tag: str) -> list[str]:
    return sh(world.work, "ls-tree", "-r", "--name-only", tag, "brain").split()


def read(world: World, tag: str, path: str) -> str:
    return sh(world.work, "show", f"{tag}:{path}")


def test_a_proposal_brings_one_entry_named_by_its_run(world: World, sandbox: Remembering) -> None:
    result = run(world, sandbox)
    assert result.status == "proposed"
    entry = f"brain/logs/entries/{result.correlation_id}.md"
    assert files_of(world, result.tag) == [entry]
    row = read(world, result.tag, entry)
    assert row.startswith(f"| {result.correlation_id} | `contracts/dip.yaml` | proposed: ")
    assert row.endswith("trades | none: first try |")
    (begun,) = (event for event in events(world) if event.name == "TASK_DISPATCHED")
    assert begun.data["plan"][-1] == "brain"
    assert checked(world.work, result.tag, sandbox).exit_code == 0
    assert run(world, sandbox).status == "unchanged"


def test_an_entry_that_was_changed_is_found(world: World, sandbox: Remembering) -> None:
    result = run(world, sandbox)
    (entry,) = files_of(world, result.tag)
    sh(world.work, "checkout", "-q", result.tag)
    (world.work / entry).write_text("| all is well | trust me | approve | now |\n")
    sh(world.work, "commit", "-q", "-a", "--amend", "--no-edit")
    sh(world.work, "tag", "-f", "-a", "-m", "x", result.tag)
    assert checked(world.work, result.tag, sandbox).exit_code == 1


def test_settings_that_change_later_leave_what_was_proposed(tmp_path, sandbox: Remembering) -> None:
    world = line_world(tmp_path)
    result = run(world, sandbox)
    assert files_of(world, result.tag) == []
    commit_file(world.work, "stratwright.yml", SETTINGS)
    sh(world.work, "push", "-q", "origin", "main")
    assert run(world, sandbox).status == "unchanged"
    assert checked(world.work, result.tag, sandbox).exit_code == 0


def test_two_open_pull_requests_never_meet_in_one_file(world: World, sandbox: Remembering) -> None:
    text = contract_text(task="other", oversold=35)
    commit_file(world.work, "contracts/other.yaml", text.replace("QuickDip", "OtherDip"))
    sh(world.work, "push", "-q", "origin", "main")
    tags = [
        run(world, sandbox, path).tag for path in ("contracts/dip.yaml", "contracts/other.yaml")
    ]
    for tag in tags:
        sh(world.work, "merge", "-q", "--no-edit", tag)
    assert consolidate(world.work / "brain") == [
        "brain/logs/LOG-001-generation.md: 2 of 2 entries were new"
    ]
    page = (world.work / "brain/logs/LOG-001-generation.md").read_text("utf-8")
    assert page.startswith("---\nid: LOG-001\n")
    assert page.count("| corr_") == 2
    assert main(["brain", "search", "LOG-001", "--repository", str(world.work)]) == 0


def test_a_failure_that_was_mended_is_an_entry_of_its_own(
    world: World, sandbox: Remembering
) -> None:
    @dataclass
    class Coder:
        name: str = "template"
        rounds: int = 3
        seen: list[object] = field(default_factory=list)

        def write(self, contract, contract_path, failures=()):
            candidate = TemplateCoder().write(contract, contract_path)
            if failures:
                self.seen += failures
                return candidate
            return ChangedCoder(
                lambda files: {path: f"import os\n{text}" for path, text in files.items()}
            ).write(contract, contract_path)

    result = run(world, sandbox, coder=Coder())
    assert result.status == "proposed"
    log, learned = (f"brain/{place}/entries/{result.correlation_id}.md"
                    for place in ("logs", "learnings"))  # fmt: skip
    assert files_of(world, result.tag) == [learned, log]
    assert "refused before by imports" in read(world, result.tag, log)
    row = read(world, result.tag, learned)
    assert row.startswith("| imports refused ")
    assert row.endswith(f"| round 2 of {result.correlation_id} passed |")
    assert row.count("|") == 4
