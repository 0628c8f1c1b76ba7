"""`stratwright init`: workflow, issue form, settings and an example contract into a repository."""

import argparse
import sys
from pathlib import Path

from bot.errors import InputError

HELP = "put the workflow, the issue form, settings and an example contract into a repository"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this one"
    )
    parser.add_argument(
        "--action", default="", metavar="OWNER/NAME@COMMIT", help="default: this release's own"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")


def run(args: argparse.Namespace) -> int:
    """Write what is not there yet, and say what to do next."""
    from bot.settings import read_settings
    from bot.starter import released_action, starter_files
    from bot.written import write_files

    root = args.folder
    if not (root / ".git").exists():
        raise InputError(f"{root.resolve()} is not a Git repository", "Make one: git init")
    files = starter_files(read_settings(root), args.action or released_action())
    same = [path for path, text in files.items() if _text(root / path) == text]
    taken = [path for path in files if path not in same and (root / path).exists()]
    new = {
        path: text
        for path, text in files.items()
        if path not in same and (args.force or path not in taken)
    }
    write_files(root, new)
    for path in files:
        word = "as it is" if path in same else "wrote" if path in new else "kept"
        sys.stdout.write(f"  {word:<9} {path}\n")
    kept = [path for path in taken if not args.force]
    if kept:
        sys.stdout.write("Files that differ were kept; --force replaces them.\n")
    sys.stdout.write(
        "Next: put candles where the example says, commit, push, and see what GitHub still needs:\n"
        "  stratwright doctor --github\n"
    )
    return 0


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
