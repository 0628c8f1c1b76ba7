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
from bot.workflow.starter import OWN, workflow_text
from tests.bot.workflow.hub import World

JOBS = yaml.safe_load(workflow_text(Settings(), OWN))["jobs"]


@dataclass(frozen=True)
class Legs:
    """What the legs of a run told GitHub, each in a file of its own; jobs can only add theirs."""

    folder: Path

    def output(self, stage: str, row: dict[str, Any]) -> Path:
        """Where a leg's outputs are written."""
        return self.folder / f"output-{stage}-{row.get('leg', '')}"

    def arguments(self, stage: str, row: dict[str, Any]) -> list[str]:
        """What the workflow passes to a stage: keys, and the digests that its legs told."""
        given = [f"--keys={row.get('keys', '')}"]
        if stage in ("generate", "gates", "write"):
            # In the first round nothing was handed on yet.
            given.append(f"--cases={self._handed('generate', row)}")
            given.append(f"--answers={self._handed('gates', row)}")
        if stage == "generate":
            given.append(f"--ceiling={row['ceiling']}")
        return given

    def _handed(self, job: str, row: dict[str, Any]) -> str:
        declared = row["leg"] in JOBS[job]["outputs"]
        return self.handed(job, row)[-1] if declared else ""

    def handed(self, job: str, row: dict[str, Any]) -> list[str]:
        """What the rounds of a leg handed on, the newest last; behind an empty one."""
        path = self.output(job, row)
        text = path.read_text() if path.exists() else ""
        told = [value for name, value in all_outputs(text) if name == "handed"]
        return ["", *filter(None, told)]


@dataclass
class Ran:
    """What the jobs of one run did."""

    codes: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    summary: str = ""
    rounds: int = 0


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
    rounds: int = 1,
    model: Mapping[str, str] | None = None,
) -> Ran:
    """Let an event go through plan, announce, generate, gates and write, as the workflow would.

    `model` holds the variables of a repository that has a model's key.
    """
    world.fetch()
    folder = world.clone.parent / f"run-{run}"
    folder.mkdir()
    ran, legs = Ran(), Legs(folder)
    base = world.environment(
        event,
        payload,
        GITHUB_STEP_SUMMARY=str(folder / "summary"),
        GITHUB_RUN_ID=str(run),
    )

    def job(stage: str, row: dict[str, Any]) -> None:
        token = world.token(permissions(stage)) if permissions(stage) else ""
        arguments = ["event", stage, *legs.arguments(stage, row)]
        arguments += ["--handover", str(folder / "handover"), "--repository", str(world.clone)]
        output = legs.output(stage, row)
        more = {"STRATWRIGHT_HAS_MODEL": "true"} if model and stage == "plan" else {}
        if model and stage == "generate" and row["ceiling"]:
            more = dict(model)
        with variables({**base, "GITHUB_TOKEN": token, "GITHUB_OUTPUT": str(output), **more}):
            ran.codes[stage] = max(ran.codes.get(stage, 0), main(arguments))
        if stage == "plan":
            ran.outputs = read_matrix(output)
        between(stage, folder / "handover")

    job("plan", {})
    for row in ran.outputs.get("announce", []):
        job("announce", row)
    for row in ran.outputs.get("build", []):
        for number in range(rounds):
            job("generate", row)
            if number and len(legs.handed("generate", row)) < number + 2:
                break
            job("gates", row)
            ran.rounds = max(ran.rounds, number + 1)
    for row in ran.outputs.get("write", []):
        job("write", row)
    if (folder / "summary").exists():
        ran.summary = (folder / "summary").read_text()
    return ran


def read_outputs(path: Path) -> dict[str, str]:
    """What a runner reads from GITHUB_OUTPUT."""
    return dict(all_outputs(path.read_text() if path.exists() else ""))


def all_outputs(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"^([a-z]+)<<(\S+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    return [(name, value) for name, _, value in found]


def read_matrix(path: Path) -> dict[str, Any]:
    """The jobs that a plan asked for."""
    return {name: json.loads(text) for name, text in read_outputs(path).items()}
