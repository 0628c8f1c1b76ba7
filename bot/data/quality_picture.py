"""A file's candles and what was found in them to a picture (SVG); same candles, same bytes."""

from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from Backtest.times import iso
from bot.data.quality import OK, Finding, Quality

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP = 84, 16, 36
ROW = 20
PRICE_COLUMNS = 800
MOST_MARKS = 400
_STYLE = """
svg{background:#fff}text{font:12px system-ui,sans-serif;fill:#24292f}.p{stroke:#0969da}
.g{fill:#bf8700;fill-opacity:.25}.m{stroke:#cf222e;stroke-width:1.5}.a{stroke:#d0d7de}
@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.p{stroke:#58a6ff}
.g{fill:#d29922;fill-opacity:.35}.m{stroke:#f85149}.a{stroke:#30363d}}"""


@dataclass(frozen=True)
class _Paper:
    """Knows where moments and prices lie on the picture."""

    times: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def x(self, moment: float) -> float:
        first, last = int(self.times[0]), int(self.times[-1])
        return LEFT + (moment - first) / max(last - first, 1) * (WIDTH - LEFT - RIGHT)

    def y(self, price: float) -> float:
        bottom, top = float(self.low.min()), float(self.high.max())
        return TOP + (top - price) / ((top - bottom) or 1.0) * (HEIGHT - TOP - ROW)


def quality_svg(quality: Quality, title: str) -> str:
    """Draw the price, shade the gaps, and mark in a row for each kind where it was found."""
    candles = quality.candles
    sound = np.flatnonzero(np.isfinite(candles.low) & np.isfinite(candles.high))
    order = sound[np.argsort(candles.times[sound], kind="stable")]
    paper = _Paper(candles.times[order], candles.low[order], candles.high[order])
    found = [finding for finding in quality.findings if finding.level != OK]
    tall = HEIGHT + ROW * (len(found) + 1)
    gaps = next((finding.moments for finding in found if finding.name == "gaps"), ())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" role="img">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        _text(LEFT, 20, title),
        *_axes(paper),
        *(_gap(paper, moment) for moment in gaps[:MOST_MARKS]),
        _price(paper),
        *(_row(paper, finding, number) for number, finding in enumerate(found)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _axes(paper: _Paper) -> list[str]:
    bottom, top = float(paper.low.min()), float(paper.high.max())
    lines = []
    for price in (bottom, (bottom + top) / 2, top):
        lines.append(f'<path class="a" d="M{LEFT} {paper.y(price):.1f}H{WIDTH - RIGHT}"/>')
        lines.append(_text(LEFT - 6, paper.y(price) + 4, f"{price:.6g}", "end"))
    first, last = (iso(int(paper.times[place]))[:16].replace("T", " ") for place in (0, -1))
    lines.append(_text(LEFT, HEIGHT, f"{first} UTC"))
    return [*lines, _text(WIDTH - RIGHT, HEIGHT, f"{last} UTC", "end")]


def _price(paper: _Paper) -> str:
    """One stroke from low to high for each column of the picture, of however many candles."""
    span = max(int(paper.times[-1] - paper.times[0]), 1)
    place = (paper.times - paper.times[0]) * PRICE_COLUMNS // span
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    lows, highs = np.minimum.reduceat(paper.low, starts), np.maximum.reduceat(paper.high, starts)
    strokes = [
        f"M{paper.x(int(moment)):.1f} {top:.1f}V{max(bottom, top + 0.8):.1f}"
        for moment, bottom, top in zip(
            paper.times[starts], map(paper.y, lows), map(paper.y, highs), strict=True
        )
    ]
    return f'<path class="p" d="{"".join(strokes)}"/>'


def _gap(paper: _Paper, moment: int) -> str:
    after = int(np.searchsorted(paper.times, moment, side="right"))
    end = int(paper.times[min(after, len(paper.times) - 1)])
    wide = max(paper.x(end) - paper.x(moment), 1.0)
    size = f'width="{wide:.1f}" height="{HEIGHT - TOP - ROW}"'
    return f'<rect class="g" x="{paper.x(moment):.1f}" y="{TOP}" {size}/>'


def _row(paper: _Paper, finding: Finding, number: int) -> str:
    """A finding's name and a mark at each of its moments."""
    level = HEIGHT + ROW * (number + 1)
    marks = "".join(f"M{paper.x(m):.1f} {level - 9}v10" for m in finding.moments[:MOST_MARKS])
    return _text(LEFT - 6, level, finding.name, "end") + f'\n<path class="m" d="{marks}"/>'
