"""Contracts whose gates have run, in a world that can be set back to that moment."""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.cli import main
from tests.bot.workflow.hub import NAME, World, git, make_world, push
from tests.bot.workflow.line import Legs, permissions, read_matrix, variables
from tests.doubles.github import GitHubServer
from tests.doubles.github.git_store import GitStore


@dataclass
class Judged:
    """Two contracts whose gates have run; key and row of the one that is forged, and the other."""

    world: World
    folder: Path
    variables: dict[str, str]
    rows: dict[str, dict[str, Any]]
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def row(self) -> dict[str, Any]:
        return self.rows["contracts/dip.yaml"]

    @property
    def key(self) -> str:
        return str(self.row["keys"])

    @property
    def other(self) -> str:
        return str(self.rows["contracts/other.yaml"]["keys"])

    def set_back(self) -> None:
        """Forget what was proposed: branches, tags, pull requests, comments and checks."""
        vars(self.world.hub.state).update(copy.deepcopy(self.state))
        self.world.hub.state.repositories[NAME].git = GitStore(self.world.bare)
        self.world.hosted = self.world.hub.repository(NAME)
        for side in (self.world.bare, self.world.clone):
            for name in git(side, "for-each-ref", "--format=%(refname)").split():
                if "/ai/" in name:
                    git(side, "update-ref", "-d", name)

    def write(
        self,
        row: dict[str, Any],
        handover: Path,
        retold: tuple[str, ...] = (),
        page: Path | None = None,
        event: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        """Run the last job; the digests of the jobs in `retold` are those of the forged files."""
        given = Legs(self.folder).arguments("write", row)
        for number, argument in enumerate(given):
            name, _, old = argument.partition("=")
            job = {"--cases": "case", "--answers": "gates"}.get(name, "")
            if job in retold:
                key = old[:12]
                digest = hashlib.sha256((handover / job / f"{key}.json").read_bytes()).hexdigest()
                given[number] = f"{name}={key}:{digest}"
        summary = page or handover.parent / "summary"
        token = self.world.token(permissions("write"))
        more = {"GITHUB_TOKEN": token, "GITHUB_STEP_SUMMARY": str(summary)}
        with variables({**(event or self.variables), **more}):
            code = main(
                ["event", "write", *given, "--handover", str(handover),
                 "--repository", str(self.world.clone)]
            )  # fmt: skip
        return code, summary.read_text() if summary.exists() else ""


@contextmanager
def judged_contracts(
    folder: Path, contracts: dict[str, str], model: Mapping[str, str] | None = None
) -> Iterator[Judged]:
    """Let a push of contracts go through plan, generate and gates; `model` has a model's key."""
    with GitHubServer() as hub:
        world = make_world(folder, hub)
        world.hosted.settings.can_approve_pull_request_reviews = True
        before, after = world.commit(dict(contracts))
        world.fetch()
        base = world.environment("push", push(before, after))
        legs = Legs(folder)

        def job(stage: str, row: dict[str, Any]) -> None:
            token = world.token(permissions(stage)) if permissions(stage) else ""
            arguments = ["event", stage, *legs.arguments(stage, row)]
            arguments += ["--handover", str(folder / "handover")]
            more = {"GITHUB_TOKEN": token, "GITHUB_OUTPUT": str(legs.output(stage, row))}
            if model:
                more |= {"STRATWRIGHT_HAS_MODEL": "true"} if stage == "plan" else {}
                more |= model if stage == "generate" else {}
            with variables({**base, **more}):
                assert main([*arguments, "--repository", str(world.clone)]) == 0

        job("plan", {})
        rows = {}
        for row in read_matrix(legs.output("plan", {}))["build"]:
            job("generate", row)
            job("gates", row)
            case = json.loads((folder / "handover/case" / f"{row['keys']}.json").read_bytes())
            rows[case["contract_path"]] = row
        state = {key: value for key, value in vars(hub.state).items() if key != "now"}
        yield Judged(world, folder, base, rows, copy.deepcopy(state))
