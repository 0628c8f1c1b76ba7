"""The bus as files: one append-only file of JSON lines for each channel."""

from collections.abc import Callable, Iterator
from pathlib import Path

from bot.bus.port import Event, Told, check_channel, read_event
from bot.files import Line, append_line, read_lines

_PAUSE_S = 0.2


class FileBus:
    """Events under a folder; any number of programs may publish and read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, event: Event) -> None:
        """Append an event to its channel's file."""
        append_line(self.path(event.channel), event.to_json().encode("ascii"))

    def read(self, channel: str, on_bad: Told = None) -> Iterator[Event]:
        """Give all events of a channel, oldest first."""
        path = self.path(channel)
        for line in read_lines(path):
            yield from read_event(_place(path, line), line.data, on_bad)

    def follow(
        self,
        channel: str,
        stop: Callable[[float], bool],
        on_bad: Told = None,
        *,
        from_start: bool = True,
    ) -> Iterator[Event]:
        """Give events as they come, until stop says so."""
        path = self.path(channel)
        place = 0 if from_start else sum(len(line.data) + 1 for line in read_lines(path))
        while True:
            for line in read_lines(path, place):
                place = line.end
                yield from read_event(_place(path, line), line.data, on_bad)
            if stop(_PAUSE_S):
                return

    def path(self, channel: str) -> Path:
        """The file of a channel.

        Raises:
            InputError: if there is no such channel.
        """
        check_channel(channel)
        return self._folder / f"{channel}.jsonl"


def _place(path: Path, line: Line) -> str:
    return f"{path}, byte {line.end - len(line.data) - 1}"
