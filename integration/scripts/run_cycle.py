"""Runs one cycle: candles, signal, risk, publish, log; prints NO_TRADE or the signal as JSON.

`python -m integration.scripts.run_cycle`, or by its path.
"""

import argparse
import fcntl
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    # Started by its path: only this folder is on the path then, not the house.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bot.errors import StratwrightError, WorldError
from integration.config.config import load_config
from integration.data import get_candles
from integration.logging_utils import append_decision, prepare_decisions
from integration.publish import parse_signal, publish_signal, published
from integration.risk import apply_risk
from integration.schema.signal import TradingSignal
from integration.signal_gen import generate_signal

LOGS = Path("decision_logs")
NO_TRADE = "NO_TRADE"
_MAX_AGE_S = 600
Source = Callable[[Sequence[dict[str, Any]], str], TradingSignal | None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a cycle and gives the exit code."""
    parser = argparse.ArgumentParser(description="Decide once, and publish the signal if any.")
    parser.add_argument("--logs", type=Path, default=LOGS, help="default: decision_logs")
    args = parser.parse_args(arguments)
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    begun = time.perf_counter()
    try:
        signal = run_cycle(args.logs)
    except StratwrightError as error:
        sys.stderr.write(f"{error.message}. {error.hint}\n")
        sys.stdout.write(f"{NO_TRADE}\n")
        return error.exit_code
    sys.stdout.write(f"{signal.model_dump_json() if signal else NO_TRADE}\n")
    sys.stderr.write(f"latency_s={time.perf_counter() - begun:.3f}\n")
    return 0


def run_cycle(
    logs: Path = LOGS, source: Source = generate_signal, count: int = 200
) -> TradingSignal | None:
    """Decides once; what a killed cycle left is finished first.

    Args:
        logs: the folder of decision_log.csv.
        source: what turns candles and a symbol into a signal.
        count: how many candles it is given.

    Raises:
        InputError: a setting is wrong.
        WorldError: exchange or Redis did not answer; nothing is half done after the next cycle.
    """
    cfg = load_config()
    outbox = Outbox(logs)
    with outbox.alone():
        outbox.finish()
        candles = get_candles(cfg["symbol"], count)
        signal = source(candles, cfg["symbol"])
        if signal is None:
            return None
        approved = apply_risk(signal, candles, cfg)
        if approved is None or published(approved.decision_id):
            return None
        outbox.put(approved)
        outbox.finish()
        return approved


class Outbox:
    """Holds the one decision that is being published, so that Redis and the log agree.

    The decision is on the disk before Redis hears of it, and is taken away when both have it. A
    cycle that is killed in between is finished by the next one.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._file = logs / "outbox.json"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lets one cycle at a time use the folder.

        Raises:
            WorldError: it cannot be written.
        """
        try:
            self._logs.mkdir(parents=True, exist_ok=True)
            with (self._logs / "cycle.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            message = f"{error.filename or self._logs} cannot be used: {error.strerror}"
            raise WorldError(message, "Nothing is decided without a log.") from None

    def put(self, signal: TradingSignal) -> None:
        """Writes the decision, whole or not at all."""
        self._logs.mkdir(parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        with new.open("w") as file:
            file.write(signal.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._file)

    def finish(self) -> None:
        """Publishes and logs what is there; what is too old and was never published is dropped.

        Raises:
            WorldError: Redis did not answer; the decision stays for the next cycle.
        """
        try:
            signal = parse_signal(self._file.read_text(errors="replace"))
        except FileNotFoundError:
            return
        except ValueError:
            hint = "Look at it, and remove it if nothing of it is wanted."
            raise WorldError(f"{self._file} is no signal; nothing is decided", hint) from None
        log = self._logs / "decision_log.csv"
        prepare_decisions(log)
        age = (datetime.now(UTC) - signal.timestamp).total_seconds()
        if published(signal.decision_id) or age <= _MAX_AGE_S:
            publish_signal(signal)
            append_decision(signal, log)
        else:
            logging.getLogger(__name__).warning("%s: dropped, too old", signal.decision_id)
        self._file.unlink()


if __name__ == "__main__":
    sys.exit(main())
