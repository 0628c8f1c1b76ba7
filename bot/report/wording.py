"""A story to sentences and rows: the words that the page and the pull request share.

Strings of the contract pass through as they are; whoever shows a row escapes it.
"""

from dataclasses import dataclass
from typing import Any

from bot.contract import catalog
from bot.contract.language import ExpressionStep, Step, TalibStep
from bot.contract.model import AtrLevel, Contract, Level, NumberOrName, Prose
from bot.contract.tree import Parameter
from bot.contract.words import in_words
from bot.report.figures import NO_VALUE, count, counted, decimal, number, percent, price, rate
from bot.report.story import Judged, Story

RULES = {
    "enter_long": "Buy when",
    "exit_long": "Sell what was bought when",
    "enter_short": "Sell short when",
    "exit_short": "Buy back when",
}


@dataclass(frozen=True)
class RuleRow:
    """A rule: its name, its title, what it says, and how the contract writes it."""

    name: str
    title: str
    words: str
    expression: str
    prose: str


def verdict_title(story: Story) -> str:
    """Whether it may be proposed, in one line."""
    total = len(story.verdicts)
    if not total:
        return "Refused: no gate has judged it"
    if story.accepted:
        return "Accepted: the gate passed" if total == 1 else f"Accepted: all {total} gates passed"
    return f"Refused: {len(story.failed)} of {counted(total, 'gate')} failed"


def result_line(story: Story) -> str:
    """What came out of the back-test, in one sentence."""
    summary = story.summary
    if not number(summary.get("bars")):
        return "There is no back-test: no candle was played."
    held = _part(summary, "buy_and_hold").get("return")
    trades = counted(summary.get("total_trades"), "trade")
    line = f"The back-test returned {percent(summary.get('return'), sign=True)} after costs"
    against = "" if number(held) is None else f"; buying and holding {percent(held, sign=True)}"
    return f"{line} over {trades}{against}."


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
    held = _part(story.summary, "buy_and_hold").get("return")
    capital, final = decimal(get("capital")), decimal(get("final_equity"))
    wins = f"{count(get('winners') or 0)} won, {count(get('losers') or 0)} lost"
    extremes = f"best {decimal(get('best_trade'), sign=True)}, "
    extremes += f"worst {decimal(get('worst_trade'), sign=True)}"
    share = percent(get("cost_share"))
    cost_note = f"commission {decimal(get('fees'))}, the rest slippage, spread and ticks"
    if share != NO_VALUE:
        cost_note += f"; {share} of the profit before costs"
    return [
        ("Return", percent(get("return"), sign=True), f"from {capital} to {final}, after costs"),
        ("Buy and hold", percent(held, sign=True), "the same candles, without costs"),
        ("Annual return", percent(get("annual_return"), sign=True), "compounded"),
        ("Max drawdown", percent(get("max_drawdown")), "deepest fall below the highest equity"),
        ("Sharpe", decimal(get("sharpe")), "annualised, no risk-free rate"),
        ("Sortino", decimal(get("sortino")), "annualised, downside only"),
        ("Calmar", decimal(get("calmar")), "annual return over max drawdown"),
        ("Trades", count(get("total_trades")), wins),
        ("Win rate", percent(get("win_rate")), extremes),
        ("Profit factor", decimal(get("profit_factor")), "gross profit over gross loss"),
        ("Expectancy", decimal(get("expectancy"), sign=True), "mean profit of a trade"),
        ("Exposure", percent(get("exposure")), "share of candles with an open position"),
        ("Turnover", decimal(get("turnover")), "value of all fills over the mean equity"),
        ("Costs", decimal(get("costs")), cost_note),
        ("Break-even cost", _bps(get("break_even_cost_bps")), "per side, where profit is zero"),
    ]


def _bps(value: Any) -> str:
    shown = decimal(value, 1)
    return shown if shown == NO_VALUE else f"{shown} bps"


def year_rows(story: Story) -> list[tuple[str, str, str, str, str, str]]:
    """Every calendar year: return, drawdown, trades, win rate, profit."""
    rows = []
    for year, row in _part(story.summary, "by_year").items():
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
    rejected = number(story.summary.get("orders_rejected")) or 0
    parts = []
    if forced:
        profit = decimal(story.summary.get("forced_pnl"), sign=True)
        verb = "was" if forced == 1 else "were"
        parts.append(
            f"{counted(forced, 'position')} {verb} still open at the end: closed at the last "
            f"price ({profit}), listed, not counted in the statistics."
        )
    if rejected:
        verb = "was" if rejected == 1 else "were"
        parts.append(f"{counted(rejected, 'order')} {verb} rejected for lack of cash or size.")
    return " ".join(parts)


def ambiguity_words(story: Story) -> str:
    """How much of the profit depends on the order of prices inside a candle."""
    band = _part(story.summary, "ambiguity_band")
    doubtful = number(band.get("ambiguous_trades")) or 0
    if not doubtful:
        return (
            "No trade's outcome depends on the order of prices inside a candle: "
            "the profit has no ambiguity band."
        )
    worst, best = decimal(band.get("worst_pnl"), sign=True), decimal(band.get("best_pnl"), sign=True)
    total = counted(story.summary.get("total_trades"), "trade")
    them = "its exits" if doubtful == 1 else "their exits"
    return (
        f"In {count(doubtful)} of {total} one candle touched both of {them}, and a candle does "
        f"not tell which came first. The worse one was taken: profit {worst}. Had the better one "
        f"come first every time: {best}. The truth lies between."
    )


def rule_rows(story: Story) -> list[RuleRow]:
    """The rules in words beside the text that the contract has for them."""
    rows = []
    for name, title in RULES.items():
        written = getattr(story.contract.rules, name)
        if written is None:
            continue
        prose = written.prose if isinstance(written, Prose) else ""
        expression = story.expressions.get(name, "") if prose else str(written)
        tree = story.program.rules.get(name)
        rows.append(RuleRow(name, title, in_words(tree) if tree else "", expression, prose))
    return rows


def indicator_rows(story: Story) -> list[tuple[str, str, str]]:
    """The indicators: name, what it is, how the contract writes it."""
    written = story.contract.indicators
    return [
        (step.name, _indicator_words(step), _indicator_text(written.get(step.name)))
        for step in story.program.steps
    ]


def _indicator_words(step: Step) -> str:
    if isinstance(step, ExpressionStep):
        return in_words(step.tree)
    inputs = ", ".join(in_words(node) for node in step.inputs)
    settings = ", ".join(f"{key} {_argument(step, key, value)}" for key, value in step.arguments)
    words = f"{step.function.title} of {inputs}" if inputs else step.function.title
    return f"{words}; {settings}" if settings else words


def _argument(step: TalibStep, key: str, value: int | float | Parameter) -> str:
    if isinstance(value, Parameter):
        return value.name
    declared = step.function.argument(key)
    if declared is not None and declared.kind == "matype":
        names = {number: name for name, number in catalog.MA_TYPES.items()}
        return names.get(int(value), str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _indicator_text(written: Any) -> str:
    if written is None:
        return ""
    expression = getattr(written, "expression", None)
    if expression is not None:
        return str(expression)
    arguments = [f"{key}={value}" for key, value in written.arguments.items()]
    inputs = written.input
    if inputs is not None:
        arguments.insert(0, inputs if isinstance(inputs, str) else ", ".join(inputs))
    return f"{written.function}({', '.join(arguments)})"


def parameter_rows(story: Story) -> list[tuple[str, str, str]]:
    """The parameters: name, value, range."""
    return [
        (name, f"{item.default:g}", f"{item.range[0]:g} to {item.range[1]:g}" if item.range else "")
        for name, item in story.contract.parameters.items()
    ]


def risk_words(contract: Contract) -> list[str]:
    """What a trade may lose, what it aims at and how large it is, a sentence each."""
    risk, number_of = contract.risk, _Numbers(contract)
    lines = [f"Stop: {number_of.level(risk.stop_loss)} against the entry price."]
    if risk.take_profit is not None:
        lines.append(f"Target: {number_of.level(risk.take_profit)} beyond the entry price.")
    if risk.trailing_stop is not None:
        trail = risk.trailing_stop
        line = f"Trailing stop: {number_of.share(trail.distance)} behind the best price so far"
        if trail.activate_at is not None:
            before = "no trailing" if trail.only_after_activation else "the stop's own distance"
            line += f", once in profit by {number_of.share(trail.activate_at)}; {before} until then"
        lines.append(f"{line}. It never loosens.")
    if risk.roi is not None:
        steps = [
            f"{number_of.share(profit)} after {counted(minutes, 'minute')}"
            for minutes, profit in risk.roi.items()
        ]
        held = "; held back while the entry rule is true" if risk.ignore_roi_if_entry_signal else ""
        lines.append(f"Profit taken, net of commission: {', '.join(steps)}{held}.")
    if risk.exit_profit_only:
        lines.append("The exit rule counts only while the trade is in profit after fees.")
    lines.append(f"Size: {_size_words(contract, number_of)}.")
    most = risk.max_positions
    lines.append(f"At most {counted(most, 'position')} at once, one for each symbol.")
    return lines


def _size_words(contract: Contract, number_of: "_Numbers") -> str:
    size = contract.risk.size
    if size.units is not None:
        return f"{number_of.plain(size.units)} units a trade"
    if size.risk is not None:
        return f"as much as loses {number_of.share(size.risk)} of equity at the stop"
    return f"{number_of.share(size.equity if size.equity is not None else 0.1)} of equity a trade"


class _Numbers:
    """Numbers of a contract in words, with the parameter that gives them."""

    def __init__(self, contract: Contract) -> None:
        self._parameters = contract.parameters

    def share(self, value: NumberOrName) -> str:
        """A fraction as a percentage."""
        if not isinstance(value, str):
            return rate(value)
        return f"{value} ({rate(self._default(value))})"

    def plain(self, value: NumberOrName) -> str:
        """A number as it is."""
        if not isinstance(value, str):
            return f"{value:g}"
        found = self._default(value)
        return f"{value} ({NO_VALUE if found is None else format(found, 'g')})"

    def level(self, level: Level) -> str:
        """A level's distance."""
        if isinstance(level, AtrLevel):
            period = self.plain(level.timeperiod)
            return f"{self.plain(level.atr)} average true ranges (of {period} candles)"
        return self.share(level)

    def _default(self, name: str) -> float | None:
        parameter = self._parameters.get(name)
        return None if parameter is None else parameter.default


def change_words(story: Story) -> str:
    """What became of the trades against the version on the base branch."""
    change = story.behaviour_change
    if change is None:
        return "There is no earlier version on the base branch to compare with."
    if change.is_none:
        same = counted(change.unchanged, "trade")
        return f"Nothing: all {same} are the same as in {change.base}."
    return (
        f"Against {change.base}, on the same candles: {counted(len(change.added), 'trade')} added, "
        f"{len(change.removed)} removed, {len(change.changed)} changed, {change.unchanged} the "
        f"same; profit {decimal(change.pnl_before, sign=True)} before, "
        f"{decimal(change.pnl_after, sign=True)} now."
    )


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
        ("Model", story.model or "none"),
        ("Prompt hash", story.prompt_hash),
    ]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(story.versions.items()))
    return [*rows, ("Versions", versions)] if versions else rows


def trade_cells(trade: Any) -> tuple[str, ...]:
    """A trade's symbol, side, volume, entry, exit and profit, ready to be shown."""
    from bot.report.figures import moment, volume

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


def _part(summary: Any, name: str) -> Any:
    found = summary.get(name)
    return found if isinstance(found, dict) else {}
