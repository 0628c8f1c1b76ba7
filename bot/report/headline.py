"""Turns a summary into one line of figures, and into the reason why there are no trades."""

from collections.abc import Mapping

from bot.report.figures import NO_VALUE, Summary, count, counted, number
from bot.report.inert import one_line

LONGEST_LINE = 2000
MINUS = "\N{MINUS SIGN}"


def figure_line(summary: Summary) -> str:
    """The figures that matter, in one line; empty where no candle was played.

    As in `+1.0 % · hold +18.9 % · dd 1.0 % · Sharpe 2.2 · 14 trades`.
    """
    if not number(summary.get("bars")):
        return ""
    parts = [
        _share(summary.get("return"), sign=True),
        f"hold {_share(part(summary, 'buy_and_hold').get('return'), sign=True)}",
        f"dd {_share(summary.get('max_drawdown'))}",
        f"Sharpe {_tenths(summary.get('sharpe'))}",
        counted(summary.get("total_trades"), "trade"),
    ]
    rejected = number(summary.get("orders_rejected"))
    return " · ".join([*parts, *([f"{counted(rejected, 'order')} rejected"] if rejected else [])])


FIGURES = (
    *("return", "buy_and_hold", "max_drawdown", "sharpe", "total_trades", "forced_exits"),
    *("orders_rejected", "rejections", "signals"),
)


def figures_of(summary: Summary) -> dict[str, object]:
    """The same figures for programs, and what is behind them."""
    return {name: summary[name] for name in FIGURES if name in summary}


def told_lines(summary: Summary) -> list[str]:
    """What a terminal says of a backtest: the line, and what needs saying beside it."""
    lines = (figure_line(summary), no_trade_words(summary), *words_beside(summary))
    return [one_line(line, LONGEST_LINE) for line in lines if line]


def words_beside(summary: Summary) -> list[str]:
    """What a trader has to know beside the figures, as far as `no_trade_words` does not say it."""
    told = no_trade_words(summary)
    more = (rejection_words(summary), warmup_words(summary), collision_words(summary))
    return [f"{words[0].upper()}{words[1:]}" for words in more if words and words not in told]


def _tenths(value: object, *, sign: bool = False) -> str:
    found = number(value)
    if found is None:
        return NO_VALUE
    text = f"{round(found, 1) + 0.0:+,.1f}"
    if not sign or text in ("+0.0", "-0.0"):
        text = text.removeprefix("+")
    return text.replace("-", MINUS)


def _share(value: object, *, sign: bool = False) -> str:
    found = number(value)
    return NO_VALUE if found is None else f"{_tenths(found * 100, sign=sign)} %"


def rejection_words(summary: Summary) -> str:
    """How many orders were rejected, for each cause; empty if none was."""
    causes = part(summary, "rejections")
    if not number(summary.get("orders_rejected")):
        return ""
    told = ", ".join(f"{count(times)} for {CAUSES.get(why, why)}" for why, times in causes.items())
    rejected = number(summary.get("orders_rejected"))
    verb = "was" if rejected == 1 else "were"
    return f"{counted(rejected, 'order')} {verb} rejected{f': {told}' if told else ''}."


CAUSES = {
    "below the minimum value": "a value below min_notional",
    "smaller than one lot": "a size smaller than one lot",
}


def collision_words(summary: Summary) -> str:
    """How many candles ask for an entry and for its opposite; empty if none does."""
    found = number(part(summary, "signals").get("collisions"))
    if not found:
        return ""
    verb = "asks" if found == 1 else "ask"
    return (
        f"{counted(found, 'candle')} {verb} for an entry and for its exit, or for both entries, at "
        "once: here such a candle enters nothing; Freqtrade has its own rule."
    )


def warmup_words(summary: Summary) -> str:
    """Says that the data ends before the indicators are complete; empty if it does not."""
    needed, bars = number(part(summary, "signals").get("warmup")), number(summary.get("bars"))
    if not needed or not bars or needed < bars:
        return ""
    complete = f"complete after {counted(needed, 'candle')}"
    return f"the indicators are {complete}, the data has {count(bars)}."


def no_trade_words(summary: Summary) -> str:
    """Why there is no finished trade; empty if there is one, or no candle was played."""
    if number(summary.get("total_trades")) or not number(summary.get("bars")):
        return ""
    return f"No trade: {_reason(summary)}"


def _reason(summary: Summary) -> str:
    if forced := number(summary.get("forced_exits")):
        verb = "was" if forced == 1 else "were"
        return f"{counted(forced, 'position')} {verb} still open after the last candle."
    if rejected := rejection_words(summary):
        return f"every order was rejected. {rejected}"
    signals = part(summary, "signals")
    if not signals:
        return "the strategy asked for none."
    if short := warmup_words(summary):
        return short
    entries = {
        name: rule for name, rule in part(signals, "rules").items() if name.startswith("enter_")
    }
    silent = [_silent(name, rule, signals) for name, rule in entries.items() if not rule["held"]]
    if len(silent) == len(entries):
        return " ".join(silent)
    if not number(signals.get("entries")):
        return f"wherever an enter rule held, it was cancelled. {collision_words(summary)}".strip()
    held = ", ".join(
        f"{name} held on {counted(r['held'], 'candle')}" for name, r in entries.items()
    )
    return f"{held}, and no order could fill before the data ended."


def _silent(name: str, rule: Summary, signals: Summary) -> str:
    """Why one rule never held: how often each of its clauses did."""
    line = f"{name} never held in {counted(signals.get('candles'), 'candle')}"
    clauses = rule.get("clauses") or []
    if not clauses:
        return f"{line}."
    told = ", ".join(f"“{clause['words']}” on {count(clause['held'])}" for clause in clauses)
    line = f"{line}. Its clauses held: {told}."
    if all(clause["held"] for clause in clauses):
        apart = rule.get("never_together")
        together = f"“{apart[0]}” and “{apart[1]}” never" if apart else "All of them together never"
        line += f" {together} held on the same candle."
    return line


def part(summary: Summary, name: str) -> Summary:
    """A mapping inside a summary; an empty one where there is none."""
    found = summary.get(name)
    return found if isinstance(found, Mapping) else {}
