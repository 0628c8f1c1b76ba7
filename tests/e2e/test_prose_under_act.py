"""The real workflow with a scripted model: an idea, its draft, its acceptance, the pull request."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.forge.port import Thread
from tests.bot.workflow.hub import World, comment, git, issue, make_world, push
from tests.bot.workflow.proposals import forge_of
from tests.bot.workflow.test_drafts import GOOD, IDEA, PLAIN, drafts
from tests.bot.workflow.test_prose import EVIDENCE, PATH, PROSE, booked
from tests.doubles.github import GitHubServer
from tests.doubles.model.messages_api import KEY, MessagesApi, answers, serving
from tests.e2e.ready import ready_command
from tests.e2e.test_prose import key_pair
from tests.e2e.under_act import Ran, run_under_act

pytestmark = pytest.mark.act
ORDER = "/stratwright accept "


@pytest.fixture(scope="module")
def caller() -> Iterator[str]:
    with ready_command() as program:
        yield program


@pytest.fixture
def world(tmp_path: Path, memory: Path) -> Iterator[World]:
    with GitHubServer() as hub:
        made = make_world(tmp_path, hub)
        made.hosted.settings.can_approve_pull_request_reviews = True
        yield made


def model(server: MessagesApi, **secrets: str) -> dict[str, dict[str, str]]:
    return {
        "secrets": {"ANTHROPIC_API_KEY": KEY, **secrets},
        "more": {"ANTHROPIC_BASE_URL": server.url},
    }


def without_the_key(ran: Ran) -> None:
    assert KEY not in ran.log


def test_an_idea_is_drafted_accepted_and_proposed_with_cost_and_prompt_hash(
    world: World, tmp_path: Path, caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = key_pair(monkeypatch)
    secret = os.environ["STRATWRIGHT_SIGNING_KEY"]
    monkeypatch.delenv("STRATWRIGHT_SIGNING_KEY")
    world.commit({"stratwright.yml": f'coder: {{signers: ["{public}"]}}\n'})
    number = world.hosted.open_issue("Idea", IDEA, "alice", ["stratwright"]).number
    with serving([GOOD]) as server:
        given = model(server, STRATWRIGHT_SIGNING_KEY=secret)
        event = issue(number, IDEA, "labeled")
        ran = run_under_act(world, "issues", event, tmp_path / "draft", caller, **given)
        assert ran.code == 0, ran.log[-4000:]
        assert ran.seen == ["gates", "generate", "plan", "write"]
        said = next(
            each.body for each in forge_of(world).threads.all(Thread(number)) if ORDER in each.body
        )
        digest = said.partition(ORDER)[2][:64]
        order = comment(number, f"{ORDER}{digest}", issue_body=IDEA)
        accepted = run_under_act(
            world, "issue_comment", order, tmp_path / "accept", caller, **given
        )
        assert accepted.code == 0, accepted.log[-4000:]
        assert accepted.seen == ["announce", "gates", "generate", "plan", "write"]
        assert len(server.asked) == 1
    for each in (ran, accepted):
        without_the_key(each)
    (pull,) = forge_of(world).pulls()
    assert "0.003200 US dollars" in pull.draft.body
    statement = git(world.bare, "show", f"{pull.draft.head}:{EVIDENCE}/provenance.json")
    predicate = json.loads(statement)["predicate"]
    assert (predicate["coder"], predicate["prompt_hash"][:7]) == ("agent", "sha256:")
    assert [entry.cost for entry in booked(world)] == [3200]


def test_what_no_answer_holds_for_is_blocked_with_all_errors_where_it_was_asked(
    world: World, tmp_path: Path, caller: str
) -> None:
    number = world.hosted.open_issue("Idea", IDEA, "alice", ["stratwright"]).number
    bad = drafts({**PLAIN, "rules": {"enter_long": "rsj < 3"}})
    with serving([bad] * 3 + [answers("rs < 30")] * 3) as server:
        given = model(server)
        event = issue(number, IDEA, "labeled")
        ran = run_under_act(world, "issues", event, tmp_path / "draft", caller, **given)
        assert ran.jobs["write"] == "failure"
        before, after = world.commit({PATH: PROSE})
        pushed = run_under_act(
            world, "push", push(before, after), tmp_path / "push", caller, **given
        )
        assert pushed.jobs["write"] == "failure"
        assert len(server.asked) == 6
    (said,) = forge_of(world).threads.all(Thread(number))
    assert said.body.count("unknown name") == 3
    (on_commit,) = forge_of(world).threads.all(Thread(commit=after))
    assert on_commit.body.count("unknown name") == 3
    assert sorted(entry.cost for entry in booked(world)) == [9600, 9600]
    assert not world.branches
    without_the_key(ran)
    without_the_key(pushed)
