"""`doctor` shows what was tried on the sandbox, and why an engine is left aside."""

from pathlib import Path

import pytest

from bot.health.machine import examine_machine
from tests.bot.git.worlds import commit_file, make_world, sh

TRIED = ["identity", "network", "host files", "environment", "pids", "memory", "disk", "time"]
# Good to have: without Landlock the other layers hold.
TRIED += ["runs"]


def test_every_claim_of_the_sandbox_is_tried_and_shown(tmp_path: Path) -> None:
    findings = examine_machine(tmp_path, "namespace")
    rows = [finding for finding in findings if finding.name.startswith("isolation: ")]
    assert [row.name.removeprefix("isolation: ") for row in rows] == TRIED
    assert all(row.well for row in rows)
    assert [row.name for row in rows if not row.needed] == ["isolation: runs"]


def test_an_engine_that_does_not_answer_is_told_and_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dead.sock").touch()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")
    found = {finding.name: finding for finding in examine_machine(tmp_path)}
    assert found["sandbox"].detail.startswith("namespace (")
    assert (found["docker"].well, found["docker"].needed) == (False, False)
    assert "does not answer" in found["docker"].detail


@pytest.mark.parametrize(
    ("written", "well"), [("label: mine\n", True), ("coder: agent\n", False), (None, True)]
)
def test_settings_that_a_run_would_refuse_are_told(
    tmp_path: Path, written: str | None, well: bool
) -> None:
    world = make_world(tmp_path, remote=False)
    if written is not None:
        commit_file(world.work, "stratwright.yml", written)
    found = {finding.name: finding for finding in examine_machine(world.work)}
    assert (found["settings"].well, found["settings"].needed) == (well, True)


def test_doctor_states_what_models_may_cost_and_the_worst_overrun(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    commit_file(world.work, "stratwright.yml", "coder: {max_cost_per_day_usd: 4}\n")
    sh(world.work, "push", "-q", "origin", "main")
    (found,) = [each for each in examine_machine(world.work) if each.name == "model costs"]
    assert found.detail.startswith("2 US dollars for a contract, 4 a day; on GitHub each run")
    commit_file(world.work, "stratwright.yml", "coder: {enabled: false}\n")
    sh(world.work, "push", "-q", "origin", "main")
    assert not [each for each in examine_machine(world.work) if each.name == "model costs"]
