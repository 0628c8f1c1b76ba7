"""Webhooks to pull requests, through a real server process."""

from pathlib import Path

import pytest

from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.forge.port import PullState, Thread
from tests.bot.server.service import PEM, SECRET, Service
from tests.bot.workflow.hub import HOUSE, NAME, STRANGER, comment, form, git, issue, push, user
from tests.bot.workflow.test_drafts import GOOD as DRAFT
from tests.bot.workflow.test_drafts import IDEA
from tests.bot.workflow.test_prose import PROSE, booked
from tests.doubles.model.messages_api import KEY, answers, serving

DIP = (HOUSE / "contracts/oversold_dip.yaml").read_text()
BRANCH = "ai/generated/oversold-dip/strategy"


@pytest.fixture
def service(service: Service, memory: Path) -> Service:
    """One whose sandbox is asked each question once in all tests."""
    service.program = (str(HOUSE / "tests/bot/server/asked_once.py"),)
    return service


def forge_of(service: Service) -> GitHubForge:
    token = service.hub.token_for("alice")
    return GitHubForge(GitHubApi(NAME, token, service.hub.url, pace=0.0))


def test_a_pushed_contract_becomes_a_pull_request_and_a_redelivery_changes_nothing(
    service: Service,
) -> None:
    before, after = service.world.commit({"contracts/dip.yaml": DIP})
    service.start()
    answer = service.deliver("push", push(before, after), "11111111-aaaa")
    assert (answer.status, answer.word) == (202, "accepted")
    service.settle()
    (pull,) = forge_of(service).pulls()
    assert (pull.state, pull.draft.branch) == (PullState.OPEN, BRANCH), service.log
    assert pull.author == "stratwright-app[bot]"
    check = forge_of(service).checks.read(pull.draft.head)
    assert check is not None
    assert check["conclusion"] == "success"
    committer = git(service.world.bare, "show", "-s", "--format=%cn <%ce>", BRANCH)
    bot = service.hub.state.account("stratwright-app[bot]")
    assert committer == f"{bot.login} <{bot.id}+{bot.login}@users.noreply.github.com>"

    refs = git(service.world.bare, "for-each-ref")
    again = service.deliver("push", push(before, after), "11111111-aaaa")
    assert (again.status, again.word, again.reason) == (200, "duplicate", "duplicate-delivery")
    # Under another id it is done again, and finds everything there.
    count = len(service.hub.requests)
    assert service.deliver("push", push(before, after)).status == 202
    service.settle()
    assert git(service.world.bare, "for-each-ref") == refs
    written = [each.path for each in service.hub.requests[count:] if each.method != "GET"]
    assert all(path.endswith(("git-upload-pack", "access_tokens")) for path in written), written
    assert service.stop() == 0
    told = "\n".join(service.log)
    assert SECRET not in told
    assert PEM.splitlines()[1] not in told


def test_an_issue_gets_one_status_comment_by_the_app(service: Service) -> None:
    hosted = service.world.hosted
    number = hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    service.start()
    service.deliver("issues", issue(number, form()))
    service.deliver("issues", issue(number, form(), action="labeled"))
    service.settle()
    (said,) = forge_of(service).threads.all(Thread(number))
    assert said.author == "stratwright-app[bot]"
    assert "- [x] Pull request opened" in said.body
    assert len(forge_of(service).pulls()) == 1


def test_a_stranger_gets_nothing(service: Service) -> None:
    number = service.world.hosted.open_issue("Strategy", form(), "mallory", ["stratwright"]).number
    service.start()
    for who in (user("mallory", STRANGER), user("alice", STRANGER)):
        service.deliver("issue_comment", comment(number, "/stratwright retry", who, form()))
        service.deliver("issues", issue(number, form(), sender=who))
    service.settle()
    assert forge_of(service).threads.all(Thread(number)) == ()
    assert 'outcome="no-permission"} 4' in service.ask("GET", "/metrics").text


def test_an_app_that_is_not_let_in_sets_the_delivery_aside_until_it_is(service: Service) -> None:
    before, after = service.world.commit({"contracts/dip.yaml": DIP})
    granted = service.hub.state.installations[service.installation].permissions
    level = granted.pop("checks")
    service.start()
    service.deliver("push", push(before, after), "22222222-aaaa")
    service.settle()
    assert service.figure("queue_aside") == 1
    assert 'failed_total{reason="not-installed"} 1' in service.ask("GET", "/metrics").text
    granted["checks"] = level
    assert service.deliver("push", push(before, after), "22222222-aaaa").word == "accepted"
    service.settle()
    assert service.figure("queue_aside") == 0
    assert len(forge_of(service).pulls()) == 1


def test_the_server_holds_the_models_key_drafts_and_books(service: Service, tmp_path: Path) -> None:
    """The key is in no log and no file; the day's ledger is the server's own."""
    number = service.world.hosted.open_issue("Idea", IDEA, "alice", ["stratwright"]).number
    with serving([DRAFT, *([answers("rs < 30")] * 3)]) as model:
        service.more |= {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": model.url,
            "XDG_STATE_HOME": str(tmp_path / "ledger"),
        }
        service.start()
        service.deliver("issues", issue(number, IDEA, "labeled"))
        service.settle()
        before, after = service.world.commit({"contracts/dip.yaml": PROSE})
        service.deliver("push", push(before, after))
        service.settle()
    assert service.stop() == 0
    said = [each.body for each in forge_of(service).threads.all(Thread(number))]
    assert any("/stratwright accept " in each for each in said), service.log
    (told,) = forge_of(service).threads.all(Thread(commit=after))
    assert told.body.count("unknown name") == 3
    assert sorted(entry.cost for entry in booked(service.world)) == [3200, 9600]
    ledgers = list((tmp_path / "ledger").rglob("*.jsonl"))
    assert len(ledgers) == 1
    assert KEY not in "\n".join(service.log)
    assert forge_of(service).pulls() == ()
