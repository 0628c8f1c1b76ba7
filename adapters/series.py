"""The rule language on whole series: a function answers for every bar at once, from its past.

Strategies import this module to write a rule almost as its contract does. A missing value is NaN;
a comparison with it is false. Sums run over the n values of the window alone, oldest first, so a
bar's digits never depend on where history starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
import talib
from numpy.typing import NDArray
from talib._ta_lib import MA_Type as talib_ma_types

from adapters.loop.views import CandleView, FrameView, array_view
from Backtest.candles import COLUMNS, Candles
from Backtest.compiled.signal_run import is_loaded

if TYPE_CHECKING:  # pandas takes half a second to import; candles of a view need none
    import pandas as pd

Numbers = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Moments = NDArray[np.int64]
Value = Numbers | float
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
MINUTE_MS = 60_000
MONDAY_MS = 345_600_000  # of 1970: weeks begin on Monday, and every shorter candle there too
THURSDAY = 3  # the first day of 1970


def column(df: pd.DataFrame, name: str) -> Numbers:
    """A price or the volume of every candle, whichever case its column is written in."""
    if isinstance(df, FrameView) and (values := df.array(name)) is not None:
        return np.asarray(values, dtype=np.float64)
    for label in df.columns:
        if str(label).lower() == name:
            return df[label].to_numpy(dtype=np.float64)
    raise KeyError(f"the candles have no column {name!r}")


def times(df: pd.DataFrame) -> pd.DatetimeIndex:
    """When each candle opened, in UTC."""
    import pandas as pd

    for label in df.columns:
        if str(label).lower() in ("timestamp", "date", "datetime", "time"):
            values: Any = df[label]
            break
    else:
        values = df.index
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    return pd.DatetimeIndex(pd.to_datetime(values, utc=True, unit="ms" if numeric else None))


def hour(df: pd.DataFrame) -> Numbers:
    """The hour of each candle's open, UTC."""
    if isinstance(df, CandleView):
        return (df.candles.times // HOUR_MS % 24).astype(np.float64)
    return times(df).hour.to_numpy(dtype=np.float64)


def weekday(df: pd.DataFrame) -> Numbers:
    """The day of each candle's open, UTC, Monday = 0."""
    if isinstance(df, CandleView):
        return ((df.candles.times // DAY_MS + THURSDAY) % 7).astype(np.float64)
    return times(df).day_of_week.to_numpy(dtype=np.float64)


def open_times(df: pd.DataFrame) -> Moments:
    """When each candle opened, in milliseconds of UTC."""
    if isinstance(df, CandleView):
        return np.asarray(df.candles.times, dtype=np.int64)
    return np.asarray(times(df).as_unit("ms").asi8, dtype=np.int64)


def resampled(df: pd.DataFrame, minutes: int) -> pd.DataFrame:
    """The longer candles that these candles make."""
    columns = {name: column(df, name) for name in COLUMNS}
    opens, longer = combined(open_times(df), columns, minutes)
    if isinstance(df, CandleView):
        view: Any = CandleView(Candles(opens, **longer))
        frame: pd.DataFrame = view
        return frame
    import pandas as pd

    moments = pd.to_datetime(opens, unit="ms", utc=True)
    return pd.DataFrame({"timestamp": moments, **longer})


def combined(
    moments: Moments, columns: dict[str, Numbers], minutes: int
) -> tuple[Moments, dict[str, Numbers]]:
    """When longer candles open, and their prices and volumes, from those of shorter ones."""
    slots = _slots(moments, minutes)
    first = np.flatnonzero(_is_first(slots))
    last = np.append(first[1:], len(slots)) - 1
    if not len(first):
        return moments, columns
    return slots[first] * (minutes * MINUTE_MS) + MONDAY_MS, {
        "open": columns["open"][first],
        "high": np.maximum.reduceat(columns["high"], first),
        "low": np.minimum.reduceat(columns["low"], first),
        "close": columns["close"][last],
        "volume": _sums(columns["volume"], first, last),
    }


@overload
def merged(x: Booleans, df: pd.DataFrame, minutes: int, own: int) -> Booleans: ...
@overload
def merged(x: Numbers, df: pd.DataFrame, minutes: int, own: int) -> Numbers: ...
def merged(x: Any, df: pd.DataFrame, minutes: int, own: int) -> Any:
    """x of longer candles at each bar: that of the last one which has closed with the bar.

    Before the first has closed it is missing, and false for a condition.
    """
    moments = open_times(df)
    slots = _slots(moments, minutes)
    closes = (slots + 1) * (minutes * MINUTE_MS) + MONDAY_MS
    has_closed = moments + own * MINUTE_MS >= closes
    seen: Moments = np.cumsum(_is_first(slots)) - np.where(has_closed, 1, 2)
    answer = np.zeros(len(seen), np.bool_) if x.dtype == np.bool_ else np.full(len(seen), np.nan)
    answer[seen >= 0] = x[seen[seen >= 0]]
    return answer


def _slots(moments: Moments, minutes: int) -> Moments:
    return (moments - MONDAY_MS) // (minutes * MINUTE_MS)


def _is_first(slots: Moments) -> Booleans:
    first = np.ones(len(slots), dtype=np.bool_)
    first[1:] = slots[1:] != slots[:-1]
    return first


def _sums(x: Numbers, first: Any, last: Any) -> Numbers:
    added: Numbers = x[first]
    for place in range(1, int((last - first).max()) + 1):
        there = first + place <= last
        added[there] += x[first[there] + place]
    return added


def constant(df: pd.DataFrame, value: Value) -> Numbers:
    """The same number at every bar."""
    return np.full(len(df), value, dtype=np.float64)


def always(df: pd.DataFrame) -> Booleans:
    """True at every bar."""
    return np.ones(len(df), dtype=np.bool_)


def never(df: pd.DataFrame) -> Booleans:
    """False at every bar."""
    return np.zeros(len(df), dtype=np.bool_)


@overload
def ago(x: Booleans, bars: int) -> Booleans: ...
@overload
def ago(x: Numbers, bars: int) -> Numbers: ...
def ago(x: Any, bars: int) -> Any:
    """x as it was some bars ago; before the first bar missing, and false for a condition."""
    shifted = np.zeros_like(x) if x.dtype == np.bool_ else np.full(len(x), np.nan)
    if bars < len(x):
        shifted[bars:] = x[: len(x) - bars]
    return shifted


def divide(a: Value, b: Value) -> Numbers:
    """a / b; missing where b is zero."""
    with np.errstate(all="ignore"):
        return _finite(np.divide(a, b))


def sqrt(x: Value) -> Numbers:
    """Square root; missing below zero."""
    with np.errstate(all="ignore"):
        return _finite(np.sqrt(x))


def exp(x: Value) -> Numbers:
    """e to the power x; missing where it is too large."""
    with np.errstate(all="ignore"):
        return _finite(np.exp(x))


def log(x: Value) -> Numbers:
    """Natural logarithm; missing at zero and below."""
    with np.errstate(all="ignore"):
        return _finite(np.log(x))


def power(x: Value, n: Value) -> Numbers:
    """x to the power n; missing outside its domain."""
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        # A square is a product, whether the exponent is one number or a series of them.
        return _finite(np.where(np.equal(n, 2), x * x, np.power(x, n)))


def _finite(x: Any) -> Numbers:
    return np.where(np.isfinite(x), x, np.nan)


def differs(a: Value, b: Value) -> Booleans:
    """a is not b; false where either is missing."""
    return np.less(a, b) | np.greater(a, b)


def crossed_above(a: Value, b: Value) -> Booleans:
    """a is above b now and was at or below it one bar ago."""
    a, b = _side_by_side(a, b)
    crossed: Booleans
    if is_loaded(a.size):
        from Backtest.compiled.signal_pass import crossings

        crossed = np.empty(a.shape, np.bool_)
        crossings(a, b, crossed)
        return crossed
    crossed = a > b
    crossed[1:] &= a[:-1] <= b[:-1]
    crossed[:1] = False
    return crossed


def crossed_below(a: Value, b: Value) -> Booleans:
    """a is below b now and was at or above it one bar ago."""
    return crossed_above(b, a)


def crossed(a: Value, b: Value) -> tuple[Booleans, Booleans]:
    """Where a crosses above b, and where below it, in one go."""
    a, b = _side_by_side(a, b)
    if not is_loaded(a.size):
        return crossed_above(a, b), crossed_above(b, a)
    from Backtest.compiled.signal_pass import both_crossings

    above, below = np.empty(a.shape, np.bool_), np.empty(a.shape, np.bool_)
    both_crossings(a, b, above, below)
    return above, below


def _side_by_side(a: Value, b: Value) -> tuple[Numbers, Numbers]:
    """Two series of one length; a number is one at every bar."""
    first, second = np.broadcast_arrays(a, b)
    return (
        np.ascontiguousarray(first, dtype=np.float64),
        np.ascontiguousarray(second, dtype=np.float64),
    )


def heikin_ashi_close(open_: Numbers, high: Numbers, low: Numbers, close: Numbers) -> Numbers:
    """The close of the Heikin-Ashi bar: the average price of the candle."""
    return (open_ + high + low + close) / 4


def heikin_ashi_open(open_: Numbers, high: Numbers, low: Numbers, close: Numbers) -> Numbers:
    """The open of the Heikin-Ashi bar: the middle of the one before it."""
    opens = ((open_[:1] + close[:1]) / 2).tolist()
    for last in heikin_ashi_close(open_, high, low, close)[:-1].tolist():
        opens.append((opens[-1] + last) / 2)
    return np.array(opens, dtype=np.float64)


def heikin_ashi_high(open_: Numbers, high: Numbers, low: Numbers, close: Numbers) -> Numbers:
    """The high of the Heikin-Ashi bar."""
    body = np.maximum(
        heikin_ashi_open(open_, high, low, close), heikin_ashi_close(open_, high, low, close)
    )
    return np.maximum(high, body)


def heikin_ashi_low(open_: Numbers, high: Numbers, low: Numbers, close: Numbers) -> Numbers:
    """The low of the Heikin-Ashi bar."""
    body = np.minimum(
        heikin_ashi_open(open_, high, low, close), heikin_ashi_close(open_, high, low, close)
    )
    return np.minimum(low, body)


def highest(x: Numbers, n: int) -> Numbers:
    """The largest of the last n values."""
    return _windows(x, n, np.max)


def lowest(x: Numbers, n: int) -> Numbers:
    """The smallest of the last n values."""
    return _windows(x, n, np.min)


def _windows(x: Numbers, n: int, reduce: Any) -> Numbers:
    result = np.full(len(x), np.nan)
    if n <= len(x):
        result[n - 1 :] = reduce(np.lib.stride_tricks.sliding_window_view(x, n), axis=1)
    return result


def total(x: Numbers, n: int) -> Numbers:
    """The sum of the last n values, added oldest first."""
    result = np.full(len(x), np.nan)
    bars = len(x) - n + 1
    if bars > 0:
        added = x[:bars].copy()
        for place in range(1, n):
            added += x[place : place + bars]
        result[n - 1 :] = added
    return result


def mean(x: Numbers, n: int) -> Numbers:
    """The average of the last n values."""
    return total(x, n) / n


def stdev(x: Numbers, n: int) -> Numbers:
    """The sample standard deviation (n - 1) of the last n values."""
    result = np.full(len(x), np.nan)
    bars = len(x) - n + 1
    if bars > 0 and n > 1:
        centre = mean(x, n)[n - 1 :]
        squares = np.zeros(bars)
        for place in range(n):
            distance = x[place : place + bars] - centre
            squares += distance * distance
        result[n - 1 :] = np.sqrt(squares / (n - 1))
    return result


def change(x: Numbers, n: int) -> Numbers:
    """x minus x n bars ago."""
    return x - ago(x, n)


def rising(x: Numbers, n: int) -> Booleans:
    """x rose n times in a row."""
    return _streak(x > ago(x, 1), n)


def falling(x: Numbers, n: int) -> Booleans:
    """x fell n times in a row."""
    return _streak(x < ago(x, 1), n)


def _streak(condition: Booleans, n: int) -> Booleans:
    since_broken = np.arange(len(condition)) - np.maximum.accumulate(
        np.where(condition, -1, np.arange(len(condition)))
    )
    streak: Booleans = since_broken >= n
    return streak


def bars_since(condition: Booleans) -> Numbers:
    """Bars since a condition was last true; missing before the first time."""
    bars = np.arange(len(condition), dtype=np.float64)
    last = np.maximum.accumulate(np.where(condition, bars, -1.0))
    return np.where(last >= 0, bars - last, np.nan)


def count(condition: Booleans, n: int) -> Numbers:
    """At how many of the last n bars a condition was true."""
    so_far = np.cumsum(condition, dtype=np.float64)
    so_far[n:] -= so_far[:-n].copy()
    return so_far


def ema(x: Numbers, n: int) -> Numbers:
    """TA-Lib's exponential moving average."""
    return talib.EMA(np.ascontiguousarray(x), timeperiod=n)


def ma_type(name: str) -> Any:
    """TA-Lib's number of a kind of moving average: SMA, EMA, WMA, ..."""
    if name.startswith("_"):
        raise ValueError(f"{name!r} is no moving average")
    return getattr(talib_ma_types, name)


def periods(x: Numbers) -> Any:
    """A series of window lengths for TA-Lib's MAVP, whose own stub calls it one number."""
    return x


def numbers(x: Any) -> Numbers:
    """Whole numbers, such as TA-Lib's candle patterns, as a series of numbers."""
    return np.asarray(x, dtype=np.float64)


def at(df: pd.DataFrame, name: str, idx: int) -> float:
    """A price of one candle."""
    if isinstance(df, FrameView) and (values := df.array(name)) is not None:
        return float(values[idx])
    for label in df.columns:
        if str(label).lower() == name:
            return float(df[label].iloc[idx])
    raise KeyError(f"the candles have no column {name!r}")


def by_name(df: pd.DataFrame, values: dict[str, Any]) -> dict[str, pd.Series]:
    """Arrays as pandas series over the candles' own index, or as views of them."""
    if isinstance(df, CandleView):
        views: dict[str, Any] = {name: array_view(array) for name, array in values.items()}
        return views
    import pandas as pd

    return {name: pd.Series(array, index=df.index, copy=False) for name, array in values.items()}
