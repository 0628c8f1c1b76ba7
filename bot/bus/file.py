"""The bus as files: one append-only file of JSON lines for each channel."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bot.bus.port import CHANNELS, Event, EventError, parse_event
from bot.errors import InputError
from bot.files import Line, append_line, read_lines

_PAUSE_S = 0.2


class FileBus:
    """Events under a folder; any number of programs may publish and read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, event: Event) -> None:
        """Append an event to its channel's file."""
        append_line(self.path(event.channel), event.to_json().encode("ascii"))

    def read(self, channel: str, on_bad: Callable[[str], None] | None = None) -> Iterator[Event]:
        """Give all events of a channel, oldest first."""
        for line in read_lines(self.path(channel)):
            yield from self._parse(channel, line, on_bad)

    def follow(
        self,
        channel: str,
        stop: Callable[[float], bool],
        on_bad: Callable[[str], None] | None = None,
        *,
        from_start: bool = True,
    ) -> Iterator[Event]:
        """Give events as they come, until stop says so."""
        path = self.path(channel)
        place = 0 if from_start else sum(len(line.data) + 1 for line in read_lines(path))
        while True:
            for line in read_lines(path, place):
                place = line.end
                yield from self._parse(channel, line, on_bad)
            if stop(_PAUSE_S):
                return

    def path(self, channel: str) -> Path:
        """The file of a channel.

        Raises:
            InputError: if there is no such channel.
        """
        if channel not in CHANNELS:
            message = f"there is no channel {channel!r}"
            raise InputError(message, f"Channels are: {', '.join(CHANNELS)}.")
        return self._folder / f"{channel}.jsonl"

    def _parse(
        self, channel: str, line: Line, on_bad: Callable[[str], None] | None
    ) -> Iterator[Event]:
        """Skip, with a note, what a crash or a stranger left."""
        try:
            yield parse_event(line.data)
        except (EventError, UnicodeDecodeError) as error:
            if on_bad:
                start = line.end - len(line.data) - 1
                on_bad(f"{self.path(channel)}, byte {start}: skipped, {error}")
