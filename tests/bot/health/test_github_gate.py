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


# What GitHub has on each plan: environments, and required reviewers; and what is the gate there.
PLANS = {
    "public": (False, True, True, "GitHub's reviewers of live"),
    "private, Free": (True, False, False, "a person's own key (stratwright approve)"),
    "private, Pro or Team": (True, True, False, "reviews, comments and people's own keys"),
    "private, Enterprise": (True, True, True, "GitHub's reviewers of live"),
}


@pytest.mark.parametrize("plan", PLANS)
def test_on_each_plan_the_gate_is_named_and_what_is_missing_has_its_link(
    plan: str, world: World
) -> None:
    """With everything that the plan offers and what nobody has clicked yet: bypass, self-review."""
    private, has_places, has_reviewers, gate = PLANS[plan]
    world.hosted.record.private = private
    for name in ("paper", "live") if has_places else ():
        reviewers = ["alice"] if has_reviewers else []
        world.hosted.add_environment(name, reviewers, branches=("main",))
    found = findings(world)
    assert gate in found["gate in force"][0][1]
    for name in ("paper", "live"):
        missing = [(detail, hint) for well, detail, hint in found[name] if not well]
        assert all(hint.startswith(f"{PAGE} > ") for _, hint in missing)
        told = " ".join(detail for detail, _ in missing)
        hints = " ".join(hint for _, hint in missing)
        assert ("there is no environment" in told) is not has_places
        assert ("administrators may go around" in told) is has_reviewers
        assert ("who starts a run may let it into" in told) is has_reviewers
        assert ("has no required reviewers" in told) is (has_places and not has_reviewers)
        assert ("Free plan" in hints) is (private and not has_places)
        assert ("needs Enterprise" in hints) is (private and has_places and not has_reviewers)


def test_protected_branches_are_said_to_be_open(world: World) -> None:
    place = world.hosted.add_environment("live", ["alice"], branches=("main",))
    place.branch_policy = {"protected_branches": True, "custom_branch_policies": False}
    world.hosted.protect("main")
    ((_, detail, hint), *_) = findings(world)["live"]
    assert "every protected branch may deploy to live" in detail
    assert hint.endswith("Selected > main, and no other.")
