"""Seeded candles for the races, as columns in a folder."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

BAR_NS = 300_000_000_000  # five minutes
FIRST_NS = 1_420_070_400_000_000_000  # 2015-01-01


class Nature(NamedTuple):
    """How candles move, as fractions of the price."""

    step: float  # from close to close
    wick: float  # beyond open and close
    gap: float  # from a close to the next open, on some bars
    gap_every: int  # one bar in so many
    drift: float  # from close to close, up and down in turns
    swing: float  # around that path, over some thirty bars


CALM = Nature(step=0.003, wick=0.001, gap=0.015, gap_every=1000, drift=0.0, swing=0.0)
WILD = Nature(step=0.003, wick=0.008, gap=0.03, gap_every=12, drift=0.002, swing=0.08)


def write_candles(folder: Path, bars: int, nature: Nature = CALM) -> Path:
    """Write candles once; a walk that is reflected, so that the price stays near 40,000.

    Prices have two decimals, which every peer can hold. Wild candles jump over levels and reach
    two of them at once: on calm ones the peers' fill rules are hardly told apart.
    """
    if folder.exists():
        return folder
    chance = np.random.default_rng(3)
    walk = np.cumsum(chance.normal(nature.drift, nature.step, bars))
    path = np.abs((walk + 0.5) % 2 - 1) - 0.5
    if nature.swing:
        bell = np.hanning(32)
        kicks = chance.normal(0, nature.swing, bars)
        path += np.convolve(kicks, bell / np.sqrt((bell**2).sum()), "same")
    close = 40_000 * np.exp(path)
    jump = chance.normal(0, 0.0002, bars)
    jump += chance.normal(0, nature.gap, bars) * (chance.random(bars) < 1 / nature.gap_every)
    opened = np.concatenate((close[:1], close[:-1])) * (1 + jump)
    up, down = nature.wick * np.minimum(np.abs(chance.standard_t(3, (2, bars))), 9)
    columns = {
        "open": opened,
        "high": np.maximum(opened, close) * (1 + up),
        "low": np.minimum(opened, close) * (1 - down),
        "close": close,
        "volume": np.full(bars, 100.0),
    }
    folder.mkdir(parents=True)
    np.save(folder / "time.npy", np.arange(bars, dtype=np.int64) * BAR_NS + FIRST_NS)
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", np.round(column, 2))
    return folder
