"""Candles to the value of buying everything at the start and holding it, over time."""

from collections.abc import Iterable, Mapping, Sequence


def held_value(
    candles: Mapping[str, Iterable[tuple[int, float, float]]], capital: float
) -> list[tuple[int, float]]:
    """The capital in equal parts, bought at each symbol's first open, valued at every close.

    A symbol counts as cash until its first candle, and at its last close between candles.

    Args:
        candles: UTC milliseconds, open and close, oldest first, by symbol.
        capital: cash at the start.

    Returns:
        UTC milliseconds and the value, one row for every moment of any symbol.
    """
    rows = {symbol: list(bars) for symbol, bars in candles.items()}
    if not rows:
        return []
    share = capital / len(rows)
    moments = sorted({time for bars in rows.values() for time, _, _ in bars})
    total = [0.0] * len(moments)
    for bars in rows.values():
        for index, value in enumerate(_values(bars, moments, share)):
            total[index] += value
    return list(zip(moments, total, strict=True))


def _values(
    bars: Sequence[tuple[int, float, float]], moments: Sequence[int], share: float
) -> list[float]:
    value, index, units = share, 0, 0.0
    values = []
    for moment in moments:
        if index < len(bars) and bars[index][0] == moment:
            if index == 0:
                units = share / bars[0][1]
            value = units * bars[index][2]
            index += 1
        values.append(value)
    return values
