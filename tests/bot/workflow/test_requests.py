"""How often the jobs ask GitHub: as often for thirty contracts as for one."""

import pytest

from bot.cli import main
from bot.git.identity import TaskName
from tests.bot.workflow.hub import World, git, push, repository, user
from tests.bot.workflow.line import permissions, read_matrix, variables
from tests.bot.workflow.proposals import contract, name_of

MANY = 30


def stage(world: World, name: str, base: dict[str, str], keys: str = "") -> int:
    """Run one job; gives the number of its requests."""
    count = len(world.hub.requests)
    arguments = ["event", name, f"--keys={keys}", "--repository", str(world.clone)]
    arguments += ["--handover", str(world.clone.parent / "handover")]
    with variables({**base, "GITHUB_TOKEN": world.token(permissions(name))}):
        main(arguments)
    return len(world.hub.requests) - count


def counted(world: World, count: int) -> dict[str, int]:
    """Push so many contracts; the requests of the plan and of one job of each kind."""
    files = {f"contracts/d{n}.yaml": contract(f"dip-{n}") for n in range(count)}
    before, after = world.commit(dict(files))
    output = world.clone.parent / f"output-{count}"
    base = world.environment("push", push(before, after), GITHUB_OUTPUT=str(output))
    asked = {"plan": stage(world, "plan", base)}
    rows = read_matrix(output)["build"]
    keys = [key for row in rows for key in row["keys"].split(",")]
    assert len(keys) == count
    for name in ("generate", "write"):  # without the gates: the write job tells that they failed
        asked[name] = stage(world, name, base, keys[0])
    return asked


def test_a_job_asks_as_often_for_thirty_contracts_as_for_one(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    one = counted(world, 1)
    world.commit({"contracts/d0.yaml": None})
    many = counted(world, MANY)
    assert many == one
    assert one["plan"] <= 2
    assert one["generate"] <= 3
    said = capfd.readouterr().err
    assert f"{one['write']} requests to GitHub's API" in said


def test_nothing_is_announced_where_nobody_waits(world: World) -> None:
    world.commit({"contracts/d0.yaml": contract("dip-0")})
    event = {"ref": "refs/heads/main", "inputs": {}, "sender": user(), "repository": repository()}
    output = world.clone.parent / "output"
    stage(world, "plan", world.environment("workflow_dispatch", event, GITHUB_OUTPUT=str(output)))
    outputs = read_matrix(output)
    assert (len(outputs["build"]), outputs["announce"]) == (1, [])


def test_the_job_that_may_only_read_pushes_nothing(world: World) -> None:
    """A run that died between the push of the tag and the branch is finished by the write job."""
    before, after = world.commit({"contracts/d0.yaml": contract("dip-0")})
    tag = TaskName("dip-0", "strategy").tag(name_of(world, "contracts/d0.yaml"))
    git(world.clone, "checkout", "-q", "--detach")
    git(world.clone, "commit", "-q", "--allow-empty", "-m", "candidate")
    git(world.clone, "tag", "-a", "-m", "x", tag)
    git(world.clone, "push", "-q", str(world.bare), f"refs/tags/{tag}")
    git(world.clone, "checkout", "-q", "main")
    seen = git(world.bare, "for-each-ref")
    output = world.clone.parent / "output"
    base = world.environment("push", push(before, after), GITHUB_OUTPUT=str(output))
    stage(world, "plan", base)
    stage(world, "generate", base, read_matrix(output)["build"][0]["keys"])
    assert git(world.bare, "for-each-ref") == seen
