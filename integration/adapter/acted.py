"""Remembers on the disk which decisions were acted on, with their stops: each at most once."""

import fcntl
import json
import os
import socket
from pathlib import Path
from typing import Any

from integration.publish import claim
from integration.schema.signal import TradingSignal

KEYS = ("initial_stop", "tp1", "tp2", "decision_id")
_KEPT = 1000


def info_of(signal: TradingSignal) -> dict[str, Any]:
    """Gives what a strategy keeps of a signal."""
    values = (signal.risk.initial_stop, signal.tp1, signal.tp2, signal.decision_id)
    return dict(zip(KEYS, values, strict=True))


class Claims:
    """The decisions that one Freqtrade has taken; a line is on the disk before an order is sent."""

    def __init__(self, logs: Path) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._path = (logs / "acted.jsonl").resolve()
        self._who = f"{socket.gethostname()}:{self._path}"
        self._rows: dict[str, dict[str, Any]] = {}
        self._place = 0

    def take(self, signal: TradingSignal) -> bool:
        """Takes a decision; False if it was taken before, here or elsewhere.

        Raises:
            WorldError: Redis did not answer; nothing was taken.
        """
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if self.find(signal.decision_id) or not claim(signal.decision_id, self._who):
                return False
            # A line feed first ends a line that a crash tore.
            os.write(handle, f"\n{json.dumps(info_of(signal))}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        return True

    def find(self, decision_id: str) -> dict[str, Any] | None:
        """Gives the stops of a decision that was taken."""
        self._read()
        return self._rows.get(decision_id)

    def _read(self) -> None:
        """Reads what was added since the last look."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._place += len(whole)
        for line in whole.splitlines():
            try:
                row = json.loads(line)
                self._rows[row["decision_id"]] = {key: row[key] for key in KEYS}
            except (ValueError, LookupError, TypeError):
                continue  # empty, or torn by a crash before any order was sent
        while len(self._rows) > _KEPT:
            del self._rows[next(iter(self._rows))]
