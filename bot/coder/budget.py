"""Holds what models may cost: for one invocation, and for the day of everybody on this machine.

The day's ledger is a file of JSON lines, one for each sum that was set aside before a call and one
for what the call cost. A process that dies between the two leaves the larger sum booked.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.clock import Clock
from bot.clock import MACHINE_CLOCK
from bot.coder.model.prices import dollars
from bot.errors import SafetyStop, WorldError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_MOST_BYTES = 50_000_000


class BudgetSpent(SafetyStop):
    """A call was not made because it could have passed a limit."""


def ledger_folder() -> Path:
    """Where the days' ledgers of this user lie; not in the cache, which people empty."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "stratwright" / "costs"


@dataclass
class Budget:
    """Counts one invocation, and the day that it shares; sums are millionths of a dollar."""

    most_here: int
    most_today: int
    folder: Path
    clock: Clock = MACHINE_CLOCK
    spent: int = 0
    _open: dict[str, tuple[Path, int]] = field(default_factory=dict)

    def set_aside(self, most: int) -> str:
        """Book what a call can cost at most; gives a name to settle it by.

        Raises:
            BudgetSpent: it could pass a limit; nothing was booked.
            WorldError: the ledger cannot be read or written, so nothing may be spent.
        """
        if self.spent + most > self.most_here:
            raise _spent("max_cost_per_invocation_usd", self.spent, most, self.most_here)
        path = self.folder / f"{self.clock.now().date().isoformat()}.jsonl"
        name = secrets.token_hex(8)
        with _locked(path) as descriptor:
            today = _sum(descriptor, path)
            if today + most > self.most_today:
                raise _spent("max_cost_per_day_usd", today, most, self.most_today)
            _append(descriptor, {"call": name, "most": most})
        self._open[name] = (path, most)
        return name

    def settle(self, name: str, cost: int | None) -> int:
        """Book what a call cost; None where nobody can tell, which counts as the most it could."""
        path, most = self._open.pop(name)
        paid = most if cost is None else cost
        self.spent += paid
        with _locked(path) as descriptor:
            _append(descriptor, {"call": name, "cost": paid})
        return paid


def _spent(key: str, before: int, most: int, limit: int) -> BudgetSpent:
    return BudgetSpent(
        f"the next call to the model could cost {dollars(most)} US dollars; with the "
        f"{dollars(before)} spent so far that would pass coder.{key} ({dollars(limit)})",
        f"Nothing more was asked. Raise {key} in stratwright.yml, or write the expression.",
    )


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise _unusable(path, error.strerror or "unknown reason") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _append(descriptor: int, line: dict[str, object]) -> None:
    os.write(descriptor, (json.dumps(line) + "\n").encode())


def _sum(descriptor: int, path: Path) -> int:
    """Add up the day: what calls cost, and the most of those that are not settled."""
    data = os.pread(descriptor, _MOST_BYTES + 1, 0)
    most: dict[str, int] = {}
    cost: dict[str, int] = {}
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError("it is too large")
        for text in data.decode("ascii").splitlines():
            line = json.loads(text)
            booked = most if "most" in line else cost
            booked[str(line["call"])] = int(line["most" if "most" in line else "cost"])
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable(path, str(error)) from None
    return sum((most | cost).values())


def _unusable(path: Path, reason: str) -> WorldError:
    message = f"the ledger of what models cost cannot be used: {path}: {reason}"
    return WorldError(message, "No model is asked without it. Mend or remove the file.")
