"""A story to sentences and rows: what was proven and what came out of the backtest.

Strings of the contract pass through as they are; whoever shows a row escapes it.
"""

import shlex

from Backtest.positions import Trade
from bot.contract.code_paths import FREQTRADE_FOLDER
from bot.contract.model import Contract
from bot.report.behaviour import BehaviourChange
from bot.report.figure_table import figure_at
from bot.report.figures import (
    NO_VALUE,
    Summary,
    count,
    counted,
    decimal,
    moment,
    number,
    percent,
    price,
    rate,
    volume,
)
from bot.report.headline import (
    CAUSES,
    figure_line,
    part,
    words_beside,
)
from bot.report.inert import one_line
from bot.report.searched import headline
from bot.report.story import Judged, Story

NO_EARLIER = "There is no earlier version on the base branch to compare with."


def verdict_title(story: Story) -> str:
    """Whether it is proven, accepted or refused, and what was asked, in one line."""
    total = len(story.verdicts)
    if not story.tag:
        return "A backtest: no gate has judged it, so nothing is proven"
    if not total:
        return "Refused: no gate has judged it"
    if not story.accepted:
        return f"Refused: {len(story.failed)} of {counted(total, 'gate')} failed"
    gates = "the gate passed" if total == 1 else f"all {total} gates passed"
    asked = story.contract.acceptance.model_dump(exclude_none=True)
    if not asked:
        return f"Proven, nothing asked of its results: {gates}"
    met = ", ".join(f"{name} {value:g}" for name, value in asked.items())
    return f"Accepted: asked {met}, and met; {gates}"


def result_line(story: Story) -> str:
    """The figures in one line of our own making; after a search, those it did not see first."""
    line = figure_line(story.summary) or "There is no backtest: no candle was played."
    if story.searched is not None:
        return headline(story.searched, line)
    chosen = story.contract.optimized is not None
    return f"{line} · a search chose its values: expect less" if chosen else line


def market_line(story: Story) -> str:
    """What was traded, on which candles."""
    market = story.contract.market
    symbols = ", ".join(market.symbols[:5])
    if len(market.symbols) > 5:
        symbols += f" and {len(market.symbols) - 5} more"
    parts = [symbols, f"{market.timeframe} candles", market.type]
    if story.summary.get("start") and story.summary.get("end"):
        span = f"{str(story.summary['start'])[:10]} to {str(story.summary['end'])[:10]}"
        parts.append(f"{span} ({counted(story.summary.get('bars'), 'candle')})")
    return " · ".join(parts)


def currency(contract: Contract) -> str:
    """The currency that all symbols are priced in, if they name one."""
    quotes = {
        symbol.split("/", 1)[1].split(":")[0] if "/" in symbol else ""
        for symbol in contract.market.symbols
    }
    return quotes.pop() if len(quotes) == 1 else ""


def metric_rows(story: Story) -> list[tuple[str, str, str]]:
    """The figures that matter: name, value, and what stands behind it."""
    get = story.summary.get
    held = part(story.summary, "buy_and_hold").get("return")
    capital, final = decimal(get("capital")), decimal(get("final_equity"))
    wins = f"{count(get('winners') or 0)} won, {count(get('losers') or 0)} lost"
    extremes = f"best {decimal(get('best_trade'), sign=True)}, "
    extremes += f"worst {decimal(get('worst_trade'), sign=True)}"
    cost_note = f"commission {decimal(get('fees'))}, the rest slippage, spread and ticks"
    return [
        ("Return", percent(get("return"), sign=True), f"from {capital} to {final}, after costs"),
        ("Buy and hold", percent(held, sign=True), "the same candles, without costs"),
        ("Annual return", percent(get("annual_return"), sign=True), "compounded"),
        ("Max drawdown", percent(get("max_drawdown")), "deepest fall below the highest equity"),
        ("Sharpe", decimal(get("sharpe")), "annualised, no risk-free rate"),
        ("Sortino", decimal(get("sortino")), "annualised, downside only"),
        ("Calmar", decimal(get("calmar")), "annual return over max drawdown"),
        ("Trades", count(get("total_trades")), wins),
        ("Win rate", percent(figure_at(story.summary, "win_rate")), extremes),
        ("Profit factor", decimal(get("profit_factor")), "gross profit over gross loss"),
        ("Expectancy", decimal(get("expectancy"), sign=True), "mean profit of a trade"),
        ("Exposure", percent(get("exposure")), "share of candles with an open position"),
        ("Costs", decimal(get("costs")), cost_note),
    ]


def cost_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """What trading cost: name, value, and what stands behind it."""
    get, costs = summary.get, part(part(summary, "tear_sheet"), "costs").get
    if not number(get("total_trades")):
        return []
    return [
        ("Profit before costs", decimal(costs("profit_before"), sign=True), "at market prices"),
        ("Commission", decimal(costs("commission")), "on the value of every fill"),
        ("Slippage and spread", decimal(costs("slippage_and_spread")), "ticks are in it"),
        ("Profit", decimal(costs("profit_after"), sign=True), "what is left"),
        ("Costs a trade", decimal(costs("a_trade")), "both fills"),
        ("Share of the profit", percent(get("cost_share")), "costs over the profit before them"),
        ("Break-even cost", _bps(get("break_even_cost_bps")), "per side, where profit is zero"),
        ("Traded value", decimal(get("traded_value")), "all fills"),
        ("Turnover", decimal(get("turnover")), "value of all fills over the mean equity"),
    ]


def rejection_rows(summary: Summary) -> list[tuple[str, str]]:
    """Orders that were rejected: why, and how many."""
    return [(CAUSES.get(why, why), count(n)) for why, n in part(summary, "rejections").items()]


def clause_rows(summary: Summary) -> list[tuple[str, str, str, int]]:
    """How often each rule and its clauses held: rule, clause, candles, share in hundreds."""
    signals = part(summary, "signals")
    candles = number(signals.get("candles")) or 1
    rows = []
    for name, rule in part(signals, "rules").items():
        parts = [("the whole rule", rule["held"])]
        parts += [(clause["words"], clause["held"]) for clause in rule.get("clauses") or []]
        for place, (words, held) in enumerate(parts):
            share = round(100 * held / candles)
            rows.append(("" if place else name, words, count(held), share))
    return rows


def _bps(value: object) -> str:
    shown = decimal(value, 1)
    return shown if shown == NO_VALUE else f"{shown} bps"


def year_rows(story: Story) -> list[tuple[str, str, str, str, str, str]]:
    """Every calendar year: return, drawdown, trades, win rate, profit."""
    rows = []
    for year, row in part(story.summary, "by_year").items():
        trades = number(row.get("trades")) or 0
        rows.append(
            (
                str(year),
                percent(row.get("return"), sign=True),
                percent(row.get("max_drawdown")),
                count(trades),
                percent(row.get("win_rate")) if trades else NO_VALUE,
                decimal(row.get("pnl"), sign=True),
            )
        )
    return rows


def cost_words(story: Story) -> str:
    """What each fill costs and where orders fill."""
    costs = story.contract.costs
    parts = [f"commission {rate(costs.commission)} of the value of every fill"]
    parts.append(f"slippage {rate(costs.slippage)} on market and stop fills")
    if costs.spread:
        parts.append(f"a spread of {rate(costs.spread)}, half of it on each of those")
    else:
        parts.append("no spread")
    where = {
        "next_open": "Signals of a candle fill at the next candle's open",
        "this_close": "Signals of a candle fill at that candle's close",
    }[story.contract.execution]
    return f"Costs: {', '.join(parts)}. {where}."


def open_end_words(story: Story) -> str:
    """What is not in the statistics; empty if everything is."""
    forced = number(story.summary.get("forced_exits")) or 0
    parts = []
    if forced:
        profit = decimal(story.summary.get("forced_pnl"), sign=True)
        verb = "was" if forced == 1 else "were"
        parts.append(
            f"{counted(forced, 'position')} {verb} still open at the end: closed at the last "
            f"price ({profit}), listed, not counted in the statistics."
        )
    return " ".join([*parts, *words_beside(story.summary)])


def compact_words(story: Story) -> str:
    """Which files of the evidence hold a part of their rows; empty if none does."""
    parts = [
        f"{count(kept['rows'])} of {count(kept['of'])} rows of {name}"
        for name, kept in story.compact.items()
    ]
    if not parts:
        return ""
    return f"The evidence keeps {', '.join(parts)}; stratwright report writes all of them."


def ambiguity_words(story: Story) -> str:
    """How much of the profit depends on the order of prices inside a candle."""
    band = part(story.summary, "ambiguity_band")
    doubtful = number(band.get("ambiguous_trades")) or 0
    if not doubtful:
        return (
            "No trade's outcome depends on the order of prices inside a candle: "
            "the profit has no ambiguity band."
        )
    worst, best = (
        decimal(band.get("worst_pnl"), sign=True),
        decimal(band.get("best_pnl"), sign=True),
    )
    total = counted(story.summary.get("total_trades"), "trade")
    them = "its exits" if doubtful == 1 else "their exits"
    return (
        f"In {count(doubtful)} of {total} one candle touched both of {them}, and a candle does "
        f"not tell which came first. The worse one was taken: profit {worst}. Had the better one "
        f"come first every time: {best}. The truth lies between."
    )


def change_words(change: BehaviourChange | None, nothing: str = NO_EARLIER) -> str:
    """What became of the trades against another version."""
    if change is None:
        return nothing
    if change.is_none:
        same = counted(change.unchanged, "trade")
        return f"Nothing: all {same} are the same as in {change.base}."
    size = f", {len(change.resized)} of another size only" if change.resized else ""
    return (
        f"Against {change.base}, on the same candles: {counted(len(change.added), 'trade')} added, "
        f"{len(change.removed)} gone, {len(change.moved)} moved, {len(change.changed)} changed"
        f"{size}, {change.unchanged} the same; profit {decimal(change.pnl_before, sign=True)} "
        f"before, {decimal(change.pnl_after, sign=True)} now."
    )


def change_lines(change: BehaviourChange, most: int = 20) -> list[str]:
    """The same for a terminal: a sentence, and a line for each trade that differs."""
    lines = [change_words(change)]
    for word, trade in change.marked[:most]:
        symbol, side, _, entry, at, exit_, out, pnl, by = trade_cells(trade)
        lines.append(f"{word:<15} {symbol} {side} {entry} {at} to {exit_} {out}, {pnl}, {by}")
    left = len(change.marked) - most
    return [*lines, f"... and {counted(left, 'more row')}"] if left > 0 else lines


def provenance_rows(story: Story) -> list[tuple[str, str]]:
    """Where everything came from."""
    rows = [
        ("Correlation id", story.correlation_id),
        ("Branch", story.branch),
        ("Tag", story.tag),
        ("Contract", story.contract_path),
        ("Contract digest", story.contract_digest),
        ("Data", ", ".join(story.data_files)),
        ("Data digest", story.data_digest),
        ("Coder", story.coder),
        ("Model", story.model or ("none" if story.coder else "")),
        ("Prompt hash", story.prompt_hash),
    ]
    rows = [(name, value) for name, value in rows if value]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(story.versions.items()))
    return [*rows, ("Versions", versions)] if versions else rows


def file_rows(story: Story) -> list[tuple[str, str]]:
    """The proposed files, and what each is."""
    files = [(path, _file_words(path, story)) for path in story.files]
    return [*files, (story.contract_path, "the contract that asks for it")] if files else []


def _file_words(path: str, story: Story) -> str:
    if path.startswith("tests/"):
        return "its tests"
    if not path.startswith(f"{FREQTRADE_FOLDER}/"):
        return "the strategy; stratwright backtest runs it"
    parity = [verdict for verdict in story.verdicts if verdict.name == "freqtrade-parity"]
    words = "the same strategy for Freqtrade"
    if not parity or parity[0].passed is not True:
        return f"{words}, not proven"
    return f"{words}; Freqtrade itself gave the same: {parity[0].figure}"


def trade_cells(trade: Trade) -> tuple[str, ...]:
    """A trade's symbol, side, volume, entry, exit and profit, ready to be shown."""
    marks = [word for word in ("ambiguous", "forced") if getattr(trade, word)]
    return (
        trade.symbol,
        trade.side,
        volume(trade.volume),
        moment(trade.entry_time),
        price(trade.entry_price),
        moment(trade.exit_time),
        price(trade.exit_price),
        decimal(trade.pnl, sign=True),
        " ".join([trade.rule_out.replace("_", " "), *(f"({mark})" for mark in marks)]),
    )


def refusal(verdict: Judged) -> str:
    """Why a gate said no; there is always a reason."""
    if verdict.passed is True:
        return ""
    return verdict.reason or "The gate gave no reason."


def reproduce_command(story: Story) -> str:
    """The one command that recomputes the evidence, safe to paste into a shell."""
    return f"stratwright verify {shlex.quote(one_line(story.tag))}"
