"""Lists the seven tools of a coder that writes files, and carries their calls out."""

import json
from collections.abc import Mapping
from typing import Protocol

_LONGEST = 20_000
_TEXT = {"type": "string"}
# Name, what it does, its arguments; all but those with a question mark are needed.
_TABLE: dict[str, tuple[str, dict[str, dict[str, str]]]] = {
    "read_file": ("Read a file.", {"path": _TEXT}),
    "write_file": ("Write a whole file that the plan names.", {"path": _TEXT, "content": _TEXT}),
    "edit_file": (
        "Replace a text that occurs exactly once in a file that the plan names.",
        {"path": _TEXT, "old": _TEXT, "new": _TEXT},
    ),
    "list_files": ("List a folder; folders end with a slash.", {"path?": _TEXT}),
    "search_code": ("Find the lines that hold a text.", {"text": _TEXT, "path?": _TEXT}),
    "get_file_info": ("Give a file's size, lines and digest.", {"path": _TEXT}),
    "finish": (
        "End the task: success true once all planned files are written, else say why not.",
        {"success": {"type": "boolean"}, "summary": _TEXT},
    ),
}
NAMES = tuple(_TABLE)


class ToolRefused(Exception):
    """A call was not carried out; the model is told why."""


class Finished(Exception):
    """The model says that it is done."""

    def __init__(self, success: bool, summary: str) -> None:
        super().__init__(summary)
        self.success = success
        self.summary = summary


class Place(Protocol):
    """Reads and writes files for the tools."""

    def read(self, path: str) -> str:
        """Give a file's text."""

    def write(self, path: str, text: str) -> None:
        """Put a file in place."""

    def names(self, path: str) -> list[str]:
        """Name what is in a folder."""

    def info(self, path: str) -> dict[str, object]:
        """Describe a file."""

    def search(self, text: str, path: str = "") -> list[str]:
        """Find the lines that hold a text."""


def schemas() -> list[dict[str, object]]:
    """Describe the tools as the Messages API wants it."""
    return [
        {
            "name": name,
            "description": words,
            "input_schema": {
                "type": "object",
                "properties": {key.rstrip("?"): kind for key, kind in args.items()},
                "required": [key for key in args if not key.endswith("?")],
                "additionalProperties": False,
            },
        }
        for name, (words, args) in _TABLE.items()
    ]


def carry_out(place: Place, name: str, text: str) -> str:
    """Carry a call out; gives what the model is told.

    Raises:
        ToolRefused: there is no such tool, or it cannot do that.
        Finished: it was the last.
    """
    args = _arguments(name, text)
    path = str(args.get("path", ""))
    match name:
        case "read_file":
            return place.read(path)[:_LONGEST]
        case "write_file" | "edit_file":
            old = place.read(path) if name == "edit_file" else None
            written = changed_text(name, args, old)
            place.write(path, written)
            return f"{path} has {len(written.splitlines())} lines now"
        case "list_files":
            return "\n".join(place.names(path)) or "(nothing)"
        case "search_code":
            return "\n".join(place.search(str(args["text"]), path))[:_LONGEST] or "(nothing)"
        case "get_file_info":
            return json.dumps(place.info(path))
        case _:
            raise Finished(args["success"] is True, str(args["summary"])[:1000])


def changed_text(name: str, args: Mapping[str, object], old: str | None) -> str:
    """Give the text of a file after a call that changes it."""
    if name == "write_file":
        return str(args["content"])
    wanted = str(args["old"])
    times = (old or "").count(wanted) if wanted else 0
    if times != 1:
        raise ToolRefused(f"`old` occurs {times} times in the file; it has to occur once")
    return (old or "").replace(wanted, str(args["new"]))


def _arguments(name: str, text: str) -> dict[str, object]:
    if name not in _TABLE:
        raise ToolRefused(f"there is no tool {ascii(name)[:60]}; there are {', '.join(NAMES)}")
    wanted = _TABLE[name][1]
    try:
        args = json.loads(text)
    except (ValueError, RecursionError):
        raise ToolRefused("the arguments are not JSON") from None
    if not isinstance(args, dict):
        raise ToolRefused("the arguments are not an object")
    kinds = {key.rstrip("?"): kind["type"] for key, kind in wanted.items()}
    for key, value in args.items():
        if key not in kinds or not isinstance(value, bool if kinds[key] == "boolean" else str):
            raise ToolRefused(f"{ascii(key)[:60]} is no argument of {name}, or of another type")
    missing = [key for key in wanted if not key.endswith("?") and key not in args]
    if missing:
        raise ToolRefused(f"{name} needs {missing[0]}")
    return args
