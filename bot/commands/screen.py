"""Results to a terminal: some colour and laid-out Markdown there, the same words elsewhere."""

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

# Words that a table or a first line says; colour repeats them and never stands alone.
_GOOD = r"(?m)^(?:proposed|unchanged|[\w-]+(?: \w+)? +(?:pass|ok))\b"
_BAD = r"(?m)^(?:blocked|[\w-]+(?: \w+)? +(?:FAIL|WRONG))\b"
_LOOK = r"(?m)^[\w-]+(?: \w+)? +look\b"
_FOLDED = re.compile(r"(?m)^<details><summary>(.*)</summary>$")
_UNSEEN = re.compile(r"(?m)^(?:</details>|!\[[^\]]*\]\([^)]*\))$")
NARROW, WIDE = 60, 100


def show(text: str) -> None:
    """Print a result; with colours on a terminal that wants them (NO_COLOR says no)."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from rich.console import Console
    from rich.text import Text

    shown = Text(wrapped(text))
    for pattern, style in ((_GOOD, "green"), (_BAD, "bold red"), (_LOOK, "yellow")):
        shown.highlight_regex(pattern, style)
    Console().print(shown, end="", soft_wrap=True)


def wrapped(text: str) -> str:
    """Break what is longer than the terminal is wide between words, as far in as it began."""
    width = max(NARROW, shutil.get_terminal_size().columns)
    lines = []
    for line in text.split("\n"):
        inner = line[: len(line) - len(line.lstrip())]
        told = textwrap.wrap(
            line,
            width,
            subsequent_indent=inner,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
        lines += told if len(line) > width else [line]
    return "\n".join(lines)


def rendered(markdown: str) -> str:
    """Markdown laid out for the terminal's width; as it is written where nobody looks.

    What a browser folds is shown under its title; a picture is left out.
    """
    if not sys.stdout.isatty():
        return markdown
    import io

    from rich.console import Console
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class WholeTable(TableElement):
        """Tells a long word on more lines; rich would cut it off."""

        def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
            for part in super().__rich_console__(console, options):
                if isinstance(part, Table):
                    for column in part.columns:
                        column.overflow = "fold"
                yield part

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "table_open": WholeTable}

    page = io.StringIO()
    width = max(NARROW, min(shutil.get_terminal_size().columns, WIDE))
    text = _UNSEEN.sub("", _FOLDED.sub(r"### \1", markdown))
    Console(file=page, width=width, no_color=True).print(Page(text, hyperlinks=False))
    lines = [line.rstrip() for line in page.getvalue().splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
