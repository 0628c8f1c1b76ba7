"""Makes candles like others in which nothing can be foreseen: worlds without an edge.

Both keep the times, the distribution of moves and each candle's shape. Moves have no drift: on
average neither a long nor a short position earns before costs.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from Backtest.candles import Candles

Floats = NDArray[np.float64]


def shuffled(candles: Candles, seed: int) -> Candles:
    """Put the candles' moves and shapes in another order: no bar says anything of the next."""
    order = np.random.default_rng(seed).permutation(len(candles))
    return _rebuilt(candles, _moves(candles)[order], order)


def phase_randomised(candles: Candles, seed: int) -> Candles:
    """Keep the moves' spectrum, and so their autocorrelation, with phases drawn anew.

    Theiler and others (1992). What remains is linear: bursts, patterns and levels are gone. Each
    move has the shape of the candle whose own move has the same rank.
    """
    moves = _moves(candles)
    chance = np.random.default_rng(seed)
    spectrum = np.fft.rfft(moves)
    turns = np.exp(2j * np.pi * chance.random(len(spectrum)))
    turns[0] = 1.0
    if len(moves) % 2 == 0:
        turns[-1] = 1.0  # the highest frequency has no phase
    drawn = np.fft.irfft(spectrum * turns, n=len(moves))
    shapes = np.empty(len(moves), dtype=np.int64)
    shapes[np.argsort(drawn, kind="stable")] = np.argsort(moves, kind="stable")
    return _rebuilt(candles, drawn - np.log(np.exp(drawn).mean()), shapes)


NO_EDGE: dict[str, Callable[[Candles, int], Candles]] = {
    "shuffled": shuffled,
    "phase_randomised": phase_randomised,
}


def _moves(candles: Candles) -> Floats:
    """The logarithms of close over the close before (the first: over its open), less the drift."""
    before = np.concatenate((candles.open[:1], candles.close[:-1]))
    moves = np.log(candles.close / before)
    found: Floats = moves - np.log(np.exp(moves).mean())
    return found


def _rebuilt(candles: Candles, moves: Floats, shapes: NDArray[np.int64]) -> Candles:
    """Candles from the first open on, with these moves; gaps, wicks and volumes by place."""
    before = np.concatenate((candles.open[:1], candles.close[:-1]))
    gaps = (candles.open / before)[shapes]
    up = (candles.high / np.maximum(candles.open, candles.close))[shapes]
    down = (candles.low / np.minimum(candles.open, candles.close))[shapes]
    close = candles.open[0] * np.exp(np.cumsum(moves))
    opens = np.concatenate((candles.open[:1], close[:-1])) * gaps
    return Candles(
        times=candles.times,
        open=opens,
        high=np.maximum(opens, close) * np.maximum(up, 1.0),
        low=np.minimum(opens, close) * np.minimum(down, 1.0),
        close=close,
        volume=candles.volume[shapes],
    )
