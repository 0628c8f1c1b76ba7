"""Whoever may push can make a tag, and edit a pull request: neither is believed by its name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.contract.digest import contract_digest
from bot.contract.load import load_contract
from bot.forge.github import GitHubForge
from bot.forge.github_api import GitHubApi
from bot.identity import TaskName
from bot.market_data import read_market_data
from bot.pipeline import take_on
from bot.testing import GitHubServer
from bot.workshop import open_workshop
from tests.bot.events.hub import HOUSE, NAME, World, git, make_world, push
from tests.bot.events.line import run_event, variables

DIP = (HOUSE / "contracts/oversold_dip.yaml").read_text()
DIP = DIP.replace("targets: [adapter, freqtrade]", "targets: [adapter]")
TASK = TaskName("oversold-dip", "strategy")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with GitHubServer() as hub:
        made = make_world(tmp_path, hub)
        made.hosted.settings.can_approve_pull_request_reviews = True
        yield made


def forge_of(world: World) -> GitHubForge:
    return GitHubForge(GitHubApi(NAME, world.token(), world.hub.url, pace=0.0))


def id_of(world: World) -> str:
    """The correlation id that the contract will have; anybody can compute it."""
    loaded = load_contract(world.clone / "contracts/dip.yaml")
    assert contract_digest(loaded.strategy)
    assert read_market_data(loaded.strategy, world.clone).digest
    with variables(world.git_variables):
        shop = open_workshop(world.clone, sandbox="namespace")
        return take_on(loaded, shop).origin.correlation_id


def push_strange_tag(world: World, name: str) -> str:
    """A commit of a stranger's own under the name that the bot would give to its next tag."""
    git(world.clone, "checkout", "-q", "--detach")
    place = world.clone / "Backtest/codes/oversold_dip.py"
    place.parent.mkdir(parents=True)
    place.write_text("raise SystemExit\n")
    git(world.clone, "add", "--all")
    git(world.clone, "commit", "-q", "-m", "theirs")
    theirs = git(world.clone, "rev-parse", "HEAD")
    git(world.clone, "tag", "-a", "-m", "theirs", TASK.tag(name))
    git(world.clone, "push", "-q", str(world.bare), f"refs/tags/{TASK.tag(name)}")
    git(world.clone, "tag", "-d", TASK.tag(name))
    git(world.clone, "checkout", "-q", "main")
    return theirs


def test_a_strangers_tag_stops_the_run_and_is_attested_by_nothing(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    theirs = push_strange_tag(world, id_of(world))
    ran = run_event(world, "push", push(before, after))
    assert ran.codes["write"] == 5 or ran.codes["generate"] == 5
    assert "is not what this contract gives" in ran.summary
    forge = forge_of(world)
    assert forge.pulls() == ()
    assert forge.checks.read(theirs) is None
    assert not world.branches


def test_a_strangers_tag_with_a_forged_pull_request_gets_no_green_check(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after))
    (pull,) = forge_of(world).pulls()
    # The tag is replaced by one on another commit; the pull request still tells of it.
    tag = pull.draft.tag
    git(world.bare, "update-ref", "-d", f"refs/tags/{tag}")
    git(world.clone, "tag", "-d", tag)
    theirs = push_strange_tag(world, pull.draft.correlation_id)
    ran = run_event(world, "push", push(before, after), run=101)
    assert 5 in ran.codes.values()
    assert forge_of(world).checks.read(theirs) is None


@pytest.mark.parametrize("body", ["somebody deleted the text", None])
def test_closed_stays_closed_whatever_its_text_says(world: World, body: str | None) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    run_event(world, "push", push(before, after))
    forge = forge_of(world)
    (pull,) = forge.pulls()
    changes = {"state": "closed"} | ({"body": body} if body else {})
    forge.api.write("PATCH", f"pulls/{pull.number}", changes)
    ran = run_event(world, "push", push(before, after), run=101)
    assert set(ran.codes.values()) == {0}
    assert [each.number for each in forge.pulls()] == [pull.number]
