"""Every backend of the bus carries the same events in the same way."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.bus.file import FileBus
from bot.bus.port import Bus, open_bus
from bot.bus.redis_streams import RedisBus
from bot.cli import main
from bot.errors import InputError
from tests.bot.bus.test_file_bus import event, never
from tests.bot.git.worlds import HOUSE, World, make_world
from tests.redis_server import start_redis

REPOSITORY = "owner/name"
# Publishes numbered events, as another program would.
WRITER = """
import sys
from pathlib import Path
from bot.bus.port import Event, EventName, open_bus
for number in range(40):
    open_bus(Path(sys.argv[1]), "owner/name").publish(
        Event(EventName.TEST_PASSED, "corr_0123456789ab", "w", "t", "2026-11-07T14:30:00Z",
              {"writer": sys.argv[2], "n": number}))
"""


@pytest.fixture(params=["file", "redis"])
def bus(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bus]:
    if request.param == "file":
        yield open_bus(tmp_path, REPOSITORY)
        return
    for server in start_redis():
        monkeypatch.setenv("REDIS_URL", server.url)
        yield open_bus(tmp_path, REPOSITORY)


def spoil(bus: Bus, text: str) -> None:
    """Writes what is no event, past the port."""
    if isinstance(bus, FileBus):
        with bus.path("task.events").open("a") as file:
            file.write(text + "\n")
    else:
        assert isinstance(bus, RedisBus)
        bus._redis.xadd(bus.key("task.events"), {"event": text})


def test_events_come_back_in_order_from_their_own_channel(bus: Bus) -> None:
    sent = [event(number=number, text="line\nend \u2028 \x1b[31m") for number in range(3)]
    for each in sent:
        bus.publish(each)
    bus.publish(event("APPROVAL_GRANTED"))
    assert list(bus.read("task.events")) == sent
    assert list(bus.read("approvals")) == [event("APPROVAL_GRANTED")]


def test_more_events_than_a_page_come_back_once_each(bus: Bus) -> None:
    for number in range(510):
        bus.publish(event(n=number))
    assert [each.data["n"] for each in bus.read("task.events")] == list(range(510))
    assert len(list(bus.follow("task.events", never))) == 510


def test_what_is_no_event_is_skipped_with_a_note(bus: Bus) -> None:
    bus.publish(event(n=1))
    spoil(bus, '{"event": "TEST_PA')
    bus.publish(event(n=3))
    notes: list[str] = []
    assert [each.data["n"] for each in bus.read("task.events", notes.append)] == [1, 3]
    assert len(notes) == 1
    assert "task.events" in notes[0]
    assert "skipped" in notes[0]
    assert [each.data["n"] for each in bus.read("task.events")] == [1, 3]


def test_a_follower_sees_what_comes_later_once(bus: Bus) -> None:
    bus.publish(event(n=0))

    def publish_two_more() -> Callable[[float], bool]:
        left = [1, 2]

        def stop(_seconds: float) -> bool:
            if not left:
                return True
            bus.publish(event(n=left.pop(0)))
            return False

        return stop

    assert [e.data["n"] for e in bus.follow("task.events", publish_two_more())] == [0, 1, 2]
    late = bus.follow("task.events", publish_two_more(), from_start=False)
    assert [each.data["n"] for each in late] == [1, 2]


def test_an_unknown_channel_is_named(bus: Bus) -> None:
    with pytest.raises(InputError, match=r"no channel 'task\.event'") as stop:
        list(bus.read("task.event"))
    assert "task.events, approvals" in stop.value.hint


def test_writers_at_once_lose_nothing_and_keep_their_own_order(bus: Bus, tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(name)], cwd=HOUSE)
        for name in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    seen = [(each.data["writer"], each.data["n"]) for each in bus.read("task.events")]
    assert len(seen) == 120
    for name in ("0", "1", "2"):
        assert [n for writer, n in seen if writer == name] == list(range(40))


def test_a_follower_in_a_thread_hears_another_program(bus: Bus, tmp_path: Path) -> None:
    heard: list[object] = []
    enough = threading.Event()

    def listen() -> None:
        for each in bus.follow("task.events", enough.wait):
            heard.append(each.data["n"])
            if len(heard) == 40:
                enough.set()

    listener = threading.Thread(target=listen)
    listener.start()
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path), "a"], cwd=HOUSE, check=True)
    listener.join()
    assert heard == list(range(40))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "world", remote=False)


def test_the_commands_read_what_was_published(
    bus: Bus, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = world.open()
    own = open_bus(repository.folder, repository.repository_id)
    own.publish(event(n=1))
    assert type(own) is type(bus)
    assert main(["events", "--repository", str(world.work), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == {"n": 1}
    done = subprocess.run(
        [sys.executable, "tools/monitor_message_bus.py", "--once", "--repository", world.work],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["data"] == {"n": 1}
