"""Workflows and the action keep the rules that GitHub does not enforce."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.settings import DEPLOY_WORKFLOW, Settings
from bot.workflow.items import LEGS
from bot.workflow.starter import OWN, deploy_text, starter_files, workflow_text

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"\./|[\w.-]+/[\w./-]+@[0-9a-f]{40}")


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


USERS = f"stratwright/stratwright@{'a' * 40} # v0.1.0"
LINE = yaml.safe_load(workflow_text(Settings(), OWN))
JOBS = LINE["jobs"]
# YAML reads the key `on` as true.
EVENTS = LINE[True]


def test_our_own_workflow_is_the_one_that_init_writes():
    own = (ROOT / ".github/workflows/stratwright.yml").read_text()
    assert own == workflow_text(Settings(), OWN)


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


@pytest.mark.parametrize("action", [OWN, USERS])
def test_the_job_that_runs_code_sees_no_token_no_secret_and_no_repository(action):
    gates = yaml.safe_load(workflow_text(Settings(), action))["jobs"]["gates"]
    text = yaml.safe_dump(gates["steps"])
    assert gates["permissions"] == {}
    assert "token" not in text
    assert "secrets" not in text
    checkouts = [step for step in gates["steps"] if "checkout" in step.get("uses", "")]
    # Only stratwright's own workflow checks out: its action, which everybody may read.
    assert len(checkouts) == (1 if action == OWN else 0)


@pytest.mark.parametrize("action", [OWN, USERS])
def test_an_action_from_a_checkout_is_used_after_the_checkout_and_another_is_pinned(action):
    for job in yaml.safe_load(workflow_text(Settings(), action))["jobs"].values():
        used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
        ours = OWN if action == OWN else "stratwright/stratwright"
        assert ours in used
        assert action != OWN or used.index("actions/checkout") < used.index(OWN)
        assert not any(name.startswith("$/") for name in used)


def test_jobs_hand_over_by_exact_names_and_tell_the_digests_as_outputs():
    for name in ("generate", "gates"):
        assert tuple(JOBS[name]["outputs"]) == LEGS
        for leg, value in JOBS[name]["outputs"].items():
            own = f"matrix.item.leg == '{leg}' && steps.stage.outputs.handed || ''"
            assert value == f"${{{{ {own} }}}}"
    names = {
        job: [
            step["with"]["name"] for step in steps["steps"] if "-artifact@" in step.get("uses", "")
        ]
        for job, steps in JOBS.items()
    }
    case, answers = (f"stratwright-{kind}-${{{{ matrix.item.leg }}}}" for kind in ("case", "gates"))
    assert names == {
        "plan": [], "announce": [], "generate": [case], "gates": [case, answers],
        "write": [case, answers],
    }  # fmt: skip
    text = workflow_text(Settings(), OWN)
    assert not re.search(r"pattern:|merge-multiple:", text)


def test_what_is_handed_over_arrives_with_the_digest_that_its_job_told():
    given = {job: JOBS[job]["steps"][-1 - (job == "gates")]["with"] for job in ("gates", "write")}
    for job, values in given.items():
        assert values["cases"] == "${{ fromJSON(toJSON(needs.generate.outputs))[matrix.item.leg] }}"
        assert values["stage"] == job
    wanted = "${{ fromJSON(toJSON(needs.gates.outputs))[matrix.item.leg] }}"
    assert given["write"]["answers"] == wanted
    assert "answers" not in given["gates"]


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


DEPLOY = yaml.safe_load(deploy_text(USERS))
DEPLOY_JOBS = DEPLOY["jobs"]


def test_only_three_events_start_the_deploy_workflow_and_only_from_the_default_branch():
    assert DEPLOY["permissions"] == {}
    assert set(DEPLOY[True]) == {"push", "issue_comment", "workflow_dispatch"}
    condition = DEPLOY_JOBS["gate"]["if"]
    assert "github.ref_name == github.event.repository.default_branch" in condition
    assert "startsWith(github.event.comment.body, '/stratwright')" in condition
    for job in DEPLOY_JOBS.values():
        checkout = job["steps"][0]
        assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
        assert checkout["with"]["persist-credentials"] is False
        assert "timeout-minutes" in job


def test_jobs_that_read_cannot_write_and_the_one_that_runs_code_gets_no_token():
    for name in ("gate", "verify"):
        assert set(DEPLOY_JOBS[name]["permissions"].values()) == {"read"}
    steps = yaml.safe_dump(DEPLOY_JOBS["verify"]["steps"])
    assert DEPLOY_JOBS["verify"]["permissions"] == {"contents": "read"}
    assert "token" not in steps
    assert "secrets" not in steps


def test_the_key_is_met_by_one_job_alone_which_runs_in_the_environment_that_the_gate_named():
    """act ignores environments, so this is looked at here."""
    with_key = [name for name, job in DEPLOY_JOBS.items() if "secrets." in yaml.safe_dump(job)]
    in_place = [name for name, job in DEPLOY_JOBS.items() if "environment" in job]
    assert with_key == in_place == ["deploy"]
    deploy = DEPLOY_JOBS["deploy"]
    assert deploy["environment"] == "${{ needs.gate.outputs.environment }}"
    assert deploy["needs"] == ["gate", "verify"]
    given = deploy["steps"][-1]["with"]
    assert given["environment"] == deploy["environment"]
    assert given["key"] == "${{ secrets.STRATWRIGHT_DEPLOY_PRIVATE_KEY }}"
    assert given["answers"] == "${{ needs.verify.outputs.verified }}"
    holds = "endsWith(needs.verify.outputs.verified, ' holds')"
    assert deploy["if"] == f"needs.gate.outputs.todo == 'deploy' && {holds}"
    assert f"'deploy' && !{holds}" in DEPLOY_JOBS["answer"]["if"]


def test_a_halt_waits_for_no_environment_no_verdict_and_no_other_run():
    stop = DEPLOY_JOBS["stop"]
    assert stop["needs"] == "gate"
    assert "concurrency" not in DEPLOY
    assert [name for name, job in DEPLOY_JOBS.items() if "concurrency" in job] == ["deploy"]
    assert DEPLOY_JOBS["deploy"]["concurrency"]["cancel-in-progress"] is False


def test_everything_of_the_deploy_workflow_is_pinned_and_pastes_nothing_into_scripts():
    steps = steps_of(DEPLOY)
    assert all(PINNED.match(step["uses"]) for step in steps if "uses" in step)
    assert not any("${{" in step.get("run", "") for step in steps)
    assert not re.search(r"github\.event\.(comment|issue|head)[^}]*\}\}", yaml.safe_dump(steps))


def test_nothing_that_strangers_write_stands_in_an_expression_outside_a_condition():
    texts = [*(path.read_text() for path in WORKFLOWS), (ROOT / "action.yml").read_text()]
    hostile = re.compile(
        r"\$\{\{[^}]*github\.(event\.(issue|comment|head|inputs)|head_ref)[^}]*\}\}"
    )
    assert not any(hostile.search(text) for text in texts)


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


def test_the_action_has_no_logic_and_passes_inputs_by_environment():
    assert all("\n" not in step.get("run", "").strip() for step in ACTION)
    asked = {step["if"] for step in ACTION if "if" in step}
    missing = "steps.cached.outputs.cache-hit != 'true'"
    assert asked == {
        "inputs.stage == 'gates'",
        "inputs.stage == 'plan'",
        f"inputs.stage == 'plan' && {missing}",
        "inputs.freqtrade == 'true'",
    }


def test_everything_is_installed_by_digest_and_nothing_builds_with_what_is_not_in_the_lock():
    texts = [*(path.read_text() for path in WORKFLOWS), (ROOT / "action.yml").read_text()]
    commands = [
        " ".join(command.replace("\\\n", " ").split())
        for text in texts
        for step in steps_of(yaml.safe_load(text))
        for command in re.split(r"(?<!\\)\n", step.get("run", ""))
        if re.search(r"pip (install|download)", command)
    ]
    assert len(commands) >= 6
    for command in commands:
        locked = "--require-hashes" in command and "--no-deps" in command
        own = "--no-index" in command and "--no-deps" in command
        assert locked or own, command
        assert "--only-binary :all:" in command or "--no-build-isolation" in command or own


def test_only_the_job_without_rights_takes_from_the_cache_and_only_the_plan_fills_it():
    """A cache is unpacked before anything is checked; whoever runs hostile code may fill it."""
    cache = [step for step in ACTION if "actions/cache" in step.get("uses", "")]
    assert [(step["uses"].partition("@")[0], step["if"].partition(" &&")[0]) for step in cache] == [
        ("actions/cache/restore", "inputs.stage == 'gates'"),
        ("actions/cache/restore", "inputs.stage == 'plan'"),
        ("actions/cache/save", "inputs.stage == 'plan'"),
    ]
    assert cache[1]["with"]["lookup-only"] is True
    for path in WORKFLOWS:
        if path.name != "check.yml":  # no rights and no secret there
            assert "actions/cache" not in path.read_text()
            assert "cache: pip" not in path.read_text()


def starter_folder(folder):
    for path, text in starter_files(Settings(), USERS, deploy=True).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / ".github/workflows/stratwright.yml", folder / DEPLOY_WORKFLOW]


def parsed(*paths):
    """What GitHub's own parser says."""
    program = ROOT / "build/npm/check_workflow.cjs"
    assert program.exists(), "fetch it: bash tools/setup_npm.sh"
    done = subprocess.run(
        ["node", str(program), *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_githubs_own_parser_finds_nothing(tmp_path):
    assert parsed(*WORKFLOWS, ROOT / "action.yml", *starter_folder(tmp_path)) == ""


def test_githubs_own_parser_would_find_something(tmp_path):
    place = tmp_path / ".github/workflows/bad.yml"
    place.parent.mkdir(parents=True)
    text = workflow_text(Settings(), OWN)
    place.write_text(text.replace("runs-on:", "run-on:", 1).replace("needs.gates.", "needs.gate."))
    found = parsed(place)
    assert "Unexpected value 'run-on'" in found
    assert "Context access might be invalid: gate" in found


def test_zizmor_finds_nothing(tmp_path):
    starter_folder(tmp_path)
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
    assert "failed to parse" not in found.stderr


def test_the_models_key_is_met_by_the_job_that_writes_candidates_and_by_no_other():
    """That job runs no generated code and may write nothing; the one that runs code has no key."""
    met = {
        name: re.findall(r"secrets\.\w+[^}]*", yaml.safe_dump(job, width=1000))
        for name, job in JOBS.items()
    }
    assert met.pop("plan") == ["secrets.ANTHROPIC_API_KEY != '' "], "whether there is one, no more"
    given = met.pop("generate")
    assert [name.split(".")[1].split()[0] for name in given] == [
        "ANTHROPIC_API_KEY",
        "STRATWRIGHT_SIGNING_KEY",
    ]
    assert not any(met.values())
    assert set(JOBS["generate"]["permissions"].values()) == {"read"}
    steps = yaml.safe_dump(JOBS["generate"]["steps"], width=1000)
    assert steps.count("matrix.item.ceiling != '' && secrets.") == 2, "only where something asks"
    passed = ACTION[-1]["env"]
    assert passed["ANTHROPIC_API_KEY"] == "${{ inputs.model-key }}"
    assert not any("model-key" in yaml.safe_dump(step) for step in ACTION[:-1])
