"""Holds what pages state to the installed packages, and lists what is no longer true."""

import builtins
import keyword
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.knowledge.claims import (
    CLAIMS,
    CLAIMS_OF_ONE,
    CODE,
    NAME,
    wrong_absence,
    wrong_calls,
    wrong_relations,
)
from bot.knowledge.facts import Fact, Finding, read_row
from bot.knowledge.ingest import SOURCES, compare, in_own_words
from bot.knowledge.pages import Page, page_files, read_page

# How code names the packages whose symbols stand without a module on their pages.
_MODULES = ("talib", "talib.abstract", "ta", "exchange", "ccxt", "self")
_SENTENCE = re.compile(r"(?<=[.;:])\s+|\n(?=[-#|\n])|\n\n")
# Settings, fields, gates and commands are known by their whole name.
_WHOLE = re.compile(r"(config|contract|gate)\.[\w.-]*\w|(freqtrade|stratwright) [a-z][a-z-]+")
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Contradiction:
    """A statement of a page that the installed package does not bear out."""

    path: str
    line: int
    statement: str
    why: str

    @property
    def text(self) -> str:
        """The contradiction as one line."""
        return f"{self.path}:{self.line}: {self.statement}: {self.why}"


class Installed:
    """What the installed packages say, by symbol and by its last name."""

    def __init__(self, findings: Mapping[str, Finding]) -> None:
        """Gather the facts of all findings."""
        self.findings = findings
        self.facts: dict[str, list[Fact]] = {}
        self.names: set[str] = {*dir(builtins), *keyword.kwlist}
        self.roots: set[str] = set()
        for finding in findings.values():
            for fact in finding.facts:
                self.roots.add(re.split(r"[. ]", fact.symbol)[0])
                for name in {fact.symbol, fact.symbol.rpartition(".")[2]}:
                    self.facts.setdefault(name, []).append(fact)
                self.names |= {*NAME.findall(f"{fact.symbol} {fact.call} {fact.says}")}
                self.names |= {*re.findall(r"\w+", f"{fact.symbol} {fact.call}")}

    def named(self, code: str) -> list[Fact]:
        """The facts about a symbol; `talib.RSI` is RSI."""
        module, _, last = code.rpartition(".")
        return self.facts.get(code) or self.facts.get(last if module in _MODULES else "", [])


def check(
    brain: Path, names: tuple[str, ...] = (), say: Callable[[str], None] = lambda _: None
) -> tuple[list[Contradiction], list[str]]:
    """Checks the pages of a brain; gives contradictions and the sources that are not installed."""
    findings, missing = {}, []
    for name in names or tuple(SOURCES):
        say(f"asking {name}")
        try:
            findings[name] = in_own_words(SOURCES[name].read())
        except ModuleNotFoundError:
            missing.append(name)
    installed = Installed(findings)
    found: list[Contradiction] = []
    for inner, path in page_files((brain,)).items():
        if inner.startswith(("learnings/", "code/")):
            found += check_page(read_page(inner, path), installed)
    return found, missing


def check_page(page: Page, installed: Installed) -> Iterator[Contradiction]:
    """Every contradiction of a page: its tables, its version, its sentences."""
    mine = next((item for item in installed.findings.values()
                 if item.package == page.about.get("package")), None)  # fmt: skip
    if mine is not None:
        yield from _tables(page, mine)
    text = "\n".join("" if read_row(line) else line for line in _without_code(page.text))
    for sentence, line in _sentences(text):
        for statement, why in (
            *_versions(sentence, installed),
            *_claims(sentence, installed, mine),
            *(_unknown(sentence, page, installed) if mine is not None else ()),
        ):
            yield Contradiction(page.path, page.above + line, statement, why)
    if page.path.startswith("learnings/"):
        for block in _FENCED.finditer(page.text):
            line = page.above + page.text.count("\n", 0, block.start()) + 1
            for statement, why in wrong_calls(block[0], installed.named, in_code=True):
                yield Contradiction(page.path, line, statement, why)


def _without_code(text: str) -> list[str]:
    return _FENCED.sub(lambda match: "\n" * match[0].count("\n"), text).splitlines()


def _tables(page: Page, finding: Finding) -> Iterator[Contradiction]:
    difference = compare(page, finding, lambda symbols: ())
    numbered = enumerate(page.text.splitlines(), page.above + 1)
    lines = {fact.symbol: number for number, line in numbered if (fact := read_row(line))}
    if difference.before != difference.after:
        why = f"{finding.package} {difference.after} is installed"
        yield Contradiction(page.path, 1, f"version {difference.before}", why)
    for symbol in difference.removed:
        why = f"{finding.package} {finding.version} has no such symbol"
        yield Contradiction(page.path, lines[symbol], f"`{symbol}`", why)
    for symbol, old, new in difference.changed:
        yield Contradiction(page.path, lines[symbol], f"`{symbol}` {old}", f"it is {new}")
    for symbol in difference.added:
        yield Contradiction(page.path, 1, f"no word of `{symbol}`", f"{finding.package} has it")


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    place = 0
    for sentence in _SENTENCE.split(text):
        start = text.find(sentence, place)
        place = start + len(sentence)
        stripped = sentence.lstrip()
        yield sentence, text.count("\n", 0, place - len(stripped)) + 1


def _versions(sentence: str, installed: Installed) -> Iterator[tuple[str, str]]:
    for finding in installed.findings.values():
        pattern = rf"\b{re.escape(finding.package)},? (?:version )?v?(\d+(?:\.\d+)+)"
        for match in re.finditer(pattern, sentence, re.IGNORECASE):
            if match[1] != finding.version:
                yield match[0], f"{finding.package} {finding.version} is installed"


def _claims(sentence: str, installed: Installed, mine: Finding | None) -> Iterator[tuple[str, str]]:
    """What a sentence says of one symbol, of several, and of what a package lacks."""
    for code in CODE.findall(sentence):
        yield from wrong_calls(code, installed.named, in_code=False)
    symbols = [code for code in CODE.findall(sentence) if installed.named(code)]
    symbols += [word for word in re.findall(r"\b[A-Z][A-Z0-9_]+\b", sentence)
                if installed.named(word) and word not in symbols]  # fmt: skip
    facts = installed.named(symbols[0]) if symbols else []
    own = [fact for fact in facts if mine is not None and fact in mine.facts]
    for fact in (own or facts)[:1]:
        bare = CODE.sub(lambda match: match[1], sentence)
        whys = [claim(sentence, fact) for claim in CLAIMS]
        if len(symbols) == 1 and "(" not in sentence:
            whys += [claim(bare, fact) for claim in CLAIMS_OF_ONE]
        yield from ((sentence.strip(), why) for why in whys if why)
    for why in wrong_relations(sentence, installed.named):
        yield sentence.strip(), why
    for finding in installed.findings.values():
        for why in wrong_absence(sentence, finding.package, finding.facts):
            yield sentence.strip(), why


def _unknown(sentence: str, page: Page, installed: Installed) -> Iterator[tuple[str, str]]:
    """On a package's own page a name in backticks is one that some installed package knows."""
    known = {*re.findall(r"[\w.]+", page.about.get("names", ""))}
    for code in CODE.findall(sentence):
        name = NAME.fullmatch(code.removesuffix("()"))
        whole = _WHOLE.match(code)
        if whole and whole[0] not in installed.facts and (whole[1] or whole[2]) in installed.roots:
            yield f"`{code}`", f"there is no {whole[0]}"
        elif name and not {name[0], name[0].rpartition(".")[2]} & (installed.names | known):
            yield f"`{code}`", f"{page.about['package']} has no such name"
