"""What a bus carries: events of fixed names on two channels."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from bot.errors import InputError

TASK_EVENTS = "task.events"
APPROVALS = "approvals"
CHANNELS = (TASK_EVENTS, APPROVALS)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_KEYS = ("event", "correlation_id", "timestamp", "workflow", "task", "data")
_LONGEST = 1_000_000


class EventName(StrEnum):
    """Everything that can happen."""

    TASK_DISPATCHED = "TASK_DISPATCHED"
    CODER_INVOKED = "CODER_INVOKED"
    CODER_COMPLETE = "CODER_COMPLETE"
    CODER_FAILED = "CODER_FAILED"
    CODER_VALIDATION_FAILED = "CODER_VALIDATION_FAILED"
    TEST_PASSED = "TEST_PASSED"
    TEST_FAILED = "TEST_FAILED"
    TODO_CREATED = "TODO_CREATED"
    ARTIFACT_COMMITTED = "ARTIFACT_COMMITTED"
    PR_OPENED = "PR_OPENED"
    APPROVAL_GRANTED = "APPROVAL_GRANTED"
    DEPLOYED = "DEPLOYED"
    HALTED = "HALTED"
    ROLLED_BACK = "ROLLED_BACK"

    @property
    def channel(self) -> str:
        """Approvals and what ends them have a channel of their own; the rest is a task's course."""
        deciding = ("APPROVAL_GRANTED", "DEPLOYED", "HALTED", "ROLLED_BACK")
        return APPROVALS if self.value in deciding else TASK_EVENTS


class EventError(InputError):
    """A line that is not an event."""


@dataclass(frozen=True)
class Event:
    """One thing that happened to one task."""

    name: EventName
    correlation_id: str
    workflow: str
    task: str
    timestamp: str  # ISO 8601 in UTC, ending in Z
    # What else there is to say; JSON values only.
    data: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not _TIME.fullmatch(self.timestamp):
            raise EventError(f"the timestamp {self.timestamp!r} is not ISO 8601 in UTC (…Z)")
        for label in ("correlation_id", "workflow", "task"):
            value = getattr(self, label)
            if not value or not value.isprintable() or len(value) > 200:
                raise EventError(f"the event's {label} is {value!r}, not a short plain text")

    @property
    def channel(self) -> str:
        """Where it is published."""
        return self.name.channel

    def to_json(self) -> str:
        """Write it on one line of plain ASCII."""
        values = {
            "event": self.name.value,
            "correlation_id": self.correlation_id,
            "timestamp": self.timestamp,
            "workflow": self.workflow,
            "task": self.task,
            "data": dict(self.data),
        }
        try:
            return json.dumps(values, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise EventError(
                f"the data of {self.name} cannot be written as JSON: {error}"
            ) from None


def parse_event(text: str | bytes) -> Event:
    """Read an event strictly: known name, all keys, no others.

    Raises:
        EventError: if it is anything else.
    """
    try:
        values = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or sorted(values) != sorted(_KEYS):
        raise EventError(f"an event is a JSON object with {', '.join(_KEYS)}")
    if not all(isinstance(values[key], str) for key in _KEYS[:-1]):
        raise EventError("an event's fields are texts")
    if not isinstance(values["data"], dict):
        raise EventError("an event's data is an object")
    if values["event"] not in EventName.__members__:
        raise EventError(f"there is no event {values['event']!r}")
    name = EventName(values.pop("event"))
    return Event(name=name, **{**values, "data": MappingProxyType(values["data"])})


Told = Callable[[str], None] | None


def read_event(place: str, text: str | bytes, on_bad: Told) -> Iterator[Event]:
    """Give the event that stands at a place; skip, with a note, what a crash or a stranger left."""
    try:
        yield parse_event(text)
    except (EventError, UnicodeDecodeError) as error:
        if on_bad:
            on_bad(f"{place}: skipped, {error}")


def check_channel(channel: str) -> None:
    """Refuse a channel that there is not.

    Raises:
        InputError: if there is no such channel.
    """
    if channel not in CHANNELS:
        hint = f"Channels are: {', '.join(CHANNELS)}."
        raise InputError(f"there is no channel {channel!r}", hint)


def timestamp(now: datetime) -> str:
    """Write a time in UTC, to the millisecond."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Bus(Protocol):
    """Carries events from those who publish to those who read."""

    def publish(self, event: Event) -> None:
        """Add an event to its channel."""

    def read(self, channel: str, on_bad: Told = None) -> Iterator[Event]:
        """Give all events of a channel, oldest first; on_bad is told what was skipped."""

    def follow(
        self,
        channel: str,
        stop: Callable[[float], bool],
        on_bad: Told = None,
        *,
        from_start: bool = True,
    ) -> Iterator[Event]:
        """Give events as they come; stop waits for the seconds it is given, and ends it if true."""


def open_bus(folder: Path, repository: str = "local") -> Bus:
    """Open the bus of a repository: Redis Streams by `REDIS_URL`, else files.

    Args:
        folder: `Repository.folder`, where the files are.
        repository: `Repository.repository_id`, which names the streams for all machines.
    """
    if url := os.environ.get("REDIS_URL"):
        from bot.bus.redis_streams import RedisBus

        return RedisBus(url, repository)
    from bot.bus.file import FileBus

    return FileBus(folder / "bus")
