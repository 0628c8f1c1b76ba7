"""Turns frozen values into JSON files and back: each file whole or not there, lists only longer."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.errors import WorldError
from bot.files import append_line, read_lines

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def write_record(path: Path, record: "DataclassInstance") -> None:
    """Put a record in its place in one step; a run that dies leaves the old one.

    Raises:
        WorldError: if the disk does not take it.
    """
    draft = path.with_name(f".{path.name}.part")
    text = json.dumps(dataclasses.asdict(record), indent=2) + "\n"
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
    """Read a record, strictly: its fields, no others, of their types; None if there is no file.

    Raises:
        WorldError: if the file holds something else.
    """
    try:
        found: Record = _reader(kind).validate_json(path.read_bytes())
        return found
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        message = f"{path} is not a {kind.__name__}: {where} {first['msg']}".replace(":  ", ": ")
        raise WorldError(message, "Restore or remove the file; it is not needed by Git.") from None


def append_record(path: Path, record: "DataclassInstance") -> None:
    """Add a record to a list."""
    append_line(path, json.dumps(dataclasses.asdict(record)).encode("ascii"))


def read_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Read a list; a line that a crash cut off is left out."""
    for line in read_lines(path):
        with contextlib.suppress(ValidationError):
            yield _reader(kind).validate_json(line.data)


@cache
def _reader(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
