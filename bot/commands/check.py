"""`stratwright check`: files to what they may not contain, with what to write instead."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.gates.static.offence import Offence
    from bot.gates.static.vocabulary import FileClass

# The classes of bot.gates.static.vocabulary, written out to keep --help quick; a test compares.
_CLASSES = ("strategy", "freqtrade", "module", "test")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a Python file")
    parser.add_argument(
        "--class",
        dest="file_class",
        choices=_CLASSES,
        help="what the files are; guessed from path and content otherwise",
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(args: argparse.Namespace) -> int:
    """Check every file and tell what is refused."""
    contents = {path: _read(path) for path in dict.fromkeys(args.files)}
    answers = [_check(path, content, args.file_class) for path, content in contents.items()]
    passed = all(answer["passed"] for answer in answers)
    if args.json:
        sys.stdout.write(json.dumps({"passed": passed, "files": answers}, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(answers)) + "\n")
    return 0 if passed else 1


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", "Give the path of a Python file.") from None
    except OSError as error:
        reason = (error.strerror or "unreadable").lower()
        raise InputError(
            f"cannot read {path}: {reason}", "Give the path of a Python file."
        ) from None


def _check(path: Path, content: bytes, given: "FileClass | None") -> dict[str, Any]:
    from bot.gates.secrets import find_secrets
    from bot.gates.static.file_class import guess_class
    from bot.gates.static.static_check import check_tree
    from bot.gates.static.syntax_tree import read_tree

    file_class = given or guess_class(path.as_posix(), content)
    tree, unread = read_tree(content)
    gates: dict[str, list[Offence]] = {
        "syntax": unread,
        "imports": [] if tree is None else list(check_tree(tree, file_class)),
        "secrets": find_secrets(path.as_posix(), content),
    }
    offences = [
        {"gate": gate, **offence.to_dict()} for gate, found in gates.items() for offence in found
    ]
    return {
        "file": str(path),
        "class": file_class,
        "guessed": given is None,
        "passed": not offences,
        "offences": offences,
    }


def _lines(answers: list[dict[str, Any]]) -> list[str]:
    lines = []
    for answer in answers:
        label = f"{answer['class']} file{', guessed' if answer['guessed'] else ''}"
        for item in answer["offences"]:
            place = f"{answer['file']}:{item['line']}:{item['column']}"
            lines.append(f"{place}: {item['gate']}: {item['name']}: {item['why']}")
            lines.append(f"    {item['instead']}")
        verdict = "passed" if answer["passed"] else f"refused, {len(answer['offences'])} found"
        lines.append(f"{answer['file']}: {verdict} ({label})")
    return lines
