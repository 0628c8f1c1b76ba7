"""Turns a story into one self-contained page: no scripts, no links, nothing loaded from anywhere.

The page itself is `page.html.j2`. Whatever is put into it is shown as text: what is not markup of
our own goes through `html_text`.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from bot.report import picture, wording
from bot.report.asked import indicator_rows, parameter_rows, risk_words, rule_rows
from bot.report.figures import counted
from bot.report.headline import no_trade_words
from bot.report.inert import html_text, one_line
from bot.report.page_style import STYLE
from bot.report.story import Story

MOST_TRADES = 200
MOST_CHANGES = 50
CARDS = frozenset(
    {"Return", "Buy and hold", "Max drawdown", "Sharpe"}
    | {"Trades", "Win rate", "Profit factor", "Costs"}
)
TRADE_HEADS = ("Symbol", "Side", "Volume", "Entry", "Price", "Exit", "Price", "Profit", "Exit by")
TRADE_KINDS = ("k", "", "n", "k", "n", "k", "n", "n", "")


def report_html(story: Story, drawn: str = "") -> str:
    """Write the page; `drawn` is the story's picture, where somebody has drawn it already."""
    contract, unit = story.contract, wording.currency(story.contract)
    return _page().render(
        story=story,
        words=wording,
        policy=Markup(_policy()),  # noqa: S704 - our own
        style=Markup(STYLE),  # noqa: S704 - our own
        picture=Markup(drawn or picture.picture(story)),  # noqa: S704 - escapes what it is given
        name=one_line(contract.name, 120),
        market=one_line(wording.market_line(story), 300),
        description=contract.description.strip(),
        no_trades=no_trade_words(story.summary),
        metrics=wording.metric_rows(story),
        cards=CARDS,
        money=(f"Money is in {unit}. " if unit else "") + wording.cost_words(story),
        years=wording.year_rows(story),
        year_kinds=("", "n", "n", "n", "n", "n"),
        rules=rule_rows(story),
        indicators=list(indicator_rows(story)),
        parameters=list(parameter_rows(story)),
        risk=risk_words(contract),
        notes=contract.notes.strip(),
        changes=_changes(story),
        trades=[wording.trade_cells(trade) for trade in story.trades[:MOST_TRADES]],
        trade_heads=TRADE_HEADS,
        trade_kinds=TRADE_KINDS,
        most_trades=MOST_TRADES,
        most_changes=MOST_CHANGES,
        conventions=story.summary.get("conventions"),
    )


@cache
def _page() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "said": _said, "code": _code, "kind": _kind, "rows": _rows, "left_out": _left_out
    }  # fmt: skip
    return environment.get_template("page.html.j2")


def _policy() -> str:
    """Nothing may load or run; the two style sheets are named by their digests."""
    sheets = " ".join(f"'sha256-{_digest(sheet)}'" for sheet in (STYLE, picture.STYLE))
    return f"default-src 'none'; style-src {sheets}; base-uri 'none'; form-action 'none'"


def _digest(sheet: str) -> str:
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def _changes(story: Story) -> list[tuple[str, ...]] | None:
    """Return the trades that differ, each with a word; None if none were compared or differ."""
    change = story.behaviour_change
    if change is None or change.is_none:
        return None
    marked = [
        *(("removed", trade) for trade in change.removed),
        *(("added", trade) for trade in change.added),
        *(pair for old, new in change.changed for pair in (("before", old), ("now", new))),
    ]
    return [(word, *wording.trade_cells(trade)) for word, trade in marked]


def _shown(value: object) -> Markup:
    """Escape whatever is not markup already, with hidden characters made visible."""
    return value if isinstance(value, Markup) else Markup(html_text(str(value)))  # noqa: S704


def _said(text: str) -> Markup:
    """Escape the text of a stranger, and keep its direction to itself where it has another."""
    shown = _shown(text)
    return shown if shown.isascii() else Markup("<bdi>{}</bdi>").format(shown)


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(_shown(text)) if text else Markup()


def _kind(name: str) -> Markup:
    return Markup(' class="{}"').format(name) if name else Markup()


def _rows(
    rows: Iterable[Sequence[str]], kinds: Sequence[str], heading: bool = True
) -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    """Give each row of a table the classes of its cells."""
    return ((cells, kinds, heading) for cells in rows)


def _left_out(total: int, most: int, noun: str) -> str:
    left = counted(total - most, noun)
    verb = "is" if total - most == 1 else "are"
    return f"The first {most} are shown; {left} {verb} left out"
