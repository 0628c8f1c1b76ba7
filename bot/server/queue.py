"""Deliveries on disk: accepted once, worked on one at a time for each repository, never lost.

SQLite in WAL mode with synchronous=FULL: when `add` returns, the delivery is on the disk
(docs/decisions/0006). A delivery that is worked on is leased to a worker; the lease is a lock that
the kernel drops when the worker dies, so neither a crash nor a wrong clock can leave one behind
or take one away.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from adapters.clock import Clock
from bot.clock import MACHINE_CLOCK
from bot.errors import InputError, WorldError
from bot.forge.reasons import Reason
from bot.server.deliveries import Delivery

FILE = "queue.sqlite3"
LONGEST_WAIT_S = 2 * 3600.0
KEEP_DAYS = 30
_VERSION = 1
_BUSY_S = 10.0
_SCHEMA = """
CREATE TABLE deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    repository TEXT NOT NULL,
    lane TEXT NOT NULL,
    installation INTEGER NOT NULL,
    state TEXT NOT NULL,
    received REAL NOT NULL,
    not_before REAL NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    finished REAL,
    body BLOB -- last, so that nobody reads through it to reach another column
);
CREATE INDEX states ON deliveries (state, received);
CREATE INDEX pending ON deliveries (lane, seq) WHERE state IN ('queued', 'leased');
CREATE INDEX ended ON deliveries (finished) WHERE state IN ('done', 'aside');
CREATE TABLE tallies (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
"""
# The oldest of each repository, if nobody works on it and its time has come. A time further away
# than any wait we ask for was written by a clock that has been set back since.
_NEXT = """
WITH heads AS (
    SELECT min(seq) AS seq FROM deliveries INDEXED BY pending
    WHERE state IN ('queued', 'leased') GROUP BY lane
)
SELECT seq FROM heads JOIN deliveries USING (seq)
WHERE state = 'queued' AND (not_before <= :now OR not_before > :now + :longest)
ORDER BY seq LIMIT 1
"""
_ONE = "SELECT id, event, repository, installation, body, attempts FROM deliveries WHERE seq = ?"

_RESTORE = (
    "Check the disk and restore the file from a backup; or move it away, start with an empty queue "
    "and redeliver what is missing from the App's page."
)


class State(StrEnum):
    """Where a delivery is."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    ASIDE = "aside"


class Added(StrEnum):
    """What became of a delivery that arrived."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class Claim:
    """A delivery that a worker holds."""

    seq: int  # counts up from delivery to delivery, also over a lost queue: it starts at the time
    owner: str
    attempts: int  # how often it was begun, this time included
    delivery: Delivery


@dataclass(frozen=True)
class Census:
    """What is in the queue now."""

    queued: int
    leased: int
    aside: int
    oldest_s: float
    tallies: dict[str, float]


@dataclass(frozen=True)
class Aside:
    """A delivery that was given up."""

    id: str
    event: str
    repository: str
    reason: str
    detail: str
    attempts: int


class Queue:
    """One connection to the queue of a state folder; a thread has its own."""

    def __init__(self, folder: Path, clock: Clock = MACHINE_CLOCK, *, tidies: bool = True) -> None:
        """Open the queue of a state folder.

        Where it `tidies`, a write may take longer now and then, to bring the WAL into the file;
        somebody who is waited for calls `tidy` at a better moment.
        """
        self._clock = clock
        self._db = _open(folder / FILE)
        if not tidies:
            self._db.execute("PRAGMA wal_autocheckpoint = 0")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def add(self, deliveries: Sequence[Delivery]) -> list[Added]:
        """Take deliveries, all or none; on the disk when this returns.

        One that was set aside before is queued again, behind what came since: somebody asked
        GitHub to deliver it again.

        Raises:
            sqlite3.Error: the disk did not take them.
        """
        with self._writing():
            return [self._add(delivery) for delivery in deliveries]

    def claim(self, owner: str) -> Claim | None:
        """Lease the next delivery that may be worked on."""
        given = {"now": self._clock.now().timestamp(), "longest": LONGEST_WAIT_S}
        if self._db.execute(_NEXT, given).fetchone() is None:
            return None
        with self._writing():
            row = self._db.execute(_NEXT, given).fetchone()
            if row is None:
                return None
            (seq,) = row
            *parts, attempts = self._db.execute(_ONE, (seq,)).fetchone()
            self._db.execute(
                "UPDATE deliveries SET state = 'leased', owner = ?, attempts = ? WHERE seq = ?",
                (owner, attempts + 1, seq),
            )
        return Claim(seq, owner, attempts + 1, Delivery(*parts))

    def finish(self, claim: Claim, outcome: str, detail: str = "") -> None:
        """Note that a delivery led to something, or to nothing; its body is not needed now."""
        with self._writing():
            self._end(claim, State.DONE, outcome, detail)

    def set_aside(self, claim: Claim, reason: Reason, detail: str) -> None:
        """Give a delivery up, with the reason; the body stays for whoever looks into it."""
        with self._writing():
            self._end(claim, State.ASIDE, reason, detail)

    def retry(self, claim: Claim, wait_s: float, reason: Reason, detail: str) -> None:
        """Put a delivery back for later; it keeps its place before those that came after it."""
        wait = min(max(wait_s, 0.0), LONGEST_WAIT_S)
        with self._writing():
            self._put_back(
                claim, self._clock.now().timestamp() + wait, claim.attempts, reason, detail
            )
            self._count("retried", 1)

    def release(self, claim: Claim) -> None:
        """Put a delivery back as if it had not been begun."""
        with self._writing():
            self._put_back(claim, 0.0, claim.attempts - 1, "", "")

    def recover(self, is_alive: Callable[[str], bool], most: int = 0) -> list[str]:
        """Take back what dead workers held; gives the ids of it.

        A delivery that was begun `most` times is set aside; with 0 it is not to blame.
        """
        rows = self._db.execute(
            "SELECT seq, id, owner, attempts FROM deliveries WHERE state = 'leased'"
        ).fetchall()
        lost = [row for row in rows if not is_alive(row[2])]
        if not lost:
            return []
        with self._writing():
            for seq, name, owner, attempts in lost:
                claim = Claim(seq, owner, attempts, Delivery(name, "", "", 0, b""))
                if most and attempts >= most:
                    detail = f"begun {attempts} times, and the worker died again"
                    self._end(claim, State.ASIDE, Reason.WORKER_DIED, detail)
                else:
                    begun = attempts if most else attempts - 1
                    self._put_back(claim, 0.0, begun, Reason.WORKER_DIED, "")
        return [row[1] for row in lost]

    def census(self) -> Census:
        """Count everything."""
        counts = dict(
            self._db.execute(
                "SELECT state, count(*) FROM deliveries WHERE state != 'done' GROUP BY state"
            )
        )
        (oldest,) = self._db.execute(
            "SELECT min(received) FROM deliveries WHERE state IN ('queued', 'leased')"
        ).fetchone()
        return Census(
            counts.get("queued", 0),
            counts.get("leased", 0),
            counts.get("aside", 0),
            0.0 if oldest is None else max(0.0, self._clock.now().timestamp() - oldest),
            dict(self._db.execute("SELECT name, value FROM tallies")),
        )

    def aside(self) -> tuple[Aside, ...]:
        """Everything that was given up, oldest first."""
        rows = self._db.execute(
            "SELECT id, event, repository, outcome, detail, attempts FROM deliveries "
            "WHERE state = 'aside' ORDER BY seq"
        )
        return tuple(Aside(*row) for row in rows)

    def count(self, tallies: dict[str, float]) -> None:
        """Add to figures that outlive the process."""
        with self._writing():
            for name, value in tallies.items():
                self._count(name, value)

    def check(self) -> None:
        """Write something and see it through to the disk.

        Raises:
            sqlite3.Error: the disk does not take it.
        """
        self.count({"checked": 1})

    def examine(self) -> None:
        """Read the whole file through once.

        Raises:
            WorldError: something in it is broken.
        """
        try:
            (found,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            found = str(error)
        if found != "ok":
            raise WorldError(f"the queue is damaged: {found}", _RESTORE)

    def tidy(self) -> None:
        """Bring the WAL into the file."""
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def forget(self) -> int:
        """Drop what ended long before GitHub stops offering to deliver it again (three days)."""
        before = self._clock.now().timestamp() - KEEP_DAYS * 86_400
        with self._writing():
            done = self._db.execute(
                "DELETE FROM deliveries WHERE state IN ('done', 'aside') AND finished < ?",
                (before,),
            )
            return done.rowcount

    def _add(self, delivery: Delivery) -> Added:
        known = self._db.execute(
            "SELECT seq, state FROM deliveries WHERE id = ?", (delivery.id,)
        ).fetchone()
        if known and known[1] != State.ASIDE:
            return Added.DUPLICATE
        (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM deliveries").fetchone()
        if known:
            self._db.execute("DELETE FROM deliveries WHERE seq = ?", (known[0],))
        now = self._clock.now().timestamp()
        self._db.execute(
            "INSERT INTO deliveries (seq, id, event, repository, lane, installation, body, state, "
            "received) VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
            (
                max(last + 1, int(now * 1000)),
                delivery.id,
                delivery.event,
                delivery.repository,
                delivery.repository.casefold(),
                delivery.installation,
                delivery.body,
                now,
            ),
        )
        return Added.ACCEPTED

    def _end(self, claim: Claim, state: State, outcome: str, detail: str) -> None:
        kept = "body" if state is State.ASIDE else "NULL"
        self._update(
            claim,
            f"state = ?, outcome = ?, detail = ?, finished = ?, body = {kept}",
            (state, outcome, detail[:2000], self._clock.now().timestamp()),
        )
        self._count(f"{state}:{outcome}", 1)

    def _put_back(
        self, claim: Claim, not_before: float, attempts: int, outcome: str, detail: str
    ) -> None:
        self._update(
            claim,
            "state = 'queued', owner = '', not_before = ?, attempts = ?, outcome = ?, detail = ?",
            (not_before, attempts, outcome, detail[:2000]),
        )

    def _update(self, claim: Claim, changes: str, values: tuple[object, ...]) -> None:
        """Change a delivery that is still leased to its holder."""
        done = self._db.execute(
            f"UPDATE deliveries SET {changes} "  # noqa: S608 - the changes are written above
            "WHERE seq = ? AND state = 'leased' AND owner = ?",
            (*values, claim.seq, claim.owner),
        )
        if done.rowcount != 1:
            raise WorldError(f"delivery {claim.delivery.id} is not leased to {claim.owner}")

    def _count(self, name: str, value: float) -> None:
        self._db.execute(
            "INSERT INTO tallies VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            (name, value),
        )

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it on the disk, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise


def _open(path: Path) -> sqlite3.Connection:
    """Open or make the file.

    Raises:
        InputError: it is of another version, or no queue.
        WorldError: it cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        _prepare(db, path)
    except sqlite3.DatabaseError as error:
        message = f"the queue {path} cannot be opened: {error}"
        raise WorldError(message, _RESTORE) from None
    except OSError as error:
        message = f"the queue {path} cannot be made: {error.strerror}"
        raise WorldError(message, "Name a folder that can be written: --state DIR.") from None
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables, once, whoever comes first."""
    db.execute("BEGIN IMMEDIATE")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    db.execute("COMMIT")
    if version not in (0, _VERSION):
        message = f"{path} is a queue of version {version}, this stratwright knows {_VERSION}"
        raise InputError(message, "Use the stratwright that wrote it, or another --state.")
