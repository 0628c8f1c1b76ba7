"""A run that wrote the same commit before ends without writing and proving again; only then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.git.proposal import TagTaken
from bot.pipeline import Result
from bot.proof.compared_before import ComparedBefore, Record
from bot.proof.edges import Prover
from sandbox_runner.port import Sandbox
from tests.bot.git.worlds import World, sh
from tests.e2e.lines import contract_text, line_world, open_shop, run

Shop = Callable[..., Result]


class NotAsked(Exception):
    """Something was proven although it had been before."""


def forbidden() -> Prover:
    raise NotAsked


@pytest.fixture
def world(tmp_path: Path) -> World:
    return line_world(tmp_path / "world")


@pytest.fixture
def again(world: World, sandbox: Sandbox, tmp_path: Path) -> Shop:
    """A first run, and what runs the contract again; `known` is the record's own settings."""
    folder = tmp_path / "written"

    def run_again(*, settings: bytes = b"", fresh: bool = False, **edges: Any) -> Result:
        compared = ComparedBefore(folder, settings, "auto", fresh)
        return run(world, sandbox, compared=compared, **edges)

    first = run_again()
    assert (first.status, first.remembered) == ("proposed", frozenset())
    (record,) = folder.iterdir()
    assert Record.model_validate_json(record.read_bytes()).commit == first.commit
    return run_again


def test_nothing_is_proven_twice(again: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    result = again()
    assert result.status == "unchanged"
    assert result.remembered == {verdict.name for verdict in result.gates}
    assert all(verdict.passed for verdict in result.gates)
    assert result.pull_request == 1


@pytest.mark.parametrize("asked", [{"fresh": True}, {"settings": b"coder: template\n"}])
def test_it_is_proven_again_where_asked_or_configured_otherwise(
    again: Shop, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    with pytest.raises(NotAsked):
        again(**asked)


@pytest.mark.parametrize(
    "name",
    ["product_digest", "environment_digest"],
)
def test_another_product_or_tool_proves_again(
    again: Shop, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"bot.proof.compared_before.{name}", lambda: "another")
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    with pytest.raises(NotAsked):
        again()


def test_a_changed_contract_is_another_question(
    again: Shop, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.work / "contracts/dip.yaml"
    # The same meaning and so the same name of the run, in other bytes.
    path.write_text(contract_text() + "# a note\n", "utf-8")
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    with pytest.raises(NotAsked):
        again()


def test_a_tag_that_was_moved_is_compared_and_refused(again: Shop, world: World) -> None:
    tag = sh(world.work, "tag", "--list", "ai/*").strip()
    commit = sh(world.work, "rev-parse", f"{tag}^{{commit}}").strip()
    sh(world.work, "tag", "-f", "-m", "moved", tag, f"{commit}^")
    sh(world.work, "push", "-qf", "origin", f"refs/tags/{tag}")
    with pytest.raises(TagTaken):
        again()


def test_the_same_commit_under_other_words_is_compared_and_refused(
    again: Shop, world: World
) -> None:
    tag = sh(world.work, "tag", "--list", "ai/*").strip()
    commit = sh(world.work, "rev-parse", f"{tag}^{{commit}}").strip()
    sh(world.work, "tag", "-f", "-m", "approved by everybody", tag, commit)
    sh(world.work, "push", "-qf", "origin", f"refs/tags/{tag}")
    with pytest.raises(TagTaken):
        again()


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 100_000])
def test_a_spoilt_record_counts_as_none(
    again: Shop, tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = (tmp_path / "written").iterdir()
    record.write_bytes(content)
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    with pytest.raises(NotAsked):
        again()


def test_a_record_of_another_question_counts_as_none(
    again: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = (tmp_path / "written").iterdir()
    written = Record.model_validate_json(record.read_bytes())
    record.write_text(written.model_copy(update={"question": "0" * 64}).model_dump_json())
    monkeypatch.setattr("bot.pipeline.write_and_prove", lambda *asked: forbidden())
    with pytest.raises(NotAsked):
        again()


def test_a_lost_branch_is_brought_back(again: Shop, world: World) -> None:
    branch = "ai/generated/dip/strategy"
    tip = sh(world.work, "rev-parse", branch)
    sh(world.work, "push", "-q", "origin", "--delete", branch)
    assert again().commit == tip.strip()
    assert tip.strip() in sh(world.work, "ls-remote", "origin", branch)


def test_what_was_merged_is_said_to_be(again: Shop, world: World) -> None:
    sh(world.work, "merge", "-q", "ai/generated/dip/strategy")
    sh(world.work, "push", "-q", "origin", "main")
    assert again().note.startswith("the base branch has it already")


def test_the_server_and_the_jobs_have_no_record(world: World, sandbox: Sandbox) -> None:
    assert open_shop(world, sandbox).compared is None
