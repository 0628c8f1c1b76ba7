"""Turns trades into small pictures: a few of them on their candles, and how their returns lie."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from Backtest.candles import Candles
from Backtest.positions import Trade
from bot.report import drawing
from bot.report.drawing import BROAD, NARROW, Panel, marks, padded, short, text
from bot.report.figures import Summary, count, day, decimal, moment, percent, price
from bot.report.inert import one_line
from bot.report.picture import FALL_TALL, GAP, PRICE_TALL, most_traded, price_panel
from bot.report.story import Story

MOST_CANDLES = 60
MOST_SYMBOLS = 6
TALL = 260


def close_ups(story: Story) -> list[str]:
    """Draw the best, the worst, the first doubtful and the last trade on their candles."""
    known = {name for name, candles in story.candles.items() if len(candles)}
    done = [trade for trade in story.trades if not trade.forced and trade.symbol in known]
    if not done:
        return []
    wanted = [
        ("The best", max(done, key=lambda trade: trade.pnl)),
        ("The worst", min(done, key=lambda trade: trade.pnl)),
        *[("In doubt", trade) for trade in done if trade.ambiguous][:1],
        ("The last", done[-1]),
    ]
    seen: dict[int, tuple[str, Trade]] = {}
    for title, trade in wanted:
        seen.setdefault(id(trade), (title, trade))
    return [close_up(title, trade, story.candles) for title, trade in seen.values()]


def close_up(title: str, trade: Trade, candles: Mapping[str, Candles]) -> str:
    """Draw one trade: the candles around it, its entry, its exit and its first stop."""
    known = candles[trade.symbol]
    first, last = np.searchsorted(known.times, (trade.entry_time, trade.exit_time)).tolist()
    pad = max(6, (24 - (last - first)) // 2)
    rows = np.arange(max(0, first - pad), min(len(known), last + pad + 1))
    width = -(-len(rows) // MOST_CANDLES)
    groups = np.array_split(rows, np.arange(width, len(rows), width))
    step = int(known.times[rows[-1]] - known.times[rows[0]]) // max(1, len(rows) - 1) * width
    levels = [level for level in (trade.entry_price, trade.exit_price, trade.stop) if level]
    low, high = padded([float(known.low[rows].min()), float(known.high[rows].max()), *levels])
    span = int(known.times[rows[0]]) - step // 2, int(known.times[rows[-1]]) + step
    panel = Panel(66, TALL - 30, *span, low, high, NARROW - 10)
    words = f"{title}: {decimal(trade.pnl, sign=True)}, {trade.side} {one_line(trade.symbol, 20)}"
    when = f"{moment(trade.entry_time)} at {price(trade.entry_price)}"
    left = f"{moment(trade.exit_time)} at {price(trade.exit_price)}"
    out = f"to {left}, {one_line(trade.rule_out, 20).replace('_', ' ')}"
    body = max(2.0, (panel.right - panel.left) / len(groups) * 0.6)
    parts = [
        text(10, 18, words),
        text(10, 34, when, "sw-m"),
        text(10, 50, out, "sw-m"),
        drawing.value_axis(panel, 5),
        *_candles(panel, known, groups, body),
        *_levels(panel, trade, step / width),
        drawing.time_axis(panel),
    ]
    return drawing.svg(NARROW, TALL, f"{title} trade", f"{words}; {when} {out}.", parts)


def _candles(
    panel: Panel, known: Candles, groups: Sequence[np.ndarray[Any, Any]], body: float
) -> list[str]:
    """Draw candles as two paths, those that rose and those that fell."""
    paths = {True: "", False: ""}
    for rows in groups:
        x = panel.x(float(known.times[rows[len(rows) // 2]]))
        opened, closed = float(known.open[rows[0]]), float(known.close[rows[-1]])
        high, low = panel.y(float(known.high[rows].max())), panel.y(float(known.low[rows].min()))
        top, tall = panel.y(max(opened, closed)), abs(panel.y(opened) - panel.y(closed))
        paths[closed >= opened] += (
            f"M{short(x)} {short(high)}V{short(low)}M{short(x - body / 2)} {short(top)}"
            f"h{short(body)}v{short(max(tall, 0.5))}h-{short(body)}z"
        )
    return [
        marks('class="sw-w" stroke-opacity=".7"', paths[True]),
        marks('class="sw-d" stroke-opacity=".7" fill-opacity=".35"', paths[False]),
    ]


def _levels(panel: Panel, trade: Trade, step: float) -> list[str]:
    """Draw what was risked, and the way from entry to exit."""
    x, to_x = panel.x(trade.entry_time), panel.x(trade.exit_time)
    y, to_y = panel.y(trade.entry_price), panel.y(trade.exit_price)
    down = 1 if trade.side == "long" else -1
    wide = max(to_x, panel.x(trade.entry_time + step)) - x
    stop = ""
    if trade.stop is not None:
        stop = f"M{short(x)} {short(panel.y(trade.stop))}h{short(wide)}"
    end = "sw-w" if trade.pnl > 0.0 else "sw-l"
    dot = 'stroke-width="8" stroke-linecap="round"'
    return [
        marks('class="sw-s" stroke-width="2"', stop),
        marks(
            'class="sw-e" stroke-dasharray="4 3"',
            f"M{short(x)} {short(y)}L{short(to_x)} {short(to_y)}",
        ),
        marks('class="sw-p"', f"M{short(x)} {short(y + 2 * down)}l-5 {10 * down}h10z"),
        marks(f'class="{end}" {dot}', f"M{short(to_x)} {short(to_y)}h0"),
    ]


def more_prices(story: Story, width: int) -> list[str]:
    """Draw the price and the trades of further symbols, those with the most trades first."""
    found = []
    for name in most_traded(story.candles, story.trades)[1:MOST_SYMBOLS]:
        candles = story.candles[name]
        if len(candles) < 2:
            continue
        span = int(candles.times[0]), int(candles.times[-1])
        box = (*span, 40.0, 40.0 + PRICE_TALL)
        parts = price_panel(
            name, candles, story.trades, box, width, width - 18.0, len(story.candles)
        )
        axis = Panel(40, 40 + PRICE_TALL, *span, 0, 1, width - 18.0)
        told = f"The price from {day(span[0])} to {day(span[1])} with entries, exits and stops."
        tall = PRICE_TALL + GAP + FALL_TALL // 2
        parts.append(drawing.time_axis(axis))
        found.append(drawing.svg(width, tall, f"{one_line(name, 30)} with its trades", told, parts))
    return found


def left_out_words(story: Story) -> str:
    """Say whose price is drawn, where there are more symbols than pictures."""
    symbols = len(story.candles)
    words = f"The price is drawn for the {MOST_SYMBOLS} symbols with the most trades, of {symbols}."
    return words if symbols > MOST_SYMBOLS else ""


def distribution(sheet: Summary, width: int = NARROW) -> str:
    """Draw how many trades returned how much, losses and gains in their colours."""
    found = sheet.get("distribution")
    if not found:
        return ""
    edges, counts = found["edges"], found["counts"]
    most = max(counts)
    panel = Panel(30, TALL - 30, 0, len(counts), 0.0, most * 1.05, width - 10)
    paths = {True: "", False: ""}
    for place, number in enumerate(counts):
        x, y = panel.x(place + 0.06), panel.y(number)
        wide, tall = panel.x(place + 0.94) - x, panel.bottom - y
        if number:
            bar = f"M{short(x)} {short(y)}h{short(wide)}v{short(tall)}h-{short(wide)}z"
            paths[edges[place] >= 0.0] += bar
    every = max(1, len(counts) // (5 if width < BROAD else 9))
    digits = 2 if edges[1] - edges[0] < 0.001 else 1
    labels = "".join(
        text(panel.x(place), panel.bottom + 18, f"{decimal(edge * 100, digits)}%", "sw-m", "middle")
        for place, edge in enumerate(edges)
        if round(edge / (edges[1] - edges[0])) % every == 0 and panel.x(place) < width - 22
    )
    whole = [value for value in (most // 2, most) if value] if most < 8 else None
    axis = (
        drawing.value_axis(panel, 4)
        if whole is None
        else "".join(
            text(panel.left - 8, panel.y(value) + 4, count(value), "sw-m", "end") for value in whole
        )
    )
    parts = [
        text(10, 18, "Trades by their return, after costs"),
        axis,
        marks('class="sw-o"', paths[False]),
        marks('class="sw-u"', paths[True]),
        labels,
    ]
    told = f"{count(sum(counts))} trades between {percent(edges[0])} and {percent(edges[-1])}."
    return drawing.svg(width, TALL, "Returns of the trades", told, parts)
