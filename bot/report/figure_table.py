"""Turns one summary, or two, into the table of figures that a pull request and a terminal show."""

from collections.abc import Callable, Mapping
from functools import partial

from bot.report.figures import NO_VALUE, Summary, count, decimal, number, percent

Form = Callable[..., str]
_gain, _money = partial(percent, sign=True), partial(decimal, sign=True)
# Name, place in summary.json, how it is written.
FIGURES: tuple[tuple[str, str, Form], ...] = (
    ("Return", "return", _gain),
    ("Buy and hold", "buy_and_hold.return", _gain),
    ("Max drawdown", "max_drawdown", percent),
    ("Sharpe", "sharpe", decimal),
    ("Sortino", "sortino", decimal),
    ("Calmar", "calmar", decimal),
    ("Trades", "total_trades", count),
    ("Win rate", "win_rate", percent),
    ("Profit factor", "profit_factor", decimal),
    ("Expectancy in R", "tear_sheet.expectancy_r", _money),
    ("Exposure", "exposure", percent),
    ("Costs", "costs", decimal),
)


def figure_at(summary: Summary, place: str) -> float | None:
    """Read a figure of a summary by its place, as `tear_sheet.omega`; None if it has none."""
    found: object = summary
    if place == "win_rate" and not number(summary.get("total_trades")):
        return None  # a share of nothing
    for name in place.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return number(found)


def figure_rows(now: Summary, before: Summary | None = None) -> list[tuple[str, ...]]:
    """Give name and value; with another version's summary, its value and the change as well."""
    rows = []
    for name, place, form in FIGURES:
        value = figure_at(now, place)
        cells: tuple[str, ...] = (name, form(value))
        if before is not None:
            old = figure_at(before, place)
            cells += (form(old), _change(value, old, form))
        rows.append(cells)
    return rows


def _change(value: float | None, old: float | None, form: Form) -> str:
    """Write the difference with its sign; a dash where both are written alike."""
    if value is None or old is None or form(value) == form(old):
        return NO_VALUE
    shown = form(abs(value - old)).removeprefix("+")
    return f"{'+' if value > old else '-'}{shown}"
