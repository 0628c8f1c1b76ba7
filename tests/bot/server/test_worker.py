"""What a worker does with what cannot be done now, or never."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretBytes, SecretStr

from bot.cli import main
from bot.errors import InputError, SafetyStop, StratwrightError, WorldError
from bot.forge.github.api import ApiError, Forbidden
from bot.forge.reasons import Reason
from bot.server import worker
from bot.server.deliveries import Delivery
from bot.server.handler import WorkerTools
from bot.server.queue import LONGEST_WAIT_S, Queue
from bot.server.settings import ServerSettings, read_server_settings
from bot.server.tokens import NotInstalled
from tests.bot.server.service import PEM, SECRET, Service
from tests.bot.server.test_queue import Clock
from tests.bot.workflow.hub import NAME, comment, push


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    made = Queue(tmp_path / "state", Clock())
    yield made
    made.close()


@pytest.fixture
def tools(service: Service) -> WorkerTools:
    return WorkerTools(
        ServerSettings(
            service.state,
            (SecretBytes(SECRET.encode()),),
            str(service.app),
            SecretStr(PEM),
            service.hub.url,
            service.hub.url,
            passed_on=(("STRATWRIGHT_PACE", "0"),),
        ),
        lambda line: None,
    )


def delivery(event: str, body: bytes) -> Delivery:
    return Delivery("a", event, NAME, 0, body)


def attempts_until_aside(queue: Queue, tools: WorkerTools) -> int:
    """Begin the one delivery again and again, each time when its pause is over."""
    clock = queue._clock
    assert isinstance(clock, Clock)
    count = 0
    while claim := queue.claim("w"):
        worker.work_on(claim, queue, tools, lambda: False)
        count += 1
        clock.time += LONGEST_WAIT_S - 1
    return count


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (InputError("x"), 1),
        (NotInstalled("x"), 1),
        (SafetyStop("x"), 1),
        (Forbidden("x"), 3),
        (StratwrightError("x"), 3),
        (WorldError("x"), 12),
        (ApiError("x"), 12),
    ],
)
def test_every_kind_of_error_has_its_patience(error: StratwrightError, most: int) -> None:
    assert worker.most_attempts(error) == most


def test_pauses_double_differ_and_are_bounded() -> None:
    for attempts in range(1, 13):
        middle = min(15.0 * 2 ** (attempts - 1), 1800.0)
        pauses = {worker.backoff_s(attempts) for _ in range(20)}
        assert len(pauses) > 1
        assert all(middle * 0.8 <= pause <= middle * 1.2 for pause in pauses)
    whole = sum(min(15.0 * 2 ** (n - 1), 1800.0) for n in range(1, 12))
    assert 2.5 * 3600 < whole < 3.5 * 3600


def test_github_that_stays_away_is_given_up_after_twelve_attempts(
    service: Service, queue: Queue, tools: WorkerTools
) -> None:
    service.hub.faults.add(match="*", kind="status", status=503, times=10_000)
    queue.add([delivery("push", b"{}")])
    assert attempts_until_aside(queue, tools) == 12
    (row,) = queue.aside()
    assert row.reason == "world-failed"
    assert "503" in row.detail
    assert queue.census().tallies["retried"] == 11


def test_a_rate_limit_is_waited_for_as_long_as_it_says(
    service: Service, queue: Queue, tools: WorkerTools
) -> None:
    number = service.world.hosted.open_issue("x", "x", "alice").number
    body = json.dumps(comment(number, "/stratwright halt")).encode()
    token = tools.tokens.token(NAME, 0)  # as for the delivery, which names no installation
    service.hub.use_up(token.get_secret_value(), remaining=0, reset_in_s=3000)
    queue.add([delivery("issue_comment", body)])
    claim = queue.claim("w")
    assert claim is not None
    worker.work_on(claim, queue, tools, lambda: False)
    clock = queue._clock
    assert isinstance(clock, Clock)
    clock.time += 2900
    assert queue.claim("w") is None
    clock.time += 200
    service.hub.use_up(token.get_secret_value(), remaining=1000, reset_in_s=3000)
    again = queue.claim("w")
    assert again is not None
    worker.work_on(again, queue, tools, lambda: False)
    assert len(service.world.hosted.record.comments) == 1


def test_a_bug_is_tried_three_times_and_then_set_aside(queue: Queue, tools: WorkerTools) -> None:
    queue.add([delivery("push", b"not json")])
    assert attempts_until_aside(queue, tools) == 3
    (row,) = queue.aside()
    assert (row.reason, "JSONDecodeError" in row.detail) == ("bug", True)


def test_what_was_set_aside_is_listed_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    assert main(["serve", "--aside", "--state", str(state)]) == 2
    assert "there is no queue in" in capsys.readouterr().err
    queue = Queue(state)
    assert main(["serve", "--aside", "--state", str(state)]) == 0
    assert capsys.readouterr().out == "nothing was set aside\n"
    queue.add([delivery("push", b"{}")])
    claim = queue.claim("w")
    assert claim is not None
    queue.set_aside(claim, Reason.BUG, "::error::two\nlines")
    assert main(["serve", "--aside", "--state", str(state)]) == 0
    assert capsys.readouterr().out == f"a  {NAME}  push  [bug]  ::error::two lines\n"
    assert main(["serve", "--aside", "--json", "--state", str(state)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["reason"], row["attempts"]) == ("a", "bug", 1)
    queue.close()


def test_a_push_that_was_replaced_leads_to_nothing(
    service: Service, queue: Queue, tools: WorkerTools
) -> None:
    queue.add([delivery("push", json.dumps(push("a" * 40, "b" * 40)).encode())])
    assert attempts_until_aside(queue, tools) == 1
    assert queue.census().tallies["done:push-replaced"] == 1


def test_settings_show_no_secret(tmp_path: Path) -> None:
    environment = {
        "STRATWRIGHT_WEBHOOK_SECRET": SECRET,
        "STRATWRIGHT_APP_ID": "1",
        "STRATWRIGHT_APP_PRIVATE_KEY": PEM,
    }
    found = read_server_settings(tmp_path, environment=environment)
    assert SECRET not in repr(found)
    assert "PRIVATE KEY" not in repr(found)
