"""Turns the tear sheet of a summary into rows for people: months, falls, splits, risk."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.report.figures import Summary, count, decimal, number, percent
from bot.report.headline import part

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SPLITS = (
    ("by_exit", "Exit rule"),
    ("by_side", "Side"),
    ("by_symbol", "Symbol"),
    ("by_hour", "Hour of entry, UTC"),
)
MOST_PARTS = 24  # a row for each hour; of more symbols than that, the best and the worst
# Monthly returns at which a cell of the heat map takes the next shade.
_SHADES = (0.0, 0.02, 0.05, 0.1)


def sheet_of(summary: Summary) -> Summary:
    """Give the tear sheet; empty where a summary has none."""
    found = summary.get("tear_sheet")
    return found if isinstance(found, Mapping) else {}


def risk_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Give the figures of risk and of trades: name, value, and what stands behind it."""
    get = sheet_of(summary).get
    if not sheet_of(summary):
        return []
    return [
        ("Volatility", percent(get("volatility")), "deviation of the returns, annualised"),
        ("Over holding", percent(get("over_hold"), sign=True), "return less that of holding"),
        ("Omega", decimal(get("omega")), "sum of gains over sum of losses"),
        ("Value at risk", percent(get("value_at_risk")), "one candle in twenty is worse"),
        ("Expected shortfall", percent(get("expected_shortfall")), "mean of that worst twentieth"),
        ("Ulcer index", percent(get("ulcer_index")), "root mean square of the falls"),
        ("Time under water", percent(get("time_under_water")), "candles below an earlier peak"),
        ("Recovery factor", decimal(get("recovery_factor")), "return over max drawdown"),
        (
            "Alpha",
            percent(get("alpha"), sign=True),
            "yearly return that holding leaves open",
        ),
        ("Beta", decimal(get("beta")), "how far it moves with holding"),
        ("Correlation", decimal(get("correlation")), "to holding, candle by candle"),
        ("Expectancy in R", decimal(get("expectancy_r")), "mean profit over what was risked"),
        ("Mean win", decimal(get("mean_win"), sign=True), "of the trades that won"),
        ("Mean loss", decimal(get("mean_loss"), sign=True), "of the trades that lost"),
        ("Payoff", decimal(get("payoff")), "mean win over mean loss"),
        ("Kelly", percent(get("kelly")), "share of capital that Kelly's rule would bet"),
        ("SQN", decimal(get("sqn")), "system quality number"),
        ("Streaks", _streaks(get), "most trades in a row"),
    ]


def _streaks(get: Callable[[str], object]) -> str:
    return f"{count(get('most_wins_in_a_row'))} won, {count(get('most_losses_in_a_row'))} lost"


def month_rows(summary: Summary) -> list[tuple[str, list[tuple[str, str]], str]]:
    """Lay the months out: the year, twelve cells with their shade, the year's return."""
    years: dict[str, dict[int, float]] = {}
    for month, value in sheet_of(summary).get("by_month", ()):
        year, _, place = str(month).partition("-")
        known = number(value)
        if known is not None:
            years.setdefault(year, {})[int(place)] = known
    whole = part(summary, "by_year")
    return [
        (
            year,
            [_cell(years[year].get(place)) for place in range(1, 13)],
            percent(part(whole, year).get("return"), sign=True),
        )
        for year in sorted(years)
    ]


def _cell(value: float | None) -> tuple[str, str]:
    if value is None:
        return "", "n"
    shade = sum(abs(value) > limit for limit in _SHADES)
    return decimal(value * 100, 1, sign=True), f"n {'g' if value > 0.0 else 'l'}{shade}"


def fall_rows(summary: Summary) -> list[tuple[str, ...]]:
    """List the deepest falls: depth, from, lowest, back at the peak, days in all and days back."""
    return [
        (
            percent(fall["depth"]),
            str(fall["start"])[:16].replace("T", " "),
            str(fall["trough"])[:16].replace("T", " "),
            str(fall["end"])[:16].replace("T", " ") if fall["end"] else "not yet",
            decimal(fall["days"], 1),
            decimal(fall["days_back"], 1),
        )
        for fall in sheet_of(summary).get("drawdowns", ())
    ]


def split_tables(summary: Summary) -> list[tuple[str, list[tuple[str, ...]], int]]:
    """Divide the trades by what they have: a title, rows and how many rows there are in all.

    A row has name, trades, win rate and profit. Where there are too many, half of those shown are
    the best by profit, half the worst.
    """
    tables = []
    for key, title in SPLITS:
        parts = list(part(sheet_of(summary), key).items())
        if len(parts) < 2 and not (parts and key == "by_exit"):
            continue
        shown, half = parts, MOST_PARTS // 2
        if len(parts) > MOST_PARTS:
            ordered = sorted(parts, key=lambda each: -each[1]["pnl"])
            shown = [*ordered[:half], *ordered[-half:]]
        rows: list[tuple[str, ...]] = [
            (
                name.replace("_", " ") if key == "by_exit" else name,
                count(each["trades"]),
                percent(each["win_rate"]),
                decimal(each["pnl"], sign=True),
            )
            for name, each in shown
        ]
        tables.append((title, rows, len(parts)))
    return tables


def spread_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Show how long trades were held and how far they ran: least, quarters, most."""
    rows: list[tuple[str, ...]] = []
    kinds: Sequence[tuple[str, str, Any]] = (
        ("r_multiples", "Profit in R", decimal),
        ("hours_held", "Hours held", lambda value: decimal(value, 1)),
        ("adverse_excursion", "Ran against the entry", percent),
        ("favourable_excursion", "Ran for the entry", percent),
    )
    for key, title, form in kinds:
        found = sheet_of(summary).get(key)
        if found:
            points = ("least", "lower", "middle", "upper", "most")
            rows.append((title, *(form(found[point]) for point in points)))
    return rows


def doubt_rows(summary: Summary) -> list[tuple[str, ...]]:
    """Show both readings of the doubtful trades: profit, equity at the end, return; or nothing."""
    other, band = part(sheet_of(summary), "ambiguity"), part(summary, "ambiguity_band")
    if not number(other.get("trades")):
        return []
    readings = (
        ("The worse came first (taken)", band.get("worst_pnl"), summary),
        ("The better came first", band.get("best_pnl"), other),
    )
    return [
        (
            words,
            decimal(pnl, sign=True),
            decimal(ends.get("final_equity")),
            percent(ends.get("return"), sign=True),
        )
        for words, pnl, ends in readings
    ]
