"""Results to a terminal: some colour and laid-out Markdown there, the same words elsewhere."""

import sys

# Words that a table or a first line says; colour repeats them and never stands alone.
_GOOD = r"(?m)^(?:proposed|unchanged|[\w-]+(?: \w+)? +(?:pass|ok))\b"
_BAD = r"(?m)^(?:blocked|[\w-]+(?: \w+)? +(?:FAIL|WRONG))\b"
_LOOK = r"(?m)^[\w-]+(?: \w+)? +look\b"
NARROW, WIDE = 60, 100


def show(text: str) -> None:
    """Print a result; with colours on a terminal that wants them (NO_COLOR says no)."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    from rich.console import Console
    from rich.text import Text

    shown = Text(text)
    for pattern, style in ((_GOOD, "green"), (_BAD, "bold red"), (_LOOK, "yellow")):
        shown.highlight_regex(pattern, style)
    Console().print(shown, end="", soft_wrap=True)


def rendered(markdown: str) -> str:
    """Markdown laid out for the terminal's width; as it is written where nobody looks."""
    if not sys.stdout.isatty():
        return markdown
    import io
    import shutil

    from rich.console import Console
    from rich.markdown import Markdown

    page = io.StringIO()
    width = max(NARROW, min(shutil.get_terminal_size().columns, WIDE))
    Console(file=page, width=width, no_color=True).print(Markdown(markdown, hyperlinks=False))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
