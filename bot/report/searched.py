"""Tells how a contract's values were found: sentences, tables and pictures of its search."""

from collections.abc import Mapping
from typing import Any

from bot.report import drawing
from bot.report.drawing import BROAD, Panel, marks, padded, short, text
from bot.report.figures import counted, day, decimal, percent
from bot.report.headline import figure_line

Told = Mapping[str, Any]
LINES = {
    "min_deflated_sharpe": "Deflated Sharpe ratio at least",
    "max_overfitting": "Backtest overfitting at most",
    "min_track_record": "Years there, over years needed, at least",
    "min_stability": "Neighbours that keep half, at least",
    "min_break_even": "Break-even costs over the contract's, at least",
    "max_order_drawdown": "Fall in 95 % of other orders at most",
    "min_missed_return": "Return in 95 % of runs with missed trades, at least",
    "max_chance": "As good without an edge, at most",
    "min_unseen_sharpe": "Sharpe where it was not searched, at least",
}
CELLS = 40  # of a heat map, across and up


def headline(told: Told, line: str) -> str:
    """The line of figures of a search: where it was not searched first, if that is known."""
    walked = told["walk_forward"]
    if walked is None:
        return f"{line} · on the candles it was searched on: expect less"
    unseen = {"bars": 1, **walked["unseen"]}
    seen = " · ".join(part for part in figure_line(unseen).split(" · ") if "hold" not in part)
    return f"{seen} where it was not searched; on all candles, the searched too: {line}"


def search_words(told: Told) -> list[str]:
    """How the values were found, in sentences."""
    found = ", ".join(
        f"{name} {value:g} (was {told['defaults']['parameters'][name]:g})"
        for name, value in told["best"].items()
    )
    words = [
        f"{counted(told['sets_tried'], 'set')} by {told['sampler']}, seed {told['seed']}, for the "
        f"best {told['metric'].replace('_', ' ')}: {found}.",
        f"The ledger has {counted(told['trials_in_all'], 'set')} of this workflow on these candles,"
        " those of other runs and folds too; the deflated ratio counts them all.",
    ]
    if not told["meets_acceptance"]:
        words.append("No set meets every line of `acceptance`.")
    if told["holdout"] or told["openings"]:
        opened = counted(told["openings"], "time")
        since = f"from {told['holdout']} on" if told["holdout"] else "not sealed by this contract"
        words.append(f"Sealed candles of this workflow ({since}) were opened {opened}.")
    if told["walk_forward"]:
        apart = ", ".join(
            f"{name} {percent(s)}" for name, s in told["walk_forward"]["drift"].items()
        )
        words.append(
            f"{counted(told['walk_forward']['gap'], 'candle')} left out between searched and judged"
            f" parts. The folds' values lie apart, of the range: {apart}."
        )
    chance = told["luck"]["trades"]
    if chance:
        (low, _, high), (least, _, most) = chance["order_drawdown"], chance["missed_return"]
        words.append(
            f"Its trades in other orders fall by {percent(low)} to {percent(high)}; with one in ten"
            f" missed they return {percent(least)} to {percent(most)} (nine in ten)."
        )
    return words


def line_rows(told: Told) -> list[tuple[str, str, str, str]]:
    """Every line of the policy: what it asks, what there is, whether that meets it."""
    return [
        (
            LINES[line["name"]],
            f"{line['asked']:g}",
            "not known" if line["found"] is None else decimal(line["found"], 3),
            "met" if line["met"] else "not met",
        )
        for line in told["lines"]
    ]


def fold_rows(told: Told) -> list[tuple[str, ...]]:
    """Every fold: when it was judged, its values, and its ratio before and after."""
    if not told["walk_forward"]:
        return []
    return [
        (
            ", ".join(f"{day(first)} to {day(last)}" for first, last in fold["judged"]),
            ", ".join(f"{name} {value:g}" for name, value in fold["parameters"].items()),
            decimal(fold["searched_figures"]["sharpe"]),
            decimal(fold["judged_figures"]["sharpe"]),
            percent(fold["judged_figures"]["return"], sign=True),
        )
        for fold in told["walk_forward"]["folds"]
    ]


def pictures(told: Told) -> list[str]:
    """The heat map of two parameters, and the folds with their values."""
    names = list(told["sets"]["parameters"])
    drawn = [heat_map(told, names[0], names[1])] if len(names) > 1 else []
    if told["walk_forward"]:
        drawn.append(folds_picture(told))
    return drawn


def heat_map(told: Told, across: str, up: str) -> str:
    """Draw the best result of every pair of values, the darker the better; ring the chosen one."""
    sets, metric = told["sets"], told["metric"]
    values = [sets["parameters"][name] for name in (across, up)]
    ends = [(told["space"][name][0], told["space"][name][1]) for name in (across, up)]
    counts = [min(CELLS, max(2, told["space"][name][2])) for name in (across, up)]
    turned = -1.0 if metric == "max_drawdown" else 1.0
    best: dict[tuple[int, int], float] = {}
    for x, y, value in zip(*values, sets[metric], strict=True):
        if value is not None:
            cell = _cell(x, ends[0], counts[0]), _cell(y, ends[1], counts[1])
            best[cell] = max(best.get(cell, -1e300), turned * value)
    low, high = (min(best.values()), max(best.values())) if best else (0.0, 1.0)
    panel = Panel(40, 300, 0, 1, *ends[1], BROAD - 18)
    wide, tall = (panel.right - panel.left) / counts[0], (panel.bottom - panel.top) / counts[1]
    parts = [text(10, 20, f"{metric.replace('_', ' ')} by {across} (across) and {up} (up)")]
    for (column, row), value in sorted(best.items()):
        shade = 0.08 + 0.92 * (value - low) / (high - low) if high > low else 1.0
        parts.append(
            _box(panel, column, row, wide, tall, f'class="sw-p" fill-opacity="{shade:.2f}"')
        )
    chosen = [
        _cell(told["best"][name], ends[at], counts[at]) for at, name in enumerate((across, up))
    ]
    ring = 'class="sw-s" stroke-width="2.5"'
    parts.append(_box(panel, chosen[0], chosen[1], wide, tall, ring))
    parts += [text(panel.left, 318, f"{ends[0][0]:g}", "sw-m")]
    parts += [text(panel.right, 318, f"{ends[0][1]:g}", "sw-m", "end")]
    parts += [text(panel.left - 8, panel.bottom, f"{ends[1][0]:g}", "sw-m", "end")]
    parts += [text(panel.left - 8, panel.top + 10, f"{ends[1][1]:g}", "sw-m", "end")]
    scale = f"pale {decimal(turned * low)} · dark {decimal(turned * high)} · ringed: chosen"
    parts.append(text(panel.right, 20, scale, "sw-m", "end"))
    said = f"{metric} of {counted(len(values[0]), 'set')} by {across} and {up}; {scale}."
    return drawing.svg(BROAD, 330, "Heat map of the search", said, parts)


def _cell(value: float, ends: tuple[float, float], count: int) -> int:
    low, high = ends
    return min(count - 1, int((value - low) / (high - low) * count)) if high > low else 0


def _box(panel: Panel, column: int, row: int, wide: float, tall: float, style: str) -> str:
    x, y = panel.left + column * wide, panel.bottom - (row + 1) * tall
    return (
        f'<rect {style} x="{short(x)}" y="{short(y)}" width="{short(max(wide - 1, 1))}" '
        f'height="{short(max(tall - 1, 1))}"/>'
    )


def folds_picture(told: Told) -> str:
    """Draw when each fold was searched and judged, and below it the values that it chose."""
    folds, space = told["walk_forward"]["folds"], told["space"]
    spans = [span for fold in folds for span in (*fold["searched"], *fold["judged"])]
    start, end = min(first for first, _ in spans), max(last for _, last in spans)
    panel = Panel(36, 36 + 16 * len(folds), start, end, 0, len(folds), BROAD - 18)
    parts = [text(10, 20, "Folds: searched (grey), judged (blue); below: the values of each")]
    for number, fold in enumerate(folds):
        y = panel.top + 16 * number + 8
        for key, style in (("searched", "sw-c"), ("judged", "sw-e")):
            path = "".join(
                f"M{short(panel.x(first))} {short(y)}H{short(panel.x(last))}"
                for first, last in fold[key]
            )
            parts.append(marks(f'class="{style}" stroke-width="9"', path))
        parts.append(text(panel.left - 8, y + 4, str(number + 1), "sw-m", "end"))
    parts.append(drawing.time_axis(panel))
    top = panel.bottom + 54
    for name, (low, high, _) in space.items():
        lower, upper = padded([low, high])
        below = Panel(top, top + 60, 0, max(1, len(folds) - 1), lower, upper, BROAD - 18)
        points = [(place, fold["parameters"][name]) for place, fold in enumerate(folds)]
        parts.append(text(10, top - 6, f"{name}: {low:g} to {high:g}", "sw-m"))
        parts.append(drawing.value_axis(below, 3))
        parts.append(drawing.line(below, points, 'class="sw-e" stroke-width="2"'))
        for place, value in points:
            at = f'cx="{short(below.x(place))}" cy="{short(below.y(value))}"'
            parts.append(f'<circle class="sw-p" {at} r="3.5"/>')
        top += 92
    said = "; ".join(f"fold {n}: {row[1]}" for n, row in enumerate(fold_rows(told), 1))
    return drawing.svg(BROAD, round(top) - 20, "Folds of the walk-forward", said, parts)
