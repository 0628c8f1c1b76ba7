"""Turns a story into its picture: equity beside holding, the price with the trades, drawdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from Backtest.candles import Candles
from Backtest.positions import Trade
from bot.report import drawing
from bot.report.curve import NO_CURVE, Curve, Floats, Point, Whole, drawdown, thin
from bot.report.drawing import BROAD, NARROW, Panel, area, line, marks, padded, short, text
from bot.report.figures import counted, day, decimal, percent
from bot.report.inert import one_line
from bot.report.story import Story
from bot.report.wording import currency

PICTURE = "equity.svg"

# Equity keeps at least an eighth of its panel; a market that moved further has its own scale.
MOST_STRETCH = 8.0
MOST_MARKS = {BROAD: 150, NARROW: 60}
EQUITY_TALL, PRICE_TALL, FALL_TALL, GAP = 170, 150, 60, 40


def picture(story: Story, width: int = BROAD) -> str:
    """The picture of a story, as `equity.svg` holds it; narrow for a phone."""
    return equity_svg(
        story.equity,
        capital=story.contract.capital,
        held=story.held,
        title=f"{story.contract.name}: equity, price and drawdown",
        unit=currency(story.contract),
        candles=story.candles,
        trades=story.trades,
        width=width,
    )


def equity_svg(
    equity: Curve,
    *,
    capital: float | None = None,
    held: Curve = NO_CURVE,
    title: str = "Equity and drawdown",
    unit: str = "",
    candles: Mapping[str, Candles] | None = None,
    trades: Sequence[Trade] = (),
    width: int = BROAD,
) -> str:
    """Draw equity above, the most traded symbol's price with its trades, and drawdown below.

    Args:
        equity: UTC milliseconds and equity, oldest first.
        capital: cash at the start, which counts as a peak.
        held: UTC milliseconds and value of buying and holding, for a second line.
        title: the picture's name, for those who do not see it.
        unit: the currency.
        candles: by symbol.
        trades: those to mark on the price, and to tell what is in doubt by.
        width: in pixels.
    """
    points = _finite(*equity)
    columns = width // 4
    if not len(points[0]):
        words = text(width / 2, 100, "No candles, no curve", "sw-m", "middle")
        return drawing.svg(width, 200, title, "There are no candles.", [words])
    start, end = int(points[0][0]), int(points[0][-1])
    inside = (held[0] >= start) & (held[0] <= end)
    market = _finite(held[0][inside], held[1][inside])
    falls = points[0], drawdown(points[1], capital)
    right, top = float(width - 18), 44.0
    shown = thin(*points, columns)
    better = _better(shown, trades)
    parts, aside = _equity(
        (start, end), shown, better, thin(*market, columns), unit, width, right, top
    )
    top += EQUITY_TALL + GAP
    known = candles or {}
    for name in most_traded(known, trades)[:1]:
        box = (start, end, top, top + PRICE_TALL)
        parts += price_panel(name, known[name], trades, box, width, aside, len(known))
        top += PRICE_TALL + GAP
    deepest = float(falls[1].min())
    lower = Panel(top, top + FALL_TALL, start, end, min(deepest, -1e-4) * 1.05, 0.0, aside)
    parts += [
        text(lower.left, top - 10, f"Drawdown, deepest {percent(-deepest)}"),
        drawing.value_axis(lower, 4, percents=True),
        area(lower, thin(*falls, columns), 'class="sw-d" fill-opacity=".18"'),
        drawing.time_axis(lower),
    ]
    told = _description(points, falls[1], unit)
    return drawing.svg(width, int(top + FALL_TALL + 38), title, told, parts)


def most_traded(candles: Mapping[str, Candles], trades: Sequence[Trade]) -> list[str]:
    """Name the symbols that have a price to draw: most trades first, then as the contract does."""
    times = Counter(trade.symbol for trade in trades)
    known = [name for name, each in candles.items() if len(each)]
    return sorted(known, key=lambda name: -times[name])


def _finite(times: Whole, values: Floats) -> Curve:
    good = np.isfinite(values)
    return times[good], values[good]


def _better(points: Sequence[Point], trades: Sequence[Trade]) -> list[Point]:
    """Lift equity by what every doubtful trade so far would have earned more; none without."""
    doubtful = sorted((t.exit_time, t.best_pnl - t.pnl) for t in trades if t.ambiguous)
    if not doubtful:
        return []
    moments = [time for time, _ in doubtful]
    sums = [0.0, *accumulate(more for _, more in doubtful)]
    return [
        (time, value + sums[int(np.searchsorted(moments, time, side="right"))])
        for time, value in points
    ]


def _equity(
    span: tuple[int, int],
    shown: Sequence[Point],
    better: Sequence[Point],
    market: Sequence[Point],
    unit: str,
    width: int,
    right: float,
    top: float,
) -> tuple[list[str], float]:
    """Draw the upper panel; with the right edge that all panels share."""
    values = [value for _, value in (*shown, *better)]
    others = [value for _, value in market]
    low, high = padded(values)
    together = padded([*values, *others])
    fits = together[1] - together[0] <= (high - low) * MOST_STRETCH
    if fits:
        low, high = together
    elif market:
        right -= 48.0
    panel = Panel(top, top + EQUITY_TALL, *span, low, high, right)
    beside = (
        panel if fits or not market else Panel(top, panel.bottom, *span, *padded(others), right)
    )
    money = f" {one_line(unit, 12)}" if unit else ""
    where = "" if fits else ", right scale"
    legend = [("sw-e", f"Equity, {decimal(shown[-1][1])}{money} at the end")]
    if market:
        legend.append(("sw-h", f"Buy and hold, {decimal(market[-1][1])}{money}{where}"))
    if better:
        legend.append(("sw-a", f"with every doubtful trade won, {decimal(better[-1][1])}"))
    parts = [
        *_legend(legend, panel.left, width),
        drawing.value_axis(panel, 6),
        drawing.value_axis(beside, 6, right=True) if beside is not panel else "",
        line(beside, market, 'class="sw-h" stroke-dasharray="5 3"'),
        drawing.band(panel, shown, better, 'class="sw-a" fill-opacity=".35"') if better else "",
        line(panel, shown, 'class="sw-e" stroke-width="1.6"'),
    ]
    return parts, right


def _legend(entries: Sequence[tuple[str, str]], left: float, width: int) -> list[str]:
    """Name the lines, side by side where there is room for it, else one below the other."""
    parts, x, y = [], left, 16.0 if width < BROAD else 26.0
    for style, words in entries:
        dash = ' stroke-dasharray="5 3"' if style == "sw-h" else ' stroke-width="2"'
        mark = f'<path class="{style}" d="M{short(x)} {short(y - 4)}h18"{dash}/>'
        if style == "sw-a":
            mark = f'<rect class="sw-a" x="{short(x)}" y="{short(y - 9)}" width="18" height="9"/>'
        parts += [mark, text(x + 24, y, words)]
        if width < BROAD:
            y += 15.0
        else:
            x += 44.0 + 6.4 * len(words)
    return parts


def price_panel(
    symbol: str,
    candles: Candles,
    trades: Sequence[Trade],
    box: tuple[int, int, float, float],
    width: int,
    right: float,
    symbols: int = 1,
) -> list[str]:
    """Draw a symbol's closes, and each trade on them: entry, exit and its first stop."""
    start, end, top, bottom = box
    own = [t for t in trades if t.symbol in (symbol, "") or symbols == 1]
    most = MOST_MARKS[width]
    drawn = sorted(own, key=lambda trade: -abs(trade.pnl))[:most]
    points = thin(candles.times, candles.close, width // 3)
    levels = [level for t in drawn for level in (t.entry_price, t.exit_price, t.stop) if level]
    panel = Panel(top, bottom, start, end, *padded([*(v for _, v in points), *levels]), right)
    name = one_line(symbol, 20 if width == BROAD else 18) or "Price"
    finished = sum(not trade.forced for trade in own)
    told = f"{name}: {counted(finished, 'trade')}"
    if finished < len(own):
        told += f", {len(own) - finished} still open"
    if len(drawn) < len(own):
        told += f", the {len(drawn)} largest shown" if width == BROAD else f", {len(drawn)} shown"
    elif symbols > 1 and (width == BROAD or finished == len(own)):
        told += f", one of {symbols} symbols"
    return [
        text(panel.left, top - 10, told),
        _key(panel, top - 10, width) if own and width == BROAD else "",
        drawing.value_axis(panel, 5),
        line(panel, points, 'class="sw-c"'),
        *_trade_marks(panel, drawn),
    ]


def _key(panel: Panel, y: float, width: int) -> str:
    """Say what the marks mean."""
    x = width - 322.0
    signs = (
        ("sw-p", f"M{short(x)} {short(y)}l4-8l4 8z", "entry", 14.0),
        ('sw-w" stroke-width="6" stroke-linecap="round', _dot(x + 58, y - 4), "won", 66.0),
        ('sw-l" stroke-width="6" stroke-linecap="round', _dot(x + 104, y - 4), "lost", 112.0),
        ("sw-s", f"M{short(x + 150)} {short(y - 4)}h16", "first stop", 172.0),
    )
    return "".join(
        marks(f'class="{style}"', path) + text(x + at, y, word, "sw-m")
        for style, path, word, at in signs
    )


def _dot(x: float, y: float) -> str:
    return f"M{short(x)} {short(y)}h0"


def _trade_marks(panel: Panel, trades: Sequence[Trade]) -> list[str]:
    """Draw trades as few paths: what they risked, their way, where they began and ended."""
    paths = dict.fromkeys(("stop", "won", "lost", "won_dot", "lost_dot", "entry"), "")
    for trade in sorted(trades, key=lambda t: (t.entry_time, t.exit_time, t.symbol)):
        x, y = panel.x(trade.entry_time), panel.y(trade.entry_price)
        to_x, to_y = panel.x(trade.exit_time), panel.y(trade.exit_price)
        down = 1 if trade.side == "long" else -1
        if trade.stop is not None:
            wide = max(to_x - x, 3.0)
            paths["stop"] += f"M{short(x)} {short(panel.y(trade.stop))}h{short(wide)}"
        end = "won" if trade.pnl > 0.0 else "lost"
        paths[end] += f"M{short(x)} {short(y)}L{short(to_x)} {short(to_y)}"
        paths[f"{end}_dot"] += _dot(to_x, to_y)
        paths["entry"] += f"M{short(x)} {short(y + 2 * down)}l-3.5 {7 * down}h7z"
    dot = 'stroke-width="5" stroke-linecap="round"'
    return [
        marks('class="sw-s"', paths["stop"]),
        marks('class="sw-w" stroke-width="1.3"', paths["won"]),
        marks('class="sw-l" stroke-width="1.3"', paths["lost"]),
        marks('class="sw-p"', paths["entry"]),
        marks(f'class="sw-w" {dot}', paths["won_dot"]),
        marks(f'class="sw-l" {dot}', paths["lost_dot"]),
    ]


def _description(points: Curve, falls: Floats, unit: str) -> str:
    money = f" {one_line(unit, 12)}" if unit else ""
    times, values = points
    deepest = int(falls.argmin())
    return (
        f"Equity from {decimal(float(values[0]))} to {decimal(float(values[-1]))}{money} between "
        f"{day(int(times[0]))} and {day(int(times[-1]))}, lowest {decimal(float(values.min()))}, "
        f"highest {decimal(float(values.max()))}. Deepest drawdown "
        f"{percent(-float(falls[deepest]))} on {day(int(times[deepest]))}."
    )
