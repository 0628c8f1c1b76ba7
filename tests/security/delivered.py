"""An honest run for a forger to copy, and its repository as if nothing had been delivered."""

import shutil
from pathlib import Path

from tests.bot.git.worlds import World
from tests.e2e.lines import line_world, run
from tests.remembered import Remembering
from tests.security.forger import Forgery, git, write_tag


def deliver(folder: Path, sandbox: Remembering) -> tuple[World, str, Path]:
    """Run a contract; its repository, its tag and a copy of its pull request."""
    world = line_world(folder, more="acceptance: {min_trades: 3}")
    result = run(world, sandbox)
    assert result.status == "proposed"
    pulls = world.work.with_name("pulls")
    shutil.copytree(world.work / ".git/stratwright/forge/pulls", pulls)
    # What the honest run left is taken away; its objects stay, for the forger to copy.
    git(world.work, "update-ref", "refs/kept/honest", f"refs/tags/{result.tag}")
    return world, result.tag, pulls


def set_back(world: World, tag: str) -> None:
    """Take away what was delivered, but the tag of this clone."""
    for side in (world.work, world.remote):
        listed = git(side, "for-each-ref", "--format=%(refname)").decode().split()
        gone = "".join(f"delete {name}\n" for name in listed if "/ai/" in name)
        git(side, "update-ref", "--stdin", data=gone.encode())
    shutil.rmtree(world.work / ".git/stratwright/forge", ignore_errors=True)
    git(world.work, "update-ref", f"refs/tags/{tag}", "refs/kept/honest")


def plant(world: World, honest: str, forgery: Forgery, name: str = "") -> str:
    """Push a forged tag under a name, and take everything honest away."""
    case, commit = forgery.make(world.work, honest)
    name = name or honest
    made = write_tag(world.work, case, commit, name)
    git(world.work, "push", "-q", str(world.remote), f"+{made}:refs/tags/{name}")
    git(world.work, "update-ref", "-d", f"refs/tags/{honest}")
    return commit
