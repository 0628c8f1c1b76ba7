"""The jobs of the workflow in this process, each with the token that its YAML gives it."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bot.cli import main
from bot.settings import Settings
from bot.starter import workflow_text
from tests.bot.events.hub import World

JOBS = yaml.safe_load(workflow_text(Settings(), "$/"))["jobs"]


@dataclass
class Ran:
    """What the jobs of one run did."""

    codes: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    summary: str = ""


def permissions(job: str) -> dict[str, str]:
    """A job's rights, as the API names them."""
    return {name.replace("-", "_"): level for name, level in JOBS[job]["permissions"].items()}


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_event(
    world: World,
    event: str,
    payload: dict[str, Any],
    run: int = 100,
    between: Callable[[str, Path], None] = lambda job, folder: None,
) -> Ran:
    """Let an event go through plan, announce, generate, gates and write, as the workflow would."""
    world.fetch()
    folder = world.clone.parent / f"run-{run}"
    folder.mkdir()
    ran = Ran()
    base = world.environment(
        event,
        payload,
        GITHUB_OUTPUT=str(folder / "output"),
        GITHUB_STEP_SUMMARY=str(folder / "summary"),
        GITHUB_RUN_ID=str(run),
    )

    def job(stage: str, keys: str = "") -> None:
        token = world.token(permissions(stage)) if permissions(stage) else ""
        arguments = ["event", stage, f"--keys={keys}", "--handover", str(folder / "handover")]
        arguments += ["--repository", str(world.clone)]
        with variables({**base, "GITHUB_TOKEN": token}):
            ran.codes[stage] = max(ran.codes.get(stage, 0), main(arguments))
        between(stage, folder / "handover")

    job("plan")
    ran.outputs = read_outputs(folder / "output")
    build = [row["keys"] for row in ran.outputs.get("build", [])]
    for row in ran.outputs.get("announce", []):
        job("announce", row["keys"])
    for keys in build:
        job("generate", keys)
        job("gates", keys)
    for row in ran.outputs.get("write", []):
        job("write", row["keys"])
    if (folder / "summary").exists():
        ran.summary = (folder / "summary").read_text()
    return ran


def read_outputs(path: Path) -> dict[str, Any]:
    """What a runner reads from GITHUB_OUTPUT."""
    text = path.read_text() if path.exists() else ""
    found = re.findall(r"^([a-z]+)<<(\S+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    return {name: json.loads(value) for name, _, value in found}
