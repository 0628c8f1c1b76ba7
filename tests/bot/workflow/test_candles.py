"""Candles that are missing or malformed end as any other mistake in a contract does."""

from pathlib import Path

import pytest

from bot.cli import main
from bot.forge.port import Thread
from tests.bot.workflow.hub import World, form, issue, make_world, push
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import DIP, forge_of
from tests.doubles.github import GitHubServer

BAD = "timestamp,open,high,low,close,volume\n2024-01-01T00:00:00Z,1,2,3,4,5\n"


@pytest.fixture
def world(tmp_path: Path, hub: GitHubServer) -> World:
    return make_world(tmp_path, hub)


@pytest.mark.parametrize(
    ("files", "words"),
    [({}, "data/x.csv is not there"), ({"data/x.csv": BAD}, "data/x.csv: line 2:")],
)
def test_a_push_with_bad_candles_is_a_red_check_at_the_line_of_data(
    world: World, files: dict[str, str], words: str
) -> None:
    text = DIP.replace("tests/fixtures/sample_btc.csv", "data/x.csv")
    before, after = world.commit({"contracts/dip.yaml": text, **files})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "generate": 0, "gates": 0, "write": 2}
    forge = forge_of(world)
    run = forge.checks.read(after, "stratwright: contracts/dip.yaml")
    assert run is not None
    assert run["conclusion"] == "failure"
    (note,) = forge.api.get(f"check-runs/{run['id']}/annotations")
    line = text.splitlines()[note["start_line"] - 1]
    assert (note["path"], line.startswith("data:")) == ("contracts/dip.yaml", True)
    assert words in note["message"]
    (said,) = forge.threads.all(Thread(commit=after))
    told = said.body + ran.summary + note["message"]
    assert words.split(":")[0].split()[0] in told
    assert str(world.clone) not in told
    assert not world.branches


def test_a_push_is_told_all_mistakes_at_once_and_missing_candles_are_one(world: World) -> None:
    text = DIP.replace("tests/fixtures/sample_btc.csv", "data/x.csv").replace("rsi <", "rsj <")
    before, after = world.commit({"contracts/dip.yaml": text})
    assert run_event(world, "push", push(before, after)).codes["write"] == 2
    (said,) = forge_of(world).threads.all(Thread(commit=after))
    assert "csv is not there" in said.body
    assert "rsj" in said.body


def test_a_form_with_candles_that_are_not_there_is_told_in_its_issue(world: World) -> None:
    body = form(Candles="data/none.csv")
    number = world.hosted.open_issue("Strategy", body, "alice", ["stratwright"]).number
    ran = run_event(world, "issues", issue(number, body))
    assert ran.codes["write"] == 2
    (said,) = forge_of(world).threads.all(Thread(number))
    assert "contracts/issue_1.yaml:14:9" in said.body
    assert "is not there" in said.body
    assert "❌" in said.body


def test_the_first_push_of_what_init_writes_is_a_pull_request(world: World) -> None:
    world.hosted.settings.can_approve_pull_request_reviews = True
    action = f"stratwright/stratwright@{'b' * 40}"
    assert main(["init", str(world.clone), "--action", action]) == 0
    ran = run_event(world, "push", push(*world.commit({})))
    assert set(ran.codes.values()) == {0}
    (pull,) = forge_of(world).pulls()
    assert pull.draft.branch == "ai/generated/oversold-dip/strategy"
