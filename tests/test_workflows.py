"""Workflows and the action keep the rules that GitHub does not enforce."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.settings import Settings
from bot.starter import starter_files, workflow_text

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"\$/|[\w.-]+/[\w./-]+@[0-9a-f]{40}")


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
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_is_triggered_with_the_rights_of_the_target():
    assert not any("pull_request_target" in path.read_text() for path in WORKFLOWS)


LINE = yaml.safe_load(workflow_text(Settings(), "$/"))
JOBS = LINE["jobs"]
# YAML reads the key `on` as true.
EVENTS = LINE[True]


def test_our_own_workflow_is_the_one_that_init_writes():
    own = (ROOT / ".github/workflows/stratwright.yml").read_text()
    assert own == workflow_text(Settings(), "$/")


def test_the_events_are_the_four_with_their_kinds_and_paths():
    assert set(EVENTS) == {"push", "issues", "issue_comment", "workflow_dispatch"}
    assert EVENTS["push"] == {"paths": ["contracts/**"]}
    assert EVENTS["issues"] == {"types": ["opened", "labeled"]}
    assert EVENTS["issue_comment"] == {"types": ["created"]}


def test_only_the_default_branch_and_our_own_words_start_the_plan():
    condition = JOBS["plan"]["if"]
    assert "github.ref_name == github.event.repository.default_branch" in condition
    assert "startsWith(github.event.comment.body, '/stratwright')" in condition
    assert "contains(github.event.issue.labels.*.name, 'stratwright')" in condition


def test_each_job_has_its_least_rights_and_the_one_that_runs_code_has_none():
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "plan": {"contents": "read", "issues": "read", "pull-requests": "read"},
        "announce": {"contents": "read", "issues": "write", "pull-requests": "write"},
        "generate": {"contents": "read", "issues": "read", "pull-requests": "read"},
        "gates": {},
        "write": {
            "contents": "write",
            "pull-requests": "write",
            "issues": "write",
            "checks": "write",
            "statuses": "write",
        },
    }


def test_the_job_that_runs_code_sees_no_token_no_secret_and_no_repository():
    steps = JOBS["gates"]["steps"]
    text = yaml.safe_dump(steps)
    assert "token" not in text
    assert "secrets" not in text
    assert not any("checkout" in step.get("uses", "") for step in steps)


def test_only_the_job_that_writes_waits_for_its_own_kind_and_none_is_cancelled():
    groups = {name: job.get("concurrency") for name, job in JOBS.items()}
    assert groups.pop("write") == {
        "group": "stratwright-write-${{ matrix.item.name }}",
        "cancel-in-progress": False,
    }
    assert set(groups.values()) == {None}
    assert "concurrency" not in LINE


def test_the_job_that_writes_runs_whatever_became_of_the_others_but_the_plan():
    assert JOBS["write"]["needs"] == ["plan", "announce", "generate", "gates"]
    assert "!cancelled()" in JOBS["write"]["if"]
    assert "needs.plan.result == 'success'" in JOBS["write"]["if"]
    assert all(
        job["strategy"]["fail-fast"] is False for name, job in JOBS.items() if name != "plan"
    )


def test_nothing_that_strangers_write_stands_in_an_expression_outside_a_condition():
    texts = [*(path.read_text() for path in WORKFLOWS), (ROOT / "action.yml").read_text()]
    hostile = re.compile(
        r"\$\{\{[^}]*github\.(event\.(issue|comment|head|inputs)|head_ref)[^}]*\}\}"
    )
    assert not any(hostile.search(text) for text in texts)


def test_the_action_has_no_logic_and_passes_inputs_by_environment():
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert len(steps) == 3
    assert all("if" not in step for step in steps)
    assert all("\n" not in step.get("run", "") for step in steps)


def test_zizmor_finds_nothing(tmp_path):
    action = f"stratwright/stratwright@{'a' * 40} # v0.1.0"
    for path, text in starter_files(Settings(), action).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    program = shutil.which("zizmor", path=str(Path(sys.executable).parent)) or "zizmor"
    found = subprocess.run(
        [program, "--offline", "--no-progress", str(ROOT / ".github"),
         str(ROOT / "action.yml"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout
    assert "No findings to report" in found.stdout
