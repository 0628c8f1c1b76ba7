"""kill -9 at random moments while deliveries are in flight: each is done once in effect."""

import random
import re
import threading
import time
from collections import Counter
from pathlib import Path

from tests.bot.server.service import Service, wait_for
from tests.bot.workflow.hub import HOUSE, comment, git, push

DELIVERIES = 24
ISSUES = 8
KILLS = 3
SEED = 20261116
DIP = (HOUSE / "contracts/oversold_dip.yaml").read_text()


def commands(service: Service) -> list[dict[str, object]]:
    """Commands that each ask for one comment, under many issues."""
    hosted = service.world.hosted
    numbers = [hosted.open_issue("Strategy", "x", "alice").number for _ in range(ISSUES)]
    return [
        comment(numbers[n % ISSUES], "/stratwright explain", comment_id=9000 + n)
        for n in range(DELIVERIES)
    ]


def send_all(service: Service, payloads: list[dict[str, object]], answers: Counter[int]) -> None:
    """Deliver each until it is accepted, as an operator who presses Redeliver would."""
    for n, payload in enumerate(payloads):
        while True:
            try:
                answer = service.deliver("issue_comment", payload, f"delivery-{n:04}")
            except OSError:
                time.sleep(0.05)
                continue
            answers[answer.status] += 1
            if answer.status in (200, 202):
                break


def test_no_delivery_is_lost_and_none_is_done_twice(service: Service) -> None:
    chance = random.Random(SEED)
    service.arguments = ("--workers", "2", "--grace", "5")
    payloads, answers = commands(service), Counter[int]()
    service.start()
    sender = threading.Thread(target=send_all, args=(service, payloads, answers))
    sender.start()

    def done() -> bool:
        return not sender.is_alive() and service.idle

    for _ in range(KILLS):
        time.sleep(chance.uniform(0.3, 2.5))
        # At work, where there is work: a kill of an idle server shows little.
        wait_for(lambda: service.figure("queue_leased") or done(), "some work")
        service.kill()
        service.start()
    sender.join(120)
    assert not sender.is_alive()
    service.settle(400)
    said = [each.body for each in service.world.hosted.record.comments.values()]
    markers = Counter(re.findall(r"stratwright:order:(\d+)", "\n".join(said)))
    assert len(said) == DELIVERIES
    assert markers == Counter(str(9000 + n) for n in range(DELIVERIES))
    assert service.figure("queue_aside") == 0
    # Whoever was told "accepted" twice was told so by two servers with two memories.
    assert answers[202] <= DELIVERIES
    assert answers[200] + answers[202] >= DELIVERIES
    assert any("taken back from a dead worker" in line for line in service.log)


def test_a_push_whose_work_is_killed_again_and_again_gives_one_of_each(
    service: Service, memory: Path
) -> None:
    """What the sandbox had answered before a kill, it is not asked again."""
    chance = random.Random(SEED)
    service.program = (str(HOUSE / "tests/bot/server/asked_once.py"),)
    before, after = service.world.commit({"contracts/dip.yaml": DIP})
    service.start()
    assert service.deliver("push", push(before, after)).status == 202
    for _ in range(2):
        time.sleep(chance.uniform(1.5, 6.0))
        service.kill()
        service.start()
    service.settle(300)
    record = service.world.hosted.record
    assert [(each.state, each.pull is not None) for each in record.issues.values()] == [
        ("open", True)
    ]
    assert service.world.branches == ["ai/generated/oversold-dip/strategy"]
    assert len(git(service.world.bare, "tag", "--list").split()) == 1
    assert len(record.checks) == 1
