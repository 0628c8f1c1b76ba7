"""One suite that every forge passes: pull requests, threads, checks and people."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.errors import InputError, SafetyStop, StratwrightError
from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.forge.local import LocalForge
from bot.forge.port import (
    Annotation,
    Check,
    Decision,
    Draft,
    Forge,
    PullState,
    Thread,
)
from bot.forge.trigger import Actor
from tests.bot.forge import drafts
from tests.bot.git import worlds
from tests.bot.workflow import hub as hubs


@dataclass(frozen=True)
class Place:
    """A forge with what a test needs around it.

    Attributes:
        draft: makes a candidate's branch with some content, and what to say about it.
        drop: removes a branch.
        person: somebody who may push; others may not.
        head: a commit of the base branch.
    """

    forge: Forge
    draft: Callable[[str], Draft]
    drop: Callable[[str], object]
    person: Actor
    head: str


@pytest.fixture(params=["local", "github"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "local":
        local = worlds.make_world(tmp_path)
        repository = local.open()

        def drop(branch: str) -> None:
            for folder in (local.work, local.remote):
                worlds.sh(folder, "update-ref", "-d", f"refs/heads/{branch}")

        return Place(
            LocalForge(repository),
            lambda content: drafts.local_draft(repository, content),
            drop,
            Actor(1, repository.person, "User"),
            worlds.sh(local.work, "rev-parse", "main"),
        )
    world = hubs.make_world(tmp_path, request.getfixturevalue("hub"))
    world.hosted.settings.can_approve_pull_request_reviews = True
    api = GitHubApi(hubs.NAME, world.token(), world.hub.url, pace=0.0)
    return Place(
        GitHubForge(api),
        lambda content: drafts.github_draft(world, content),
        lambda branch: hubs.git(world.bare, "update-ref", "-d", f"refs/heads/{branch}"),
        Actor(hubs.OWNER, "alice", "User"),
        hubs.git(world.bare, "rev-parse", "main"),
    )


def test_a_pull_request_is_opened_once_and_brought_up_to_date(place: Place) -> None:
    first = place.forge.submit(place.draft("one"))
    assert first.state is PullState.OPEN
    assert place.forge.submit(first.draft).number == first.number
    second = place.draft("two")
    again = place.forge.submit(second)
    assert (again.number, again.draft.head) == (first.number, second.head)
    assert place.forge.find(second.branch) == place.forge.get(first.number)
    assert [each.number for each in place.forge.pulls()] == [first.number]


def test_a_branch_of_a_person_is_none_of_ours(place: Place) -> None:
    with pytest.raises(InputError, match="not a branch of generated code"):
        place.forge.submit(replace(place.draft("one"), branch="feature"))
    assert place.forge.find("feature") is None


def test_an_unknown_number_is_refused(place: Place) -> None:
    with pytest.raises(InputError, match="there is no pull request 77"):
        place.forge.get(77)


def test_what_a_person_closed_stays_closed_until_somebody_asks(place: Place) -> None:
    wanted = place.draft("one")
    number = place.forge.submit(wanted).number
    assert place.forge.close(number, "Not this one.").state is PullState.CLOSED
    assert place.forge.close(number).state is PullState.CLOSED
    assert place.forge.submit(wanted).state is PullState.CLOSED
    assert place.forge.pulls(only_open=True) == ()
    assert place.forge.submit(wanted, reopen=True).state is PullState.OPEN
    assert [each.number for each in place.forge.pulls(only_open=True)] == [number]


def test_a_closed_one_is_opened_again_unless_its_branch_is_gone(place: Place) -> None:
    wanted = place.draft("one")
    number = place.forge.submit(wanted).number
    place.forge.close(number)
    assert place.forge.reopen(number)
    assert place.forge.reopen(number)
    place.forge.close(number)
    place.drop(wanted.branch)
    assert not place.forge.reopen(number)
    assert place.forge.get(number).state is PullState.CLOSED


def test_labels_only_add_up(place: Place) -> None:
    number = place.forge.submit(place.draft("one")).number
    place.forge.label(number, ["ai"])
    place.forge.label(number, ["ai", "checked"])
    place.forge.label(number, [])
    assert {"ai", "checked"} <= set(place.forge.get(number).labels)


def test_a_file_is_there_with_exactly_its_bytes(place: Place) -> None:
    wanted = place.draft("one")
    path, data = drafts.FILE, drafts.content_of("one")
    assert place.forge.has_file(wanted.branch, path, data)
    assert not place.forge.has_file(wanted.branch, path, data + b" ")
    assert not place.forge.has_file(wanted.branch, "none.py", data)
    assert not place.forge.has_file("no-such-branch", path, data)


def test_a_comment_under_a_marker_is_replaced_and_found_again(place: Place) -> None:
    thread, threads = Thread(place.forge.submit(place.draft("one")).number), place.forge.threads
    before = len(threads.all(thread))
    threads.say(thread, "first", "status")
    threads.say(thread, "looks fine")
    said = threads.say(thread, "second", "status")
    assert threads.say(thread, "second", "status") == said
    found = threads.find(thread, "status")
    assert found is not None
    assert (found.body, found.marker) == ("second", "status")
    assert threads.find(thread, "other") is None
    bodies = [each.body for each in threads.all(thread)][before:]
    assert sorted(bodies) == ["looks fine", "second"]


@pytest.mark.parametrize("where", ["pull request", "commit"])
def test_a_later_runs_word_stands(place: Place, where: str) -> None:
    number = place.forge.submit(place.draft("one")).number
    thread = Thread(number) if where == "pull request" else Thread(commit=place.head)
    place.forge.threads.say(thread, "late", "status", run=5)
    assert place.forge.threads.say(thread, "early", "status", run=4).body == "late"
    found = place.forge.threads.find(thread, "status")
    assert found is not None
    assert (found.body, found.run) == ("late", 5)
    address = place.forge.threads.address(thread)
    assert (str(number) if where == "pull request" else place.head) in address
    assert str(found.id) in place.forge.threads.anchor(found.id)


def test_a_check_belongs_to_a_commit_and_a_name(place: Place) -> None:
    remarks = (Annotation("contracts/a.yaml", 3, "no such field", "rules"),)
    no = Check("stratwright", place.head, "one", False, "1 of 2", "Why.", remarks, "https://x.test")
    other = replace(no, name="stratwright: b.yaml", passed=True, annotations=())
    checks = place.forge.checks
    assert checks.find(place.head) is None
    assert not checks.stands(no)
    for check in (no, no, other):
        checks.report(check)
    assert checks.stands(no)
    assert not checks.stands(replace(no, passed=True))
    assert not checks.stands(replace(no, key="two"))
    found = checks.find(place.head)
    assert found is not None
    seen = (found.key, found.passed, found.title, found.summary, found.link)
    assert seen == (no.key, no.passed, no.title, no.summary, no.link)
    yes = replace(no, passed=True, title="2 of 2", annotations=())
    checks.report(yes)
    assert checks.stands(yes)
    assert checks.stands(other)


def test_only_who_may_push_may_order(place: Place) -> None:
    person, people = place.person, place.forge.people
    assert people.may_command(person)
    assert not people.may_command(Actor(2, "mallory", "User"))
    assert not people.may_command(replace(person, login=f"{person.login}[bot]", kind="Bot"))


def test_a_review_is_about_one_head_or_not_the_bots_at_all(place: Place) -> None:
    pull, people = place.forge.submit(place.draft("one")), place.forge.people
    assert people.reviews(pull.number) == ()
    with pytest.raises(StratwrightError):
        people.review(pull.number, Decision.APPROVED, "0" * 40)
    if place.forge.kind == "local":
        given = people.review(pull.number, Decision.APPROVED, pull.draft.head)
        assert people.reviews(pull.number) == (given,)
    else:  # people review on the forge's own page
        with pytest.raises(SafetyStop):
            people.review(pull.number, Decision.APPROVED, pull.draft.head)


def test_a_forge_says_who_it_is_and_what_it_spent(place: Place) -> None:
    place.forge.submit(place.draft("one"))
    assert place.forge.kind in ("local", "github")
    assert place.forge.repository
    left = place.forge.leave_room(1)
    assert left is None or left.left > 1
    assert (place.forge.spent(1) != "") == (left is not None)
