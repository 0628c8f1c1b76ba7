"""Gathers entries, one file each, into the pages LOG-001 and LEARN-007."""

import re
from collections.abc import Mapping
from pathlib import Path

from bot.errors import InputError
from bot.files import write_files
from bot.knowledge.pages import SHIPPED, read_page

# Where entries wait, and the page whose table takes them; a file holds one line of that table.
ENTRIES: Mapping[str, str] = {
    "logs/entries": "logs/LOG-001-generation.md",
    "learnings/entries": "learnings/LEARN-007-errors-and-fixes.md",
}


def consolidate(brain: Path) -> list[str]:
    """Appends each entry that the page does not have yet, and removes the files.

    Returns:
        What was done, a line for each page that had entries.

    Raises:
        InputError: an entry is not a line of its page's table; nothing was changed then.
    """
    written: dict[str, str] = {}
    told, done = [], []
    for folder, page in ENTRIES.items():
        files = sorted(path for path in (brain / folder).glob("*.md") if not path.is_symlink())
        if not files:
            continue
        own = (brain / page).is_file()
        text = (brain / page).read_text("utf-8") if own else _empty(page)
        head = next(line for line in text.splitlines() if line.startswith("| "))
        rows = [_row(path, f"{folder}/{path.name}", head) for path in files]
        new = [row for row in dict.fromkeys(rows) if row not in text.splitlines()]
        written[page] = text.rstrip("\n") + "\n" + "".join(f"{row}\n" for row in new)
        told.append(f"brain/{page}: {len(new)} of {len(rows)} entries were new")
        done += files
    write_files(brain, written)
    for path in done:
        path.unlink()
    return told


def _empty(page: str) -> str:
    """The shipped page without the lines of its table, for a repository that has none yet."""
    text = (SHIPPED / page).read_text("utf-8")
    head, rule, _ = text.partition(re.search(r"^\|[-|]+\|\n", text, re.MULTILINE)[0])  # type: ignore[index]
    return head + rule


def _row(path: Path, inner: str, head: str) -> str:
    """The line of an entry; it has as many cells as the table's head."""
    lines = [line for line in read_page(inner, path).text.splitlines() if line.strip()]
    if len(lines) != 1 or lines[0].count("|") != head.count("|") or not lines[0].startswith("| "):
        raise InputError(f"brain/{inner} is not one line of the table {head}", "Mend or remove it.")
    return lines[0]
