"""An equity curve to a picture of equity and drawdown, readable on light and on dark ground."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.curve import Point, drawdown, round_steps, thin, time_marks
from bot.report.figures import day, decimal, percent
from bot.report.inert import html_text, one_line
from bot.report.story import Story
from bot.report.wording import currency

PICTURE = "equity.svg"

WIDTH, HEIGHT = 860, 430
LEFT, RIGHT = 74, 842
COLUMNS = 200
# Equity keeps at least an eighth of its panel; a market that moved further is told, not drawn.
MOST_STRETCH = 8.0
# An image follows the reader's system, not GitHub's theme, so it brings its own ground.
STYLE = (
    ".sw-bg{fill:#fff}.sw-t{fill:#1f2328}.sw-m{fill:#59636e}.sw-g{stroke:#d1d9e0}"
    ".sw-e{stroke:#0969da}.sw-h{stroke:#9a6700}.sw-d{stroke:#cf222e;fill:#cf222e}"
    ".sw-p{fill:#0969da}"
    "@media (prefers-color-scheme:dark){.sw-bg{fill:#0d1117}.sw-t{fill:#f0f6fc}"
    ".sw-m{fill:#9198a1}.sw-g{stroke:#2f353d}.sw-e{stroke:#4493f8}.sw-h{stroke:#d29922}"
    ".sw-d{stroke:#f85149;fill:#f85149}.sw-p{fill:#4493f8}}"
)
FONT = "-apple-system,BlinkMacSystemFont,Segoe UI,Helvetica,Arial,sans-serif"


@dataclass(frozen=True)
class _Panel:
    """A rectangle with a scale of time across and of values up."""

    top: float
    bottom: float
    start: int
    end: int
    low: float
    high: float

    def x(self, time: int) -> float:
        if self.end == self.start:
            return (LEFT + RIGHT) / 2
        return LEFT + (RIGHT - LEFT) * ((time - self.start) / (self.end - self.start))

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.bottom - (self.bottom - self.top) * share


def picture(story: Story) -> str:
    """The picture of a story, as `equity.svg` holds it."""
    return equity_svg(
        story.equity,
        capital=story.contract.capital,
        held=story.held,
        title=f"{story.contract.name}: equity and drawdown",
        unit=currency(story.contract),
    )


def equity_svg(
    equity: Sequence[tuple[int, float, float]],
    *,
    capital: float | None = None,
    held: Sequence[Point] = (),
    title: str = "Equity and drawdown",
    unit: str = "",
) -> str:
    """Draw equity above and drawdown below.

    Args:
        equity: UTC milliseconds, equity and cash, oldest first.
        capital: cash at the start, which counts as a peak.
        held: UTC milliseconds and value of buying and holding, for a second line.
        title: the picture's name, for those who do not see it.
        unit: the currency.
    """
    points = [(time, value) for time, value, _ in equity if math.isfinite(value)]
    if not points:
        body = f'<text class="sw-m" x="{WIDTH // 2}" y="{HEIGHT // 2}" text-anchor="middle">'
        return _svg(title, "There are no candles.", [f"{body}No candles, no curve</text>"])
    start, end = points[0][0], points[-1][0]
    market = [p for p in held if start <= p[0] <= end and math.isfinite(p[1])]
    falls = drawdown(points, capital)
    low, high, fits = _equity_range(points, market)
    upper = _Panel(44, 268, start, end, low, high)
    deepest = min(falls, key=lambda point: point[1])
    lower = _Panel(312, 392, start, end, min(deepest[1], -1e-4) * 1.05, 0.0)
    parts = [
        *_legend(points, market, fits, unit),
        *_value_axis(upper, 6, percents=False),
        _line(upper, thin(market, COLUMNS) if fits else [], 'class="sw-h" stroke-dasharray="5 3"'),
        _line(upper, thin(points, COLUMNS), 'class="sw-e" stroke-width="1.6"'),
        f'<text class="sw-t" x="{LEFT}" y="302">Drawdown, deepest {percent(-deepest[1])}</text>',
        *_value_axis(lower, 4, percents=True),
        _line(lower, thin(falls, COLUMNS), 'class="sw-d" fill-opacity=".18"', area=True),
        *_time_axis(lower),
    ]
    return _svg(title, _description(points, deepest, unit), [part for part in parts if part])


def _equity_range(points: Sequence[Point], market: Sequence[Point]) -> tuple[float, float, bool]:
    """The scale's ends, and whether the market's line fits between them."""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    if high - low <= abs(high) * 1e-9:
        pad = abs(high) * 0.01 or 1.0
        low, high = low - pad, high + pad
    others = [value for _, value in market]
    least, most = min([low, *others]), max([high, *others])
    fits = most - least <= (high - low) * MOST_STRETCH
    if fits:
        low, high = least, most
    pad = (high - low) * 0.04
    return low - pad, high + pad, fits


def _legend(points: Sequence[Point], market: Sequence[Point], fits: bool, unit: str) -> list[str]:
    money = f" {one_line(unit, 12)}" if unit else ""
    label = f"Equity, {decimal(points[-1][1])}{money} at the end"
    parts = [
        f'<path class="sw-e" d="M{LEFT} 22h22" stroke-width="2"/>',
        f'<text class="sw-t" x="{LEFT + 28}" y="26">{html_text(label)}</text>',
    ]
    if market and fits:
        parts.append('<path class="sw-h" d="M440 22h22" stroke-dasharray="5 3"/>')
    if market:
        label = f"Buy and hold, {decimal(market[-1][1])}{money} at the end"
        label += "" if fits else ", off this scale"
        style = "sw-t" if fits else "sw-m"
        parts.append(f'<text class="{style}" x="468" y="26">{html_text(label)}</text>')
    return parts


def _value_axis(panel: _Panel, most: int, *, percents: bool) -> list[str]:
    parts = []
    marks = round_steps(panel.low, panel.high, most)
    digits = _digits(marks)
    for value in marks:
        y = _short(panel.y(value))
        label = (
            f"{decimal(value * 100, max(0, digits - 2))}%" if percents else _money(value, digits)
        )
        parts.append(f'<path class="sw-g" d="M{LEFT} {y}H{RIGHT}"/>')
        parts.append(
            f'<text class="sw-m" x="{LEFT - 8}" y="{_short(panel.y(value) + 4)}" '
            f'text-anchor="end">{label}</text>'
        )
    return parts


def _digits(marks: Sequence[float]) -> int:
    """Decimals that tell neighbouring marks apart."""
    if len(marks) < 2:
        return 2
    step = marks[1] - marks[0]
    return max(0, min(12, -math.floor(math.log10(step) + 1e-9)))


def _money(value: float, digits: int) -> str:
    if abs(value) >= 1e9:
        return f"{value:.4g}"
    return decimal(value, digits)


def _time_axis(panel: _Panel) -> list[str]:
    marks = time_marks(panel.start, panel.end, 8)
    if panel.start == panel.end:
        marks = [(panel.start, day(panel.start))]
    parts = []
    for time, label in marks:
        x = panel.x(time)
        anchor = "start" if x < LEFT + 30 else "end" if x > RIGHT - 30 else "middle"
        parts.append(f'<path class="sw-g" d="M{_short(x)} {panel.bottom:g}v5"/>')
        parts.append(
            f'<text class="sw-m" x="{_short(x)}" y="{panel.bottom + 20:g}" '
            f'text-anchor="{anchor}">{label}</text>'
        )
    return parts


def _line(panel: _Panel, points: Sequence[Point], style: str, *, area: bool = False) -> str:
    """The points as a line, down from zero as an area, or as a dot if there is only one."""
    if not points:
        return ""
    if len(points) == 1:
        x, y = _short(panel.x(points[0][0])), _short(panel.y(points[0][1]))
        return f'<circle class="sw-p" cx="{x}" cy="{y}" r="3"/>'
    path = _path(panel, points)
    if area:
        zero = _short(panel.y(0.0))
        path = f"M{LEFT - 9} {zero}V{_short(panel.y(points[0][1]))}L{path[1:]}h9V{zero}"
    line = f'<path {style} stroke-linejoin="round" d="{path}"/>'
    return _window(panel, line) if area else line


def _window(panel: _Panel, drawn: str) -> str:
    """Cut off the ends of an area, which would look like a fall and a recovery."""
    box = f"{LEFT} {panel.top - 1:g} {RIGHT - LEFT} {panel.bottom - panel.top + 2:g}"
    x, y, width, height = box.split()
    place = f'x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{box}"'
    return f"<svg {place}>{drawn}</svg>"


def _path(panel: _Panel, points: Sequence[Point]) -> str:
    """Steps between points in tenths of a pixel, so that no error adds up and no byte is spent."""
    spots = [(round(panel.x(time) * 10), round(panel.y(value) * 10)) for time, value in points]
    path = [f"M{_tenths(spots[0][0])} {_tenths(spots[0][1])}"]
    for (x, y), (next_x, next_y) in itertools.pairwise(spots):
        step = _tenths(next_y - y)
        path.append(f"l{_tenths(next_x - x)}{'' if step.startswith('-') else ' '}{step}")
    return "".join(path)


def _tenths(value: int) -> str:
    return f"{value / 10:g}"


def _short(value: float) -> str:
    return _tenths(round(value * 10))


def _description(points: Sequence[Point], deepest: Point, unit: str) -> str:
    money = f" {one_line(unit, 12)}" if unit else ""
    first, last = points[0], points[-1]
    return (
        f"Equity from {decimal(first[1])} to {decimal(last[1])}{money} between {day(first[0])} and "
        f"{day(last[0])}, lowest {decimal(min(p[1] for p in points))}, highest "
        f"{decimal(max(p[1] for p in points))}. Deepest drawdown {percent(-deepest[1])} on "
        f"{day(deepest[0])}."
    )


def _svg(title: str, description: str, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="sw-title sw-desc" '
            f'font-family="{FONT}" font-size="12" fill="none">',
            f'<title id="sw-title">{html_text(one_line(title, 120))}</title>',
            f'<desc id="sw-desc">{html_text(description)}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="sw-bg" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            *parts,
            "</svg>\n",
        ]
    )
