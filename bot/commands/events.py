"""`stratwright events`: what is on the bus, once or as it comes."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.redaction import inert

if TYPE_CHECKING:
    from types import FrameType

    from bot.bus.port import Event


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add_channel(parser)
    parser.add_argument("--follow", action="store_true", help="wait for more until stopped")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def add_channel(parser: argparse.ArgumentParser) -> None:
    """Describe which events are wanted."""
    from bot.bus.port import CHANNELS, TASK_EVENTS

    parser.add_argument("--channel", default=TASK_EVENTS, choices=CHANNELS, help="which channel")
    parser.add_argument("--correlation-id", metavar="ID", help="only the events of one run")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )


def run(args: argparse.Namespace) -> int:
    """Print the events; being stopped while following is a normal end."""
    show(args, follow=args.follow, as_json=args.json)
    return 0


def show(args: argparse.Namespace, *, follow: bool, as_json: bool) -> None:
    """Print the wanted events until there are no more, or until stopped."""
    from bot.bus.port import open_bus
    from bot.git.repository import open_repository

    repository = open_repository(args.repository, to_write=False)
    bus = open_bus(repository.folder, repository.repository_id)
    with _until_stopped() as stopped:
        events = (
            bus.follow(args.channel, stopped.wait, _complain)
            if follow
            else bus.read(args.channel, _complain)
        )
        for event in events:
            if args.correlation_id in (None, event.correlation_id):
                sys.stdout.write((event.to_json() if as_json else line(event)) + "\n")
                sys.stdout.flush()
            if stopped.is_set():
                return


def line(event: "Event") -> str:
    """Write an event for people."""
    data = " ".join(f"{key}={value}" for key, value in event.data.items())
    task = f"{event.workflow}/{event.task}"
    text = f"{event.timestamp}  {event.correlation_id}  {task}  {event.name}  {data}"
    return inert(text.replace("\n", " ")).rstrip()


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """Take SIGINT and SIGTERM as the wish to end, and give the handlers back afterwards."""
    stopped = threading.Event()

    def stop(_number: int, _frame: "FrameType | None") -> None:
        stopped.set()

    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield stopped
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _complain(note: str) -> None:
    sys.stderr.write(f"{inert(note)}\n")
