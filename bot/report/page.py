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

from bot.report import drawing, picture, searched, tear_sheet_rows, trade_pictures, wording
from bot.report.asked import indicator_rows, parameter_rows, risk_words, rule_rows
from bot.report.figures import count, counted
from bot.report.headline import no_trade_words, part
from bot.report.inert import html_text, one_line
from bot.report.page_style import STYLE
from bot.report.story import Story

MOST_TRADES = 200
MOST_CHANGES = 50
CARDS = frozenset(
    {"Return", "Buy and hold", "Max drawdown", "Sharpe"}
    | {"Trades", "Win rate", "Profit factor", "Costs"}
)
OF_TRADES = frozenset(
    {"Trades", "Win rate", "Profit factor", "Expectancy", "Expectancy in R", "Mean win"}
    | {"Mean loss", "Payoff", "Kelly", "SQN", "Streaks", "Exposure", "Costs"}
)
TRADE_HEADS = ("Symbol", "Side", "Volume", "Entry", "Price", "Exit", "Price", "Profit", "Exit by")
TRADE_KINDS = ("k", "", "n", "k", "n", "k", "n", "n", "")


def report_html(story: Story, drawn: str = "") -> str:
    """Write the page; `drawn` is the story's picture, where somebody has drawn it already."""
    contract, unit = story.contract, wording.currency(story.contract)
    summary, narrow = story.summary, drawing.NARROW
    figures = [*wording.metric_rows(story), *tear_sheet_rows.risk_rows(summary)]
    return _page().render(
        story=story,
        words=wording,
        policy=Markup(_policy()),  # noqa: S704 - our own
        style=Markup(STYLE),  # noqa: S704 - our own
        pictures=(
            _drawn([drawn or picture.picture(story), *trade_pictures.more_prices(story, 860)]),
            _drawn([picture.picture(story, narrow), *trade_pictures.more_prices(story, narrow)]),
        ),
        left_out=trade_pictures.left_out_words(story),
        close_ups=_drawn(trade_pictures.close_ups(story)),
        distribution=_drawn([trade_pictures.distribution(tear_sheet_rows.sheet_of(summary))]),
        name=one_line(contract.name, 120),
        market=one_line(wording.market_line(story), 300),
        description=contract.description.strip(),
        no_trades=no_trade_words(summary),
        metrics=figures,
        risk_figures=[row for row in figures if row[0] not in OF_TRADES],
        trade_figures=[row for row in figures if row[0] in OF_TRADES],
        costs=wording.cost_rows(summary),
        doubt=tear_sheet_rows.doubt_rows(summary),
        rejections=wording.rejection_rows(summary),
        clauses=wording.clause_rows(summary),
        cards=CARDS,
        money=(f"Money is in {unit}. " if unit else "") + wording.cost_words(story),
        years=wording.year_rows(story),
        months=tear_sheet_rows.month_rows(summary),
        month_names=tear_sheet_rows.MONTHS,
        falls=tear_sheet_rows.fall_rows(summary),
        splits=tear_sheet_rows.split_tables(summary),
        spreads=tear_sheet_rows.spread_rows(summary),
        fall_kinds=("n", "k", "k", "k", "n", "n"),
        candles_seen=count(part(summary, "signals").get("candles")),
        year_kinds=("", "n", "n", "n", "n", "n"),
        search=None if story.searched is None else _searched(story.searched),
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


def _searched(told: searched.Told) -> dict[str, object]:
    return {
        "words": searched.search_words(told),
        "lines": searched.line_rows(told),
        "folds": searched.fold_rows(told),
        "pictures": _drawn(searched.pictures(told)),
    }


def _drawn(pictures: Iterable[str]) -> list[Markup]:
    """Pass on pictures, which escape what they are given; their style sheet is in the page's."""
    sheet = f"<style>{drawing.STYLE}</style>\n"
    return [Markup(each.replace(sheet, "")) for each in pictures if each]  # noqa: S704


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
    """Nothing may load or run; the style sheet is named by its digest."""
    sheet = f"'sha256-{_digest(STYLE)}'"
    return f"default-src 'none'; style-src {sheet}; base-uri 'none'; form-action 'none'"


def _digest(sheet: str) -> str:
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def _changes(story: Story) -> list[tuple[str, ...]] | None:
    """Return the trades that differ, each with a word; None if none were compared or differ."""
    change = story.behaviour_change
    if change is None or change.is_none:
        return None
    return [(word, *wording.trade_cells(trade)) for word, trade in change.marked]


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
