"""Keeps every order that was about to be sent, so that none is sent twice or forgotten."""

import sqlite3
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

# intended: written before the call; placed: the exchange has it; absent: it never arrived;
# refused: the exchange said no.
OPEN_FATE = "intended"
_TABLE = """
CREATE TABLE IF NOT EXISTS intents (
    client TEXT PRIMARY KEY, symbol TEXT NOT NULL, side TEXT NOT NULL, type TEXT NOT NULL,
    tag TEXT NOT NULL, entry INTEGER NOT NULL, state TEXT NOT NULL, order_id TEXT NOT NULL,
    created REAL NOT NULL
) STRICT
"""


@dataclass(frozen=True)
class Intent:
    """One order that was about to be sent.

    Attributes:
        client: our id of it, which the exchange keeps.
        tag: the entry's tag, which names the decision; entry: whether it opens a trade.
        order_id: the exchange's id; empty while it is not known.
    """

    client: str
    symbol: str
    side: str
    type: str
    tag: str
    entry: bool
    state: str
    order_id: str
    created: float


class Intents:
    """The file of intents."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute(_TABLE)

    def write(self, symbol: str, side: str, kind: str, tag: str, *, entry: bool) -> Intent:
        """Writes an order down before it is sent; on the disk when this returns."""
        client = f"sw{uuid.uuid4().hex[:30]}"
        found = Intent(client, symbol, side, kind, tag, entry, OPEN_FATE, "", time.time())
        row = (client, symbol, side, kind, tag, int(entry), OPEN_FATE, "", found.created)
        self._database.execute("INSERT INTO intents VALUES (?,?,?,?,?,?,?,?,?)", row)
        return found

    def settle(self, client: str, state: str, order_id: str = "") -> None:
        """Writes down what became of it."""
        words = "UPDATE intents SET state = ?, order_id = ? WHERE client = ?"
        self._database.execute(words, (state, order_id, client))

    def of_state(self, state: str) -> list[Intent]:
        """Gives the intents of a state, oldest first."""
        words = "SELECT * FROM intents WHERE state = ? ORDER BY created"
        rows = self._database.execute(words, (state,)).fetchall()
        return [replace(Intent(*row), entry=bool(row[5])) for row in rows]
