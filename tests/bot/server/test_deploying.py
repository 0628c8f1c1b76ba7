"""A comment becomes a signed record through a real server process, which keeps the key itself."""

import json
from pathlib import Path

import pytest

from bot.approval.chain import Approval, Halt
from bot.approval.sshsig import verify
from tests.bot.approval.keys import Key
from tests.bot.server.service import Service
from tests.bot.workflow.deploys import SETTINGS, Scene
from tests.bot.workflow.hub import HOUSE, git, push

DIP = (HOUSE / "contracts/oversold_dip.yaml").read_text()
KEY = Key("deploy@paper")


@pytest.fixture
def service(service: Service, memory: Path) -> Service:
    """One whose sandbox is asked each question once in all tests."""
    service.program = (str(HOUSE / "tests/bot/server/asked_once.py"),)
    service.hub.state.mails["somebody@example.com"] = "alice"
    service.hub.add_user("bob", id=3001)
    service.world.hosted.set_permission("bob", "write")
    granted = service.hub.state.installations[service.installation].permissions
    granted["deployments"] = "write"
    return service


def proposed(service: Service) -> Scene:
    before, after = service.world.commit({"contracts/dip.yaml": DIP, "stratwright.yml": SETTINGS})
    service.start()
    service.deliver("push", push(before, after))
    service.settle()
    head = git(service.world.bare, "rev-parse", "ai/generated/oversold-dip/strategy")
    return Scene(service.world, "", head)


def test_the_server_signs_with_its_own_key_what_a_person_approved_and_halts_it(
    service: Service,
) -> None:
    service.more["STRATWRIGHT_DEPLOY_PRIVATE_KEY"] = KEY.pem
    scene = proposed(service)
    event = scene.commented(scene.approval())
    for _ in range(2):  # another delivery of the same comment gives no second record
        service.deliver(*event)
        service.settle()
    (entry,) = scene.chain.entries
    assert isinstance(entry, Approval), service.log[-20:]
    assert verify(entry.signature, entry.record.data) == KEY.blob
    assert (entry.record.commit, entry.record.approvers) == (scene.head, ("github:3001",))
    assert scene.states() == ["success"]
    service.deliver(*scene.commented(scene.say("/stratwright halt", "alice")))
    service.settle()
    assert isinstance(scene.chain.entries[-1], Halt)
    assert scene.states() == ["inactive"]
    assert service.stop() == 0
    assert KEY.pem.splitlines()[1] not in json.dumps(service.log)


def test_a_server_without_a_key_approves_nothing_and_says_so(service: Service) -> None:
    scene = proposed(service)
    service.deliver(*scene.commented(scene.approval()))
    service.settle()
    assert "`no-key`" in scene.told
    assert scene.chain.entries == ()
