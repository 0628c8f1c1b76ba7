"""Frozen values to JSON files and back: each file whole or not there, lists only ever longer."""

import contextlib
import dataclasses
import json
import os
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from bot.errors import WorldError
from bot.files import append_line, read_lines

Record = TypeVar("Record")


def write_record(path: Path, record: object) -> None:
    """Put a record in its place in one step; a run that dies leaves the old one.

    Raises:
        WorldError: if the disk does not take it.
    """
    draft = path.with_name(f".{path.name}.part")
    text = json.dumps(to_plain(record), indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        message = f"cannot write {path}: {error.strerror}"
        raise WorldError(message, "Check the disk and the permissions under .git.") from None


def read_record(path: Path, kind: type[Record]) -> Record | None:
    """Read a record; None if there is no file.

    Raises:
        WorldError: if the file holds something else.
    """
    try:
        return from_plain(json.loads(path.read_bytes()), kind)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        message = f"{path} is not a {kind.__name__}: {error}"
        raise WorldError(message, "Restore or remove the file; it is not needed by Git.") from None


def append_record(path: Path, record: object) -> None:
    """Add a record to a list."""
    append_line(path, json.dumps(to_plain(record)).encode("ascii"))


def read_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Read a list; a line that a crash cut off is left out."""
    for line in read_lines(path):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            yield from_plain(json.loads(line.data), kind)


def to_plain(value: object) -> object:
    """Turn a frozen value into what JSON has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    return value.value if isinstance(value, StrEnum) else value


def from_plain(values: object, kind: type[Record]) -> Record:
    """Make a frozen value of it, strictly: its fields, no others, of their types."""
    if not isinstance(values, dict):
        raise TypeError("not an object")
    hints = typing.get_type_hints(kind)
    unknown = set(values) - set(hints)
    if unknown:
        raise KeyError(f"unknown {', '.join(sorted(unknown))}")
    return kind(**{name: _of_type(value, hints[name]) for name, value in values.items()})


def _of_type(value: object, kind: Any) -> object:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return from_plain(value, kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(str(value))
    if isinstance(kind, types.UnionType) or type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind}")
    return value
