"""Workflows and the action keep the rules that GitHub does not enforce."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def steps_of(document):
    if "runs" in document:
        return document["runs"]["steps"]
    return [step for job in document["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    used = [step["uses"] for step in steps_of(yaml.safe_load(path.read_text())) if "uses" in step]
    assert used
    assert all(PINNED.fullmatch(action) for action in used)


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_no_expression_is_pasted_into_a_script(path):
    scripts = [step["run"] for step in steps_of(yaml.safe_load(path.read_text())) if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_rights_and_each_job_a_time_limit(path):
    document = yaml.safe_load(path.read_text())
    assert document["permissions"] == {}
    assert all("timeout-minutes" in job for job in document["jobs"].values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_checkout_leaves_no_token_behind(path):
    checkouts = [
        step
        for step in steps_of(yaml.safe_load(path.read_text()))
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_is_triggered_with_the_rights_of_the_target():
    assert not any("pull_request_target" in path.read_text() for path in WORKFLOWS)
