"""What protects an environment is said, with the link to click, for each plan."""

from pathlib import Path

import pytest

from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.health.github import examine_github
from bot.settings import parse_settings
from tests.bot.workflow.deploys import SETTINGS
from tests.bot.workflow.hub import NAME, World, make_world
from tests.doubles.github import GitHubServer

PAGE = f"https://github.com/{NAME}/settings/environments"


@pytest.fixture
def world(tmp_path: Path, hub: GitHubServer) -> World:
    return make_world(tmp_path, hub)


def findings(world: World) -> dict[str, list[tuple[bool, str, str]]]:
    token = world.hub.token_for(NAME.partition("/")[0])
    settings = parse_settings(SETTINGS.encode())
    forge = GitHubForge(GitHubApi(NAME, token, world.hub.url, pace=0.0), settings)
    found: dict[str, list[tuple[bool, str, str]]] = {}
    for each in examine_github(forge):
        found.setdefault(each.name, []).append((each.well, each.detail, each.hint))
    return found


def test_without_environments_a_persons_own_key_is_the_gate(world: World) -> None:
    world.hosted.record.private = True
    found = findings(world)
    ((well, detail, hint),) = found["live"]
    assert (well, detail) == (False, "there is no environment live")
    assert PAGE in hint
    assert "Free plan" in hint
    assert "a person's own key" in found["gate in force"][0][1]
    assert not found["deploy workflow"][0][0]


def test_everything_that_an_environment_lacks_is_said_with_where_to_click(world: World) -> None:
    world.hosted.add_environment("live", ["alice"])
    told = " ".join(f"{detail} {hint}" for _, detail, hint in findings(world)["live"])
    assert "every branch may deploy to live: below Enterprise any writer's workflow" in told
    assert "who starts a run may let it into live" in told
    assert "administrators may go around" in told
    assert told.count(f"{PAGE} > live") == 3


def test_no_reviewers_is_said_and_where_it_needs_enterprise(world: World) -> None:
    world.hosted.record.private = True
    world.hosted.add_environment("live", branches=("main",))
    ((well, detail, hint),) = findings(world)["live"]
    assert not well
    assert "no required reviewers: GitHub lets runs through" in detail
    assert "needs Enterprise" in hint
    in_force = findings(world)["gate in force"][0][1]
    assert "this private repository has no required reviewers" in in_force


def test_an_environment_with_all_of_it_is_well(world: World) -> None:
    place = world.hosted.add_environment("live", ["alice"], True, branches=("main",))
    place.admins_bypass, place.secrets = False, ["STRATWRIGHT_DEPLOY_PRIVATE_KEY"]
    found = findings(world)
    assert found["live"] == [(True, "1 reviewer(s), only main deploys", "")]
    assert found["live key"][0][0]
    assert "GitHub's reviewers of live" in found["gate in force"][0][1]
    place.secrets.clear()
    assert "is missing" in findings(world)["live key"][0][1]


def test_a_token_that_may_not_ask_is_told_so(world: World) -> None:
    world.hosted.add_environment("live", ["alice"])
    token = world.hub.token_for("github-actions[bot]", {"contents": "read"}, NAME)
    world.hosted.record.private = True
    forge = GitHubForge(GitHubApi(NAME, token, world.hub.url, pace=0.0))
    found = {each.name: each for each in examine_github(forge)}
    assert "may not ask what protects it" in found["live"].detail
