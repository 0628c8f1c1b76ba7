"""The real workflow and the real action under act, against a GitHub of our own.

Stood in for, because act cannot fetch them without a network: checkout, setup-python, cache,
upload-artifact and download-artifact (see stand_ins/), and sudo. pip reads a short lock of what is
installed here, builds our package's metadata for real and installs nothing.

act keeps the outputs of one leg of a matrix only, where GitHub joins those of all. So the plan
deals everything out to one leg here; several legs are tested in tests/bot/workflow.
The sandbox is real, and asked each question once in a test run.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from bot.settings import Settings
from bot.workflow.starter import workflow_text
from tests.bot.workflow.hub import HOUSE, WRITE, World
from tests.remembered import VARIABLE

COMMIT = "a" * 40
ACTION = f"stratwright/stratwright@{COMMIT}"
STAND_INS = {
    "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683": "checkout",
    "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065": "setup_python",
    "actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830": "cache",
    "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02": "upload_artifact",
    "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093": "download_artifact",
}


# act gives every job the same token; what each job's may do, tests/test_workflows.py looks at.
_RIGHTS = {**WRITE, "deployments": "write", "actions": "read"}


@dataclass
class Ran:
    """What act did: its exit code, each job's result, and everything that was logged."""

    code: int
    jobs: dict[str, str] = field(default_factory=dict)
    log: str = ""

    @property
    def seen(self) -> list[str]:
        """The jobs that really ran, each kind once."""
        return sorted({job.split("-")[0] for job in self.jobs})


def run_under_act(
    world: World,
    event: str,
    payload: dict[str, Any],
    folder: Path,
    caller: str,
    tamper: str = "",
    action: str = ACTION,
    text: str = "",
    run: int = 0,
    secrets: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> Ran:
    """Let act run a workflow for an event, by default the one that proposes.

    `caller` is a program that calls the command; `tamper` one that changes artifacts; `run` is the
    run's number, `secrets` those of the repository: act knows no environments. `more` are
    variables of every job.
    """
    world.fetch()
    folder.mkdir()
    workflow = folder / "stratwright.yml"
    workflow.write_text(text or workflow_text(Settings(), action))
    (folder / "event.json").write_text(json.dumps(payload))
    (folder / "tamper.py").write_text(tamper)
    house = house_of_the_action(folder / "action")
    variables = {
        "GITHUB_API_URL": world.hub.url,
        "STAND_IN_ARTIFACTS": str(folder / "artifacts"),
        "STRATWRIGHT_PACE": "0",
        VARIABLE: os.environ[VARIABLE],
        "STAND_IN_TAMPER": str(folder / "tamper.py") if tamper else "",
        # pip reads `false` here as: do not isolate the build, take what is installed.
        "PIP_NO_BUILD_ISOLATION": "false",
        "PIP_DRY_RUN": "1",
        "PIP_NO_DEPS": "1",
        **({"GITHUB_RUN_ID": str(run)} if run else {}),
        **world.git_variables,
        **(more or {}),
    }
    replaced = {
        f"{name}": HOUSE / "tests/e2e/stand_ins" / place for name, place in STAND_INS.items()
    }
    command = [
        shutil.which("act", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "act",
        *(event, "-e", str(folder / "event.json"), "-W", str(workflow)),
        *("-C", str(world.clone), "-P", "ubuntu-24.04=-self-hosted", "--json"),
        *("--no-cache-server", "--artifact-server-addr", "127.0.0.1"),
        *("--cache-server-addr", "127.0.0.1", "-s", f"GITHUB_TOKEN={world.token(_RIGHTS)}"),
        *(part for name in secrets or {} for part in ("-s", name)),
        *(part for name, value in variables.items() for part in ("--env", f"{name}={value}")),
        *(part for name, place in {**replaced, ACTION: house}.items()
          for part in ("--local-repository", f"{name}={place}")),
    ]  # fmt: skip
    path = f"{_programs(folder, caller)}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command,
        env={**os.environ, **(secrets or {}), "PATH": path, "HOME": str(folder / "home"),
             "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )  # fmt: skip
    return _read(done.returncode, done.stdout, done.stderr)


def house_of_the_action(place: Path) -> Path:
    """The action's repository, as a checkout of it would be: what Git knows of this one."""
    listed = subprocess.run(
        ["git", "-C", str(HOUSE), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
    ).stdout.decode()
    wanted = ("action.yml", "pyproject.toml", "README.md", "LICENSE", "bot/__init__.py")
    for path in filter(None, listed.split("\0")):
        if path in wanted:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HOUSE / path, place / path)
    (place / "bot/locks").mkdir()
    for name in ("github", "freqtrade"):
        # Installed already, so that pip has nothing to fetch; a digest is needed all the same.
        pin = f"iniconfig=={metadata.version('iniconfig')} --hash=sha256:{'0' * 64}\n"
        (place / "bot/locks" / f"{name}.txt").write_text(pin)
    return place


def _programs(folder: Path, caller: str) -> Path:
    """`stratwright` of this tree, a `sudo` that only says what it was asked, pip asked once."""
    place = folder / "programs"
    place.mkdir()
    done = f"{os.environ[VARIABLE]}/installed"
    scripts = {
        # The same dry run of pip in each job of each test tells nothing new.
        "python": f"""case "$*" in "-I -m pip "*)
  said=$(echo "$*" | sed 's#{folder}##g; s#/act/[0-9a-f]*/##g; s#/[^ ]*/stratwright-packages##g')
  key="{done}/$(echo "$said" | sha256sum | cut -c1-64)"
  test -e "$key" && exit 0
  "{sys.executable}" "$@" && mkdir -p "{done}" && touch "$key"; exit ;;
esac
exec "{sys.executable}" "$@"
""",
        "stratwright": f'exec "{sys.executable}" -I -S "{place}/caller.py" "$@"',
        "sudo": 'echo "sudo stand-in: $*"',
    }
    (place / "caller.py").write_text(caller)
    for name, line in scripts.items():
        (place / name).write_text(f"#!/bin/sh\n{line}\n")
        (place / name).chmod(0o755)
    return place


def _read(code: int, out: str, err: str) -> Ran:
    results: dict[str, str] = {}
    logged: dict[str, list[str]] = defaultdict(list)
    for line in out.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        job = str(record.get("job", "")).strip().rpartition("/")[2]
        logged[job].append(str(record.get("msg", "")))
        if record.get("jobResult"):
            results[job] = record["jobResult"]
    text = "\n".join(f"[{job}] {line}" for job, lines in logged.items() for line in lines)
    return Ran(code, results, f"{text}\n{err}")
