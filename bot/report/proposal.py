"""A story to the body of its pull request, in GitHub's Markdown.

Every string of the contract goes through `bot.report.inert`; every table and text has its limit,
and what still does not fit is left out section by section, with a word about where it is.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlsplit

from bot.report.answered import Answered
from bot.report.asked import indicator_rows, parameter_rows, risk_words, rule_rows
from bot.report.behaviour import BehaviourChange
from bot.report.figure_table import figure_rows
from bot.report.figures import counted
from bot.report.headline import no_trade_words
from bot.report.hidden_block import hidden_block
from bot.report.inert import markdown_code, markdown_text
from bot.report.searched import fold_rows, line_rows, search_words
from bot.report.story import Judged, Story
from bot.report.tear_sheet_rows import risk_rows
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
)

MOST_CHARACTERS = 60_000
MOST_ROWS = 40
LONGEST_ADDRESS = 2_000
MOST_CHANGES = 20
_FORM_PATH = re.compile(r"(?:^|/)issue_([1-9][0-9]{0,17})\.yaml$", re.ASCII)
_TRADE_HEADS = ("", "Symbol", "Side", "Volume", "Entry", "Price", "Exit", "Price", "Profit", "By")
_TRADE_SIDES = "lllrlrlrrl"


def pull_request_body(story: Story, image_url: str | None = None) -> str:
    """Write the body, always under 60,000 characters.

    Args:
        story: what to tell.
        image_url: where the pull request finds the equity picture: an http(s) address or a path.

    Raises:
        ValueError: the address has another scheme, or is endless.
    """
    # The number says what is left out first if there is too much: the highest.
    sections = [
        (_verdict(story), 0),
        (_picture(image_url), 0),
        (_result(story), 0),
        (_changes(story), 4),
        (_searched(story), 2),
        (_rules(story), 2),
        (_risk(story), 3),
        (_gates(story), 1),
        (_provenance(story), 1),
        (_reproduce(story), 0),
        (_closes(story), 0),
        (hidden_block(story), 0),
    ]
    for kept in (4, 3, 2, 1, 0):
        texts = [text if rank <= kept else _too_long(text) for text, rank in sections if text]
        body = "\n\n".join(texts) + "\n"
        if len(body) < MOST_CHARACTERS:
            break
    return body


def _too_long(section: str) -> str:
    title = re.sub("</?(?:details|summary)>", "", section.split("\n", 1)[0])
    return f"{title}\n\nToo long for a pull request; report.html has it."


def _verdict(story: Story) -> str:
    mark = "✅" if story.accepted else "❌"
    lines = [
        f"## {mark} {verdict_title(story)}",
        _written(story),
        f"**{result_line(story)}**",
        markdown_text(no_trade_words(story.summary), 2000),
        f"{markdown_text(story.contract.name, 80)} · {markdown_text(market_line(story), 300)}",
    ]
    description = markdown_text(story.contract.description, 800)
    if description:
        lines.append(f"> {description}")
    lines += [f"⚠️ **{markdown_text(note, 300)}**" for note in story.notes]
    if story.failed:
        lines.append("\n".join(_refused(verdict) for verdict in story.failed[:5]))
    return "\n\n".join(line for line in lines if line)


def _written(story: Story) -> str:
    """Who wrote the code, where the template did not, and what stands behind it."""
    told = story.written
    if told is None:
        return ""
    signed = "The bot signed" if told.signed else "Nobody signed"
    return (
        f"**{markdown_text(story.model, 100)} wrote this code; the template did not.** Its "
        "decisions are the contract's own on all candles and places that the gates asked about. "
        f"{counted(told.rounds, 'round')}, {counted(told.calls, 'call')}, "
        f"{markdown_text(told.cost_usd, 20)} US dollars by the prices of "
        f"{markdown_text(told.prices, 40)}. {signed} how: `session.json` in the evidence."
    )


def _refused(verdict: Judged) -> str:
    where = f" ({markdown_code(verdict.where, 200)})" if verdict.where else ""
    step = f" Next: {markdown_text(verdict.next_step)}" if verdict.next_step else ""
    return (
        f"- **{markdown_text(verdict.name, 40)}**{where}: {markdown_text(refusal(verdict))}{step}"
    )


def _result(story: Story) -> str:
    """Every figure once; beside the base branch's version, if there is one."""
    if story.base_summary is None:
        told = [*metric_rows(story), *risk_rows(story.summary)]
        notes = {name: note for name, _, note in told}
        rows: list[tuple[str, ...]] = [
            (f"**{name}**", now, notes.get(name, "")) for name, now in figure_rows(story.summary)
        ]
        table = _table(("Figure", "Value", "What it is"), rows, "lrl")
    else:
        rows = [
            (f"**{name}**", *cells)
            for name, *cells in figure_rows(story.summary, story.base_summary)
        ]
        table = _table(("Figure", "This version", "Base branch", "Change"), rows, "lrrr")
    words = [ambiguity_words(story), open_end_words(story), compact_words(story)]
    return _section("Result", [table, *words])


def _picture(image_url: str | None) -> str:
    if image_url is None:
        return ""
    scheme = urlsplit(image_url).scheme
    if scheme not in ("", "http", "https") or len(image_url) > LONGEST_ADDRESS:
        raise ValueError(f"{image_url[:80]!r} is no address of an image; give https:// or a path")
    address = quote(image_url, safe="/:?=&%#@~+,;-._")
    return f"![Equity beside holding, the price with the trades, drawdown]({address})"


def _searched(story: Story) -> str:
    """How the values were found, and every line that the policy draws against luck."""
    told = story.searched
    if told is None:
        return ""
    words = "\n".join(f"- {markdown_text(line, 600)}" for line in search_words(told))
    lines = [tuple(markdown_text(cell, 80) for cell in row) for row in line_rows(told)]
    folds = [tuple(markdown_text(cell, 300) for cell in row) for row in fold_rows(told)]
    tables = [_table(("Line of the policy", "Asked", "Found", ""), lines, "lrrl")] if lines else []
    if folds:
        heads = ("Judged on", "Values", "Sharpe searched", "Sharpe judged", "Return judged")
        tables.append(_table(heads, folds, "llrrr"))
    return _section("How its values were found", [words, *tables])


def _rules(story: Story) -> str:
    rules = []
    for rule in rule_rows(story):
        words = f"{rule.title} {markdown_text(rule.words, 1200)}." if rule.words else ""
        if rule.prose:
            words = f"“{markdown_text(rule.prose, 800)}” {words}".strip()
        rules.append((f"`{rule.name}`", words, markdown_code(rule.expression, 1200)))
    indicators = [
        (markdown_code(name, 64), markdown_text(words), markdown_code(text))
        for name, words, text in indicator_rows(story)
    ]
    heads = ("In words", "In the contract")
    parts = [_table(("Rule", *heads), rules)]
    if indicators:
        table = _table(("Indicator", *heads), indicators)
        parts.append(_folded(counted(len(indicators), "indicator"), [table]))
    if story.answered is not None:
        parts.append(_answered(story, story.answered))
    return _section("Rules", parts)


def _answered(story: Story, told: Answered) -> str:
    """What a model made of the words: judge the reading, for no gate can."""
    signed = "The bot signed what was sent and received" if told.signed else "Nobody signed it"
    cost = markdown_text(told.cost_usd, 20)
    did = "read the rules in prose" if told.drafted is None else "drafted this contract"
    parts = [
        f"**{markdown_text(told.model, 100)} {did}; whether it read them as they "
        f"were meant, only you can say.** {counted(told.calls, 'call')}, {cost} US dollars by the "
        f"prices of {markdown_text(told.prices, 40)}. {signed}: `transcript.json` in the evidence.",
    ]
    parts.append("\n".join(f"- assumed: {markdown_text(text)}" for text in told.drafted or ()))
    for rule in rule_rows(story):
        if rule.name not in told.bars:
            continue
        rows = [
            (
                "fires" if bar.fires else "just does not",
                markdown_text(f"{bar.symbol} {bar.time}", 80),
                markdown_text(bar.values, 300),
                markdown_text(bar.missing and f"not: {bar.missing}", 600),
            )
            for bar in told.bars[rule.name]
        ]
        prose = f"“{markdown_text(rule.prose, 800)}” became " if rule.prose else ""
        parts.append(f"`{rule.name}`: {prose}{markdown_code(rule.expression, 1200)}")
        given = told.assumptions.get(rule.name, ())
        assumed = [f"- assumed: {markdown_text(text, 300)}" for text in given]
        parts.append("\n".join(assumed))
        parts.append(_table(("It", "At", "What it reads", "Missing"), rows) if rows else "")
    return "\n\n".join(part for part in parts if part)


def _risk(story: Story) -> str:
    risk = "\n".join(f"- {markdown_text(line)}" for line in risk_words(story.contract))
    rows = [
        (markdown_code(name, 64), value, span or "fixed")
        for name, value, span in parameter_rows(story)
    ]
    table = _table(("Parameter", "Value", "Range"), rows, "lrl") if rows else ""
    unit = currency(story.contract)
    money = f"Money is in {markdown_text(unit, 20)}. " if unit else ""
    return _folded("Risk, costs and parameters", [risk, money + cost_words(story), table])


def _gates(story: Story) -> str:
    if not story.verdicts:
        return _section("Gates", ["No gate has run, so nothing is proven."])
    rows = [
        (
            "✅ passed" if verdict.passed is True else "❌ **failed**",
            markdown_text(verdict.name, 40),
            markdown_text(verdict.figure, 2000),
        )
        for verdict in story.verdicts
    ]
    table = _table(("Result", "Gate", "Figure"), rows)
    if not story.accepted:
        return _section("Gates", [table])
    return _folded(f"✅ {counted(len(rows), 'gate')} passed", [table])


def _closes(story: Story) -> str:
    """What GitHub closes with the merge: the issue whose form made the contract."""
    found = _FORM_PATH.search(story.contract_path)
    return f"Closes #{found[1]}" if found else ""


def _changes(story: Story) -> str:
    parts = [
        markdown_text(change_words(story.behaviour_change)),
        _differing(story.behaviour_change),
    ]
    if story.previous:
        nothing = "The version that this pull request showed before cannot be replayed."
        parts += [markdown_text(change_words(story.since, nothing)), _differing(story.since)]
    return _section("What changed in behaviour", parts)


def _differing(change: BehaviourChange | None) -> str:
    """Fold the trades that differ away; nothing if none does in more than its size."""
    if change is None or not change.marked:
        return ""
    rows = [
        (word, *(markdown_text(cell, 60) for cell in trade_cells(trade)))
        for word, trade in change.marked[:MOST_CHANGES]
    ]
    left = len(change.marked) - len(rows)
    more = f"{left} more rows are in report.html." if left > 0 else ""
    return _folded("The trades that differ", [_trades(rows), more])


def _trades(rows: Sequence[Sequence[str]]) -> str:
    """A table that fits the width of a pull request: what all rows share is said once, above."""
    shared = [at for at in (1, 2) if len({row[at] for row in rows}) == 1]
    kept = [at for at in range(len(_TRADE_HEADS)) if at not in shared]
    above = f"All {', '.join(rows[0][at] for at in shared)}.\n\n" if shared else ""
    heads, *cells = ([row[at] for at in kept] for row in (_TRADE_HEADS, *rows))
    return above + _table(heads, cells, "".join(_TRADE_SIDES[at] for at in kept))


def _provenance(story: Story) -> str:
    rows = [(name, markdown_code(value, 400)) for name, value in provenance_rows(story)]
    parts = [_table(("What", "Value"), rows)]
    if story.files:
        files = [
            (markdown_code(path, 200), markdown_text(words)) for path, words in file_rows(story)
        ]
        parts.insert(0, _table(("File", "What it is"), files))
    return _folded("Files, and where they came from", parts)


def _reproduce(story: Story) -> str:
    command = markdown_code(reproduce_command(story), 500)
    return f"In a clone that has the tag, this recomputes every digest and the backtest: {command}"


def _section(title: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"### {title}", *(part for part in parts if part)])


def _folded(title: str, parts: Iterable[str]) -> str:
    inner = "\n\n".join(part for part in parts if part)
    return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], sides: str = "") -> str:
    marks = ["---:" if side == "r" else "---" for side in sides or "l" * len(heads)]
    lines = [_cells(heads), _cells(marks), *(_cells(row) for row in rows[:MOST_ROWS])]
    table = "\n".join(lines)
    left = len(rows) - MOST_ROWS
    return f"{table}\n\n{left} more are in report.html." if left > 0 else table


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell or ' ' for cell in cells)} |"
