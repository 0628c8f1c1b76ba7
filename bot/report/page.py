"""A story to one self-contained page: no scripts, no links, nothing loaded from anywhere."""

import base64
import hashlib
from collections.abc import Iterable, Sequence

from bot.report import picture
from bot.report.asked import indicator_rows, parameter_rows, risk_words, rule_rows
from bot.report.figures import counted
from bot.report.headline import no_trade_words
from bot.report.inert import html_text, one_line
from bot.report.page_style import STYLE
from bot.report.story import Judged, Story
from bot.report.wording import (
    ambiguity_words,
    change_words,
    compact_words,
    cost_words,
    currency,
    file_rows,
    market_line,
    metric_rows,
    open_end_words,
    provenance_rows,
    refusal,
    reproduce_command,
    result_line,
    trade_cells,
    verdict_title,
    year_rows,
)

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
    name = html_text(one_line(story.contract.name, 120))
    sections = [
        _head(story),
        _results(story, drawn or picture.picture(story)),
        _asked(story),
        _gates(story),
        _changes(story),
        _trades(story),
        _conventions(story),
        _provenance(story),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{name}: report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )


def _policy() -> str:
    """Nothing may load or run; the two style sheets are named by their digests."""
    sheets = " ".join(f"'sha256-{_digest(sheet)}'" for sheet in (STYLE, picture.STYLE))
    return f"default-src 'none'; style-src {sheets}; base-uri 'none'; form-action 'none'"


def _digest(sheet: str) -> str:
    return base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def _head(story: Story) -> str:
    contract = story.contract
    kind = "accepted" if story.accepted else "refused"
    description = contract.description.strip()
    lines = [
        "<header>",
        f"<h1>{_said(one_line(contract.name, 120))}</h1>",
        f'<p class="muted">{_said(one_line(market_line(story), 300))}</p>',
        f"<p>{_said(description)}</p>" if description else "",
        f'<div class="verdict {kind}"><strong>{html_text(verdict_title(story))}</strong>',
        f"{html_text(result_line(story))}</div>",
        f"<p>{_said(no_trade_words(story.summary))}</p>" if no_trade_words(story.summary) else "",
        *(f'<p><strong class="bad">{_said(note)}</strong></p>' for note in story.notes),
        "</header>",
    ]
    return _lines(lines)


def _results(story: Story, drawn: str) -> str:
    rows = metric_rows(story)
    cards = [
        f"<li><b>{html_text(value)}</b><span>{html_text(name)}</span></li>"
        for name, value, _ in rows
        if name in CARDS
    ]
    unit = currency(story.contract)
    money = f"Money is in {unit}. " if unit else ""
    years = [_row(row, ("", "n", "n", "n", "n", "n"), heading=True) for row in year_rows(story)]
    heads = ("Year", "Return", "Max drawdown", "Trades", "Win rate", "Profit")
    return _lines(
        [
            '<section>\n<h2>Result</h2>\n<ul class="cards">',
            *cards,
            "</ul>",
            f"<figure>{drawn}</figure>",
            f"<p>{_said(money + cost_words(story))}</p>",
            f"<p>{html_text(ambiguity_words(story))}</p>",
            f"<p>{html_text(open_end_words(story))}</p>" if open_end_words(story) else "",
            f"<p>{html_text(compact_words(story))}</p>" if compact_words(story) else "",
            "<h3>All figures</h3>",
            _table((), (_row(row, ("k", "n", "muted w"), heading=True) for row in rows)),
            "<h3>By year</h3>" if years else "",
            _table(heads, years, ("", "n", "n", "n", "n", "n")) if years else "",
            "</section>",
        ]
    )


def _asked(story: Story) -> str:
    rules = []
    for rule in rule_rows(story):
        words = f"{html_text(rule.title)} <bdi>{html_text(rule.words)}</bdi>." if rule.words else ""
        if rule.prose:
            words = f"<p>The contract says: “{_said(rule.prose)}”</p><p>{words}</p>"
        rules.append(
            f'<tr><th class="k">{html_text(rule.name)}</th><td>{words}</td>'
            f"<td>{_code(rule.expression)}</td></tr>"
        )
    indicators = [
        f'<tr><th class="k">{_said(name)}</th><td>{_said(words)}</td><td>{_code(text)}</td></tr>'
        for name, words, text in indicator_rows(story)
    ]
    parameters = [_row(row, ("k", "n", "w"), heading=True) for row in parameter_rows(story)]
    risk = [f"<li>{_said(line)}</li>" for line in risk_words(story.contract)]
    notes = story.contract.notes.strip()
    return _lines(
        [
            "<section>\n<h2>Rules</h2>",
            _table(("Rule", "In words", "In the contract"), rules),
            "<h3>Indicators</h3>" if indicators else "",
            _table(("Name", "In words", "In the contract"), indicators) if indicators else "",
            "<h3>Parameters</h3>" if parameters else "",
            _table(("Name", "Value", "Range"), parameters, ("", "n", "w")) if parameters else "",
            "<h3>Risk</h3>\n<ul>",
            *risk,
            "</ul>",
            f"<h3>Notes</h3>\n<pre>{html_text(notes)}</pre>" if notes else "",
            "</section>",
        ]
    )


def _gates(story: Story) -> str:
    if not story.verdicts:
        return (
            "<section>\n<h2>Gates</h2>\n<p>No gate has run, so nothing is proven.</p>\n</section>"
        )
    rows = [_gate_row(verdict) for verdict in story.verdicts]
    files = [_row(row, ("k", "w"), heading=True) for row in file_rows(story)]
    return _lines(
        [
            "<section>\n<h2>Gates</h2>",
            _table(("Gate", "Result", "Figure", "Reason and next step"), rows),
            "<h3>Files</h3>" if story.files else "",
            _table((), files) if story.files else "",
            "</section>",
        ]
    )


def _gate_row(verdict: Judged) -> str:
    passed = verdict.passed is True
    result = '<span class="good">passed</span>' if passed else '<strong class="bad">failed</strong>'
    parts = [_said(refusal(verdict))] if not passed else []
    if verdict.where:
        parts.append(_code(verdict.where))
    if verdict.next_step and not passed:
        parts.append(f"Next: {_said(verdict.next_step)}")
    told = "<br>".join(parts)
    return (
        f'<tr><th class="k">{_said(verdict.name)}</th><td>{result}</td>'
        f"<td>{_said(verdict.figure)}</td><td>{told}</td></tr>"
    )


def _changes(story: Story) -> str:
    change = story.behaviour_change
    lines = [
        "<section>\n<h2>What changed in behaviour</h2>",
        f"<p>{_said(change_words(story))}</p>",
    ]
    if change is not None and not change.is_none:
        marked = [
            *(("removed", trade) for trade in change.removed),
            *(("added", trade) for trade in change.added),
            *(pair for old, new in change.changed for pair in (("before", old), ("now", new))),
        ]
        rows = [
            _row((word, *trade_cells(trade)), ("k", *TRADE_KINDS), heading=True)
            for word, trade in marked[:MOST_CHANGES]
        ]
        lines.append(_table(("", *TRADE_HEADS), rows, ("", *TRADE_KINDS)))
        lines.append(_left_out(len(marked), MOST_CHANGES, "row"))
    return _lines([*lines, "</section>"])


def _trades(story: Story) -> str:
    rows = [_row(trade_cells(trade), TRADE_KINDS) for trade in story.trades[:MOST_TRADES]]
    shown = _table(TRADE_HEADS, rows, TRADE_KINDS) if rows else "<p>There were no trades.</p>"
    where = "" if "trades.csv" in story.compact else "; trades.csv has all of them"
    left = _left_out(len(story.trades), MOST_TRADES, "trade", where)
    return _lines(["<section>\n<h2>Trades</h2>", shown, left, "</section>"])


def _left_out(total: int, most: int, noun: str, where: str = "") -> str:
    if total <= most:
        return ""
    left = counted(total - most, noun)
    verb = "is" if total - most == 1 else "are"
    return f'<p class="muted">The first {most} are shown; {left} {verb} left out{where}.</p>'


def _conventions(story: Story) -> str:
    found = story.summary.get("conventions")
    if not found:
        return ""
    rows = "".join(
        f"<dt>{_said(str(name).replace('_', ' '))}</dt><dd>{_said(str(text))}</dd>"
        for name, text in found.items()
    )
    return (
        "<section>\n<h2>How fills and figures are counted</h2>\n<details>"
        f"<summary>All {len(found)} conventions</summary><dl>{rows}</dl></details>\n</section>"
    )


def _provenance(story: Story) -> str:
    rows = "\n".join(
        f"<dt>{html_text(name)}</dt><dd>{_code(value)}</dd>"
        for name, value in provenance_rows(story)
    )
    return _lines(
        [
            f"<section>\n<h2>Provenance</h2>\n<dl>{rows}</dl>\n</section>",
            "<section>\n<h2>Reproduce</h2>",
            "<p>In a clone that has the tag, this recomputes every digest and the back-test:</p>",
            f"<pre>{html_text(reproduce_command(story))}</pre>\n</section>",
        ]
    )


def _table(heads: Sequence[str], rows: Iterable[str], kinds: Sequence[str] = ()) -> str:
    cells = "".join(
        f'<th scope="col"{_kind(kinds[index] if kinds else "")}>{html_text(head)}</th>'
        for index, head in enumerate(heads)
    )
    head = f"<thead><tr>{cells}</tr></thead>" if heads else ""
    return _lines([f'<div class="wide"><table>{head}<tbody>', *rows, "</tbody></table></div>"])


def _row(cells: Sequence[str], kinds: Sequence[str], *, heading: bool = False) -> str:
    parts = []
    for index, (cell, kind) in enumerate(zip(cells, kinds, strict=True)):
        tag = "th" if heading and index == 0 else "td"
        parts.append(f"<{tag}{_kind(kind)}>{_said(cell)}</{tag}>")
    return f"<tr>{''.join(parts)}</tr>"


def _kind(name: str) -> str:
    return f' class="{name}"' if name else ""


def _said(text: str) -> str:
    """Text of a stranger: escaped, and its direction kept to itself where it has another."""
    shown = html_text(text)
    return shown if shown.isascii() else f"<bdi>{shown}</bdi>"


def _code(text: str) -> str:
    return f"<code>{html_text(text)}</code>" if text else ""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line)
