"""Reads the files of the brain: front matter, sections and facts become passages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bot.errors import InputError
from bot.knowledge.facts import read_row

SHIPPED = Path(__file__).resolve().parents[2] / "brain"
FACTS = "<!-- facts: "
END_OF_FACTS = "<!-- end of facts -->"
# What programs read of a rule is no answer to a question.
_BLOCK = re.compile(r"^```toml \w+\n.*?^```$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([a-z]+): (.*)")
_MAX_BYTES = 2_000_000


@dataclass(frozen=True)
class Page:
    """A file of the brain; `above` is how many lines its front matter takes."""

    path: str
    about: dict[str, str]
    text: str
    above: int = 0

    @property
    def name(self) -> str:
        """Its id, or its path where it has none."""
        return self.about.get("id", self.path)

    @property
    def source(self) -> str:
        """Where it comes from: the package and its version, or the file."""
        package = self.about.get("package", "")
        return f"{package} {self.about.get('version', '')}".strip() if package else self.path


@dataclass(frozen=True)
class Passage:
    """A piece of a page that can be given to a reader: a section, or one fact.

    Attributes:
        symbol: the symbol that a fact is about; the heading of a section.
        source: package and version, or the page.
    """

    page: str
    path: str
    symbol: str
    kind: str
    source: str
    text: str
    aliases: str = ""


def page_files(brains: tuple[Path, ...]) -> dict[str, Path]:
    """The pages of several brains by path; a later brain's page replaces an earlier one's, but
    rules are the first one's alone."""
    found: dict[str, Path] = {}
    for number, brain in enumerate(brains):
        for path in sorted(brain.rglob("*.md")):
            inner = path.relative_to(brain).as_posix()
            plain = path.is_file() and not path.is_symlink()  # a pipe would never end
            if plain and not (number and inner.startswith("rules/")):
                found[inner] = path
    return found


def read_page(inner: str, path: Path) -> Page:
    """Reads a file with its front matter.

    Raises:
        InputError: it is too large, or no text.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{inner} has more than {_MAX_BYTES} bytes", "Divide it.")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}", "Give a Markdown file.") from None
    if not text.startswith("---\n") or "\n---\n" not in text[4:]:
        return Page(inner, {}, text)
    head, text = text[4:].split("\n---\n", 1)
    fields = (_FIELD.fullmatch(line) for line in head.splitlines())
    about = {match[1]: match[2] for match in fields if match}
    return Page(inner, about, text, head.count("\n") + 3)


def passages(page: Page, words: dict[str, str]) -> Iterator[Passage]:
    """The passages of a page: each fact, and each section's own text."""
    heading, lines = page.about.get("title", page.name), list[str]()
    fenced = False
    for line in _BLOCK.sub("", page.text).splitlines():
        fenced ^= line.startswith("```")
        fact = None if fenced else read_row(line)
        if fact is not None:
            text = f"`{fact.call or fact.symbol}`: {fact.says}" if fact.says else f"`{fact.call}`"
            yield Passage(page.name, page.path, fact.symbol, fact.kind, page.source, text,
                          words.get(fact.symbol, ""))  # fmt: skip
        elif line.startswith("#") and not fenced:
            yield from _section(page, heading, lines, words)
            heading, lines = line.lstrip("# "), []
        elif not line.startswith(("|---", "<!--", "| symbol |")):
            lines.append(line)
    yield from _section(page, heading, lines, words)


def _section(
    page: Page, heading: str, lines: list[str], words: dict[str, str]
) -> Iterator[Passage]:
    text = "\n".join(lines).strip()
    if text:
        label = heading if heading.startswith(page.name) else f"{page.name}: {heading}"
        aliases = words.get(page.name, "") if label == heading else ""
        yield Passage(page.name, page.path, label, "section", page.source, text, aliases)


@cache
def read_words(brain: Path = SHIPPED) -> dict[str, dict[str, str]]:
    """Reads what traders call things: `[same]` for words, `[symbols]` for symbols and pages."""
    import tomllib  # not for those who only search

    return tomllib.loads((brain / "words.toml").read_text("utf-8"))
