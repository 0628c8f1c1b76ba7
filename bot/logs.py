"""Log records to JSON lines: UTC, the correlation id in every one, no secrets, nothing to obey."""

import contextlib
import contextvars
import json
import logging
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from bot.errors import WorldError
from bot.files import append_line
from bot.redaction import HIDDEN, is_secret_name, known_secrets, redact

LOGGERS = ("bot", "sandbox_runner", "adapters", "Backtest")
NO_CORRELATION = "none"
FILE_LIMIT = 5_000_000
FILES_KEPT = 3
_correlation: contextvars.ContextVar[str] = contextvars.ContextVar(
    "correlation_id", default=NO_CORRELATION
)
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


@contextlib.contextmanager
def correlated(correlation_id: str) -> Iterator[None]:
    """Put an id on every line that is logged inside; threads take it along by copy_context."""
    token = _correlation.set(correlation_id)
    try:
        yield
    finally:
        _correlation.reset(token)


def set_up(
    file: Path | None = None, stream: TextIO | None = None, level: int = logging.INFO
) -> None:
    """Send our loggers' records to a file or a stream; calling it again replaces the last set-up.

    The file is turned over at 5 MB, and three older ones are kept.
    """
    handler = _LineHandler(file) if file else logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(known_secrets()))
    for name in LOGGERS:
        logger = logging.getLogger(name)
        for old in [each for each in logger.handlers if isinstance(each.formatter, JsonFormatter)]:
            logger.removeHandler(old)
            old.close()
        logger.addHandler(handler)
        logger.setLevel(level)
        # People's lines come from the commands; records must not reach a handler of somebody else.
        logger.propagate = False


def log_file(folder: Path) -> Path:
    """Where a repository's log is; folder is Repository.folder."""
    return folder / "logs" / "stratwright.jsonl"


class JsonFormatter(logging.Formatter):
    """One record, one line of ASCII JSON."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Write time, id, level, logger and event, then whatever was given as extra."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        extra = {key: value for key, value in vars(record).items() if key not in _PLAIN}
        values = {
            "timestamp": at.replace("+00:00", "Z"),
            "correlation_id": extra.pop("correlation_id", _correlation.get()),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **{key: value for key, value in extra.items() if key not in ("timestamp", "event")},
        }
        if record.exc_info and record.exc_info[0]:
            values["exception"] = self.formatException(record.exc_info)
        line = json.dumps(self._clean(values), default=str)
        # JSON escapes line ends and ANSI. GitHub obeys `::name::` and `##[name]` in what is logged;
        # written as escapes they are the same JSON and no command.
        return line.replace("::", "\\u003a\\u003a").replace("##[", "\\u0023\\u0023[")

    def _clean(self, value: object, depth: int = 0) -> object:
        if isinstance(value, dict) and depth < 8:
            return {
                redact(str(key), self._secrets): HIDDEN
                if is_secret_name(str(key)) and item
                else self._clean(item, depth + 1)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset) and depth < 8:
            return [self._clean(item, depth + 1) for item in value]
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        return redact(str(value), self._secrets)


class _LineHandler(logging.Handler):
    """Appends to a file that other runs append to as well."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Append a record; a log that cannot be written is told once and does not stop the work."""
        try:
            line = self.format(record).encode("ascii")
            append_line(self._path, line, keep=FILES_KEPT, limit=FILE_LIMIT)
        except WorldError as error:
            if not self._told:
                sys.stderr.write(f"log: {error.message}\n")
            self._told = True
        except (ValueError, TypeError):
            self.handleError(record)
