"""Panels, lines and axes of the pictures, as SVG: light and dark, no script, the same bytes."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.report.curve import Point, round_steps, time_marks
from bot.report.figures import day, decimal
from bot.report.inert import html_text, one_line

BROAD, NARROW = 860, 400  # a screen's picture, and a phone's
LEFT = 66
# An image follows the reader's system, not GitHub's theme, so it brings its own ground.
STYLE = (
    ".sw-bg{fill:#fff}.sw-t{fill:#1f2328}.sw-m{fill:#59636e}.sw-g{stroke:#d1d9e0}"
    ".sw-e{stroke:#0969da}.sw-h{stroke:#9a6700}.sw-d{stroke:#cf222e;fill:#cf222e}"
    ".sw-p{fill:#0969da}.sw-c{stroke:#6e7781}.sw-s{stroke:#bc4c00}.sw-w{stroke:#1a7f37}"
    ".sw-l{stroke:#cf222e}.sw-u{fill:#1a7f37}.sw-o{fill:#cf222e}.sw-a{fill:#8250df}"
    "@media (prefers-color-scheme:dark){.sw-bg{fill:#0d1117}.sw-t{fill:#f0f6fc}"
    ".sw-m{fill:#9198a1}.sw-g{stroke:#2f353d}.sw-e{stroke:#4493f8}.sw-h{stroke:#d29922}"
    ".sw-d{stroke:#f85149;fill:#f85149}.sw-p{fill:#4493f8}.sw-c{stroke:#8b949e}"
    ".sw-s{stroke:#f0883e}.sw-w{stroke:#3fb950}.sw-l{stroke:#f85149}.sw-u{fill:#3fb950}"
    ".sw-o{fill:#f85149}.sw-a{fill:#a371f7}}"
)
FONT = "-apple-system,BlinkMacSystemFont,Segoe UI,Helvetica,Arial,sans-serif"


@dataclass(frozen=True)
class Panel:
    """A rectangle with a scale of time across and of values up."""

    top: float
    bottom: float
    start: int
    end: int
    low: float
    high: float
    right: float = BROAD - 18
    left: float = LEFT

    def x(self, time: float) -> float:
        """Place a moment across."""
        if self.end == self.start:
            return (self.left + self.right) / 2
        return self.left + (self.right - self.left) * (
            (time - self.start) / (self.end - self.start)
        )

    def y(self, value: float) -> float:
        """Place a value up."""
        share = (value - self.low) / (self.high - self.low)
        return self.bottom - (self.bottom - self.top) * share


def padded(values: Iterable[float]) -> tuple[float, float]:
    """Give the ends of a scale that has room above and below some values."""
    found = list(values)
    low, high = min(found), max(found)
    if high - low <= abs(high) * 1e-9:
        pad = abs(high) * 0.01 or 1.0
        low, high = low - pad, high + pad
    pad = (high - low) * 0.04
    return low - pad, high + pad


def value_axis(panel: Panel, most: int, *, percents: bool = False, right: bool = False) -> str:
    """Draw round values with their lines; on the right, the values alone."""
    parts = []
    marks = round_steps(panel.low, panel.high, most)
    digits = _digits(marks)
    x, anchor = (panel.right + 6, "start") if right else (panel.left - 8, "end")
    for value in marks:
        if percents:
            label = f"{decimal(value * 100, max(0, digits - 2))}%"
        else:
            label = f"{value:.4g}" if abs(value) >= 1e9 else decimal(value, digits)
        if not right:
            y = short(panel.y(value))
            parts.append(f'<path class="sw-g" d="M{short(panel.left)} {y}H{short(panel.right)}"/>')
        parts.append(text(x, panel.y(value) + 4, label, "sw-m", anchor))
    return "".join(parts)


def _digits(marks: Sequence[float]) -> int:
    """Decimals that tell neighbouring marks apart."""
    if len(marks) < 2:
        return 2
    step = marks[1] - marks[0]
    return max(0, min(12, -math.floor(math.log10(step) + 1e-9)))


def time_axis(panel: Panel) -> str:
    """Draw round moments below a panel, as many as there is room for."""
    most = max(2, int((panel.right - panel.left) / 95))
    marks = time_marks(panel.start, panel.end, most)
    if panel.start == panel.end:
        marks = [(panel.start, day(panel.start))]
    parts = []
    for time, label in marks:
        x = panel.x(time)
        anchor = "start" if x < panel.left + 30 else "end" if x > panel.right - 30 else "middle"
        parts.append(f'<path class="sw-g" d="M{short(x)} {panel.bottom:g}v5"/>')
        parts.append(text(x, panel.bottom + 20, label, "sw-m", anchor))
    return "".join(parts)


def line(panel: Panel, points: Sequence[Point], style: str) -> str:
    """Draw points as a line, or as a dot if there is only one."""
    if not points:
        return ""
    if len(points) == 1:
        x, y = short(panel.x(points[0][0])), short(panel.y(points[0][1]))
        return f'<circle class="sw-p" cx="{x}" cy="{y}" r="3"/>'
    return f'<path {style} stroke-linejoin="round" d="{_path(panel, points)}"/>'


def area(panel: Panel, points: Sequence[Point], style: str) -> str:
    """Draw the area between a line and zero; its ends, which look like falls, are cut off."""
    if len(points) < 2:
        return line(panel, points, style)
    zero = short(panel.y(0.0))
    path = f"M{short(panel.left - 9)} {zero}V{short(panel.y(points[0][1]))}L"
    path += f"{_path(panel, points)[1:]}h9V{zero}"
    wide, tall = panel.right - panel.left, panel.bottom - panel.top + 2
    box = (panel.left, panel.top - 1, wide, tall)
    x, y, width, height = (f"{value:g}" for value in box)
    place = f'x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{x} {y} {width} {height}"'
    return f'<svg {place}><path {style} stroke-linejoin="round" d="{path}"/></svg>'


def band(panel: Panel, below: Sequence[Point], above: Sequence[Point], style: str) -> str:
    """Draw the area between two lines."""
    if len(below) < 2:
        return ""
    back = _path(panel, list(reversed(above)))[1:]
    return f'<path {style} d="{_path(panel, below)}L{back}z"/>'


def marks(style: str, path: str) -> str:
    """Draw many small marks as one path; nothing for none."""
    return f'<path {style} d="{path}"/>' if path else ""


def text(x: float, y: float, words: str, style: str = "sw-t", anchor: str = "") -> str:
    """Write escaped words at a place."""
    side = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{style}" x="{short(x)}" y="{short(y)}"{side}>{html_text(words)}</text>'


def _path(panel: Panel, points: Sequence[Point]) -> str:
    """Steps between points in tenths of a pixel, so that no error adds up and no byte is spent."""
    spots = [(round(panel.x(time) * 10), round(panel.y(value) * 10)) for time, value in points]
    path = [f"M{_tenths(spots[0][0])} {_tenths(spots[0][1])}"]
    for (x, y), (next_x, next_y) in itertools.pairwise(spots):
        step = _tenths(next_y - y)
        path.append(f"l{_tenths(next_x - x)}{'' if step.startswith('-') else ' '}{step}")
    return "".join(path)


def _tenths(value: int) -> str:
    return f"{value / 10:g}"


def short(value: float) -> str:
    """Write a number to a tenth of a pixel."""
    return _tenths(round(value * 10))


def svg(width: int, height: int, title: str, description: str, parts: Iterable[str]) -> str:
    """Put a picture together, with words for those who do not see it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            f'font-family="{FONT}" font-size="12" fill="none">',
            f"<title>{html_text(one_line(title, 120))}</title>",
            f"<desc>{html_text(description)}</desc>",
            f"<style>{STYLE}</style>",
            f'<rect class="sw-bg" width="{width}" height="{height}" rx="6"/>',
            *(part for part in parts if part),
            "</svg>\n",
        ]
    )
