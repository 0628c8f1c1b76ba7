import json
import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from bot.bus.file import FileBus
from bot.bus.port import CHANNELS, Event, EventError, EventName, open_bus, parse_event, timestamp
from bot.cli import main
from tests.bot.git.worlds import HOUSE, World, make_world

NAMES = [
    "TASK_DISPATCHED",
    "CODER_INVOKED",
    "CODER_COMPLETE",
    "CODER_FAILED",
    "CODER_VALIDATION_FAILED",
    "TEST_PASSED",
    "TEST_FAILED",
    "TODO_CREATED",
    "ARTIFACT_COMMITTED",
    "PR_OPENED",
    "APPROVAL_GRANTED",
    "DEPLOYED",
    "HALTED",
    "ROLLED_BACK",
]


def event(name: str = "TEST_PASSED", run: str = "corr_0123456789ab", **data: object) -> Event:
    return Event(EventName(name), run, "oversold-dip", "strategy", "2026-11-07T14:30:00Z", data)


def never(_seconds: float) -> bool:
    return True


def test_the_names_and_channels_are_the_documented_ones() -> None:
    assert [name.value for name in EventName] == NAMES
    assert CHANNELS == ("task.events", "approvals")
    deciding = {"APPROVAL_GRANTED", "DEPLOYED", "HALTED", "ROLLED_BACK"}
    assert {name for name in NAMES if event(name).channel == "approvals"} == deciding
    assert {event(name).channel for name in set(NAMES) - deciding} == {"task.events"}


def test_the_files_are_plain_ascii(tmp_path: Path) -> None:
    open_bus(tmp_path).publish(event(text="line\nend \u2028 \x1b[31m"))
    assert (tmp_path / "bus/task.events.jsonl").read_bytes().isascii()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"event":',
        event().to_json().replace("TEST_PASSED", "TEST_PAST"),
        event().to_json().replace('"task"', '"tusk"'),
        event().to_json().replace('"strategy"', "7"),
        event().to_json().replace("{}", "[]"),
        event().to_json().replace("14:30:00Z", "14:30:00+01:00"),
        event().to_json()[:-1] + ', "more": 1}',
        "[" * 100_000,
    ],
)
def test_what_is_not_an_event_is_refused(text: str) -> None:
    with pytest.raises(EventError):
        parse_event(text)


def test_an_event_that_cannot_be_written_is_refused() -> None:
    for data in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(EventError):
            event(**data).to_json()
    with pytest.raises(EventError):
        Event(EventName.HALTED, "", "w", "t", "2026-11-07T14:30:00Z")


def test_times_are_utc() -> None:
    local = datetime(2026, 11, 7, 15, 30, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(local) == "2026-11-07T14:30:00.000Z"


def test_a_torn_line_is_skipped_with_a_note(tmp_path: Path) -> None:
    bus = FileBus(tmp_path)
    bus.publish(event(n=1))
    with bus.path("task.events").open("ab") as file:
        file.write(event(n=2).to_json().encode()[:40])
    bus.publish(event(n=3))
    notes: list[str] = []
    assert [each.data["n"] for each in bus.read("task.events", notes.append)] == [1, 3]
    assert len(notes) == 1
    assert "task.events.jsonl, byte" in notes[0]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, remote=False)


def test_the_command_prints_events_of_one_run(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = open_bus(world.open().folder)
    bus.publish(event(note="::error::\x1b[31mred"))
    bus.publish(event(run="corr_ba9876543210"))
    arguments = ["events", "--repository", str(world.work), "--correlation-id"]
    assert main([*arguments, "corr_ba9876543210", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["correlation_id"] == "corr_ba9876543210"
    assert main([*arguments, "corr_0123456789ab"]) == 0
    shown = capsys.readouterr().out
    assert "oversold-dip/strategy  TEST_PASSED" in shown
    assert "\x1b" not in shown
    assert main(["events", "--channel", "nothing"]) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", [True, False])
def test_the_monitor_follows_and_ends_cleanly(world: World, number: int, module: bool) -> None:
    bus = open_bus(world.open().folder)
    bus.publish(event(n=1))
    start = ["-m", "tools.monitor_message_bus"] if module else ["tools/monitor_message_bus.py"]
    command = [sys.executable, *start, "--channel", "task.events", "--repository", str(world.work)]
    with subprocess.Popen(
        command, cwd=HOUSE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["data"] == {"n": 1}
        bus.publish(event(n=2))
        assert json.loads(child.stdout.readline())["data"] == {"n": 2}
        os.kill(child.pid, number)
        out, err = child.communicate(timeout=10)
        assert (child.returncode, out, err) == (0, "", "")


def test_the_monitor_can_look_once(world: World) -> None:
    open_bus(world.open().folder).publish(event(n=1))
    script = HOUSE / "tools/monitor_message_bus.py"
    done = subprocess.run(
        [sys.executable, script, "--channel", "task.events", "--once"],
        cwd=world.work,
        capture_output=True,
        text=True,
        check=True,
    )
    assert parse_event(done.stdout) == event(n=1)
    outside = subprocess.run(
        [sys.executable, script, "--once"], cwd="/", capture_output=True, text=True, check=False
    )
    assert outside.returncode == 2
    assert "not inside a Git repository" in outside.stderr
