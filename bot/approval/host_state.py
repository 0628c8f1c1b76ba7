"""Remembers on the host what nobody may make it forget: the last entry seen, starts and halts."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from bot.approval.chain import EVERYTHING, Seen
from bot.errors import WorldError
from bot.files import append_line, read_lines, write_files


@dataclass(frozen=True)
class Start:
    """A record that was started here: at which second, under which digest."""

    nonce: str
    digest: str
    at: int


@dataclass(frozen=True)
class HaltSeen:
    """An order to stop, wherever it came from; it voids what was issued until then."""

    scope: str
    at: int
    source: str
    reason: str = ""

    def covers(self, scope: str) -> bool:
        """Says whether it is about a task."""
        return self.scope in (EVERYTHING, scope)


Row = TypeVar("Row", Start, HaltSeen)
_TICK_S = 60
_TASK = re.compile(r"[a-z0-9-]{1,63}/[a-z0-9-]{1,63}", re.ASCII)


@dataclass(frozen=True)
class HostState:
    """The folder of one repository's state on this host."""

    folder: Path

    @property
    def seen(self) -> Seen | None:
        """Gives the last entry that was seen."""
        try:
            return Seen(**json.loads((self.folder / "seen.json").read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            path = self.folder / "seen.json"
            hint = "Restore it: without it a shortened branch would not be noticed."
            raise WorldError(f"{path} cannot be read", hint) from None

    def remember(self, seen: Seen | None) -> None:
        """Notes the last entry that was seen; what is noted never goes back."""
        known = self.seen
        if seen is not None and (known is None or seen.sequence > known.sequence):
            write_files(self.folder, {"seen.json": json.dumps(asdict(seen)) + "\n"})
            _sync(self.folder / "seen.json")

    def latest(self, now: int) -> int:
        """Gives the latest second ever seen here: a clock that is set back revives nothing."""
        path = self.folder / "clock"
        try:
            before = int(path.read_text("ascii"))
        except FileNotFoundError:
            before = 0
        except (OSError, ValueError):
            raise WorldError(
                f"{path} cannot be read", "Take it away if the clock is right."
            ) from None
        if now >= before + _TICK_S:
            write_files(self.folder, {path.name: f"{now}\n"})
        return max(now, before)

    def starts(self) -> dict[str, Start]:
        """Gives every start by its nonce; the first one counts."""
        found: dict[str, Start] = {}
        for start in self._rows("starts.jsonl", Start):
            found.setdefault(start.nonce, start)
        return found

    def note_start(self, start: Start) -> None:
        """Notes that a record was used; it is never used for another run."""
        self._note("starts.jsonl", start)

    def halts(self, now: int, heard: Iterable[HaltSeen] = ()) -> tuple[HaltSeen, ...]:
        """Gives every halt that was seen here, those heard elsewhere, and that of the file HALT.

        What is new is noted at once: taking the file or the bus away does not start anything
        again, as what was issued before stays void.
        """
        noted = [*self._rows("halts.jsonl", HaltSeen)]
        for halt in heard:
            if halt not in noted:
                self.note_halt(halt)
                noted.append(halt)
        there = []
        for path in self.halt_files():
            written = f"{path} {path.lstat().st_mtime_ns}"
            there.append(HaltSeen(_scope_in(path), now, "file", written))
            if written not in {halt.reason for halt in noted}:
                self.note_halt(there[-1])
        return (*noted, *there)

    def note_halt(self, halt: HaltSeen) -> None:
        """Notes a halt for good."""
        self._note("halts.jsonl", halt)

    def _note(self, name: str, row: Start | HaltSeen) -> None:
        append_line(self.folder / name, json.dumps(asdict(row)).encode())
        _sync(self.folder / name)

    def halt_files(self) -> Iterator[Path]:
        """Finds the files that order a halt: of this repository, and of the whole host."""
        for path in (self.folder / "HALT", self.folder.parent / "HALT"):
            # Whatever it is: a folder or a link that leads nowhere was meant as well.
            if os.path.lexists(path):
                yield path

    def _rows(self, name: str, kind: type[Row]) -> Iterator[Row]:
        path = self.folder / name
        try:
            for line in read_lines(path):
                if line.data:
                    yield kind(**json.loads(line.data))
        except (OSError, ValueError, TypeError):
            hint = "A crash may have torn a line: find out what it was, then take it out."
            raise WorldError(f"{path} cannot be read", hint) from None


def _sync(path: Path) -> None:
    """Waits until the disk has a file and its name: what is noted outlives a loss of power."""
    for each in (path, path.parent):
        descriptor = os.open(each, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _scope_in(path: Path) -> str:
    """Reads which task a file means; what is not the name of one means everything."""
    try:
        text = path.read_text("ascii").partition("\n")[0].strip() if path.is_file() else ""
        return text if _TASK.fullmatch(text) else EVERYTHING
    except (OSError, ValueError):
        return EVERYTHING


def open_state(repository_id: str, home: Path | None = None) -> HostState:
    """Opens the state of a repository, in `~/.local/state/stratwright/approvals`."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    folder = home or Path(base) / "stratwright" / "approvals"
    return HostState(folder / hashlib.sha256(repository_id.encode()).hexdigest()[:16])
