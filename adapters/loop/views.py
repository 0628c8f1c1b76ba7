"""Shows a frame and its columns, light and read-only, to code that asks one bar at a time.

`df["close"].iloc[idx]` costs pandas about 20 microseconds and a view a tenth of one. A view gives
what pandas gives: numpy's own scalars for one place, and for all else, slices too, it becomes the
pandas object that it stands for and passes the question on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from Backtest.candles import COLUMNS, Candles

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]

Real = TypeVar("Real")
Values = NDArray[Any]  # of any one kind
PLAIN_KINDS = "biuf"  # numbers and truths: a place in the array is what pandas gives


class Places:
    """`.iloc` and `.iat` of a column."""

    __slots__ = ("_real", "_values")

    def __init__(self, values: Values, real: Callable[[], Any]) -> None:
        self._values = values
        self._real = real

    def __getitem__(self, place: object) -> Any:
        """Gives one value for an integer, pandas' answer for anything else."""
        if place.__class__ is int:
            return self._values[place]
        return self._real().iloc[place]


class View(Generic[Real]):
    """Stands for a pandas object, which is made when it is first needed."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Real]) -> None:
        self._make = make
        self._made: Real | None = None

    def to_pandas(self) -> Real:
        """Gives the pandas object."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def __iter__(self) -> Iterator[object]:
        real: Any = self.to_pandas()
        return iter(real)

    def __repr__(self) -> str:
        return repr(self.to_pandas())


class SeriesView(View["Column"]):
    """Shows a column that cannot be changed."""

    __slots__ = ("_values", "iat", "iloc")

    def __init__(self, values: Values, make: Callable[[], Column]) -> None:
        """Stand for what `make` makes; `values` are its values."""
        super().__init__(make)
        self._values = values
        self.iloc = self.iat = Places(values, self.to_pandas)

    @property
    def values(self) -> Values:
        """Gives the values as a read-only array."""
        shown = self._values.view()
        shown.flags.writeable = False
        return shown

    def to_numpy(self, *arguments: Any, **options: Any) -> Values:
        """Gives the values, or as pandas converts them."""
        if arguments or options:
            return self.to_pandas().to_numpy(*arguments, **options)
        return self.values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Values:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: Any) -> Any:
        return self.to_pandas()[key]

    def __getattr__(self, name: str) -> Any:
        """Everything else is pandas' affair."""
        return getattr(self.to_pandas(), name)


class FrameView(View["pd.DataFrame"]):
    """Shows candles that cannot be changed; columns are views."""

    __slots__ = ("_columns", "_rows", "_views")

    def __init__(
        self, columns: Mapping[str, Values], rows: int, make: Callable[[], pd.DataFrame]
    ) -> None:
        """Stand for what `make` makes; `columns` are those of its columns that are numbers."""
        super().__init__(make)
        self._columns = dict(columns)
        self._rows = rows
        self._views = {
            name: SeriesView(values, self._maker(name)) for name, values in columns.items()
        }

    def _maker(self, name: str) -> Callable[[], Column]:
        return lambda: self.to_pandas()[name]

    def array(self, name: str) -> Values | None:
        """Gives the values of a column of numbers; None if there is none of that name."""
        return self._columns.get(name)

    def __getitem__(self, key: object) -> Any:
        """Gives a view of a column, or what pandas makes of another key."""
        view = self._views.get(key) if key.__class__ is str else None
        return self.to_pandas()[key] if view is None else view

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, name: object) -> bool:
        return name in self._views or name in self.to_pandas()

    def __getattr__(self, name: str) -> Any:
        """Gives a column by its name, else pandas' affair."""
        view = self._views.get(name)
        return getattr(self.to_pandas(), name) if view is None else view


def frame_view(df: pd.DataFrame) -> FrameView:
    """Makes a view of a frame that exists."""
    columns = {
        name: df[name].to_numpy()
        for name in df.columns
        if isinstance(name, str) and df[name].dtype.kind in PLAIN_KINDS
    }
    return FrameView(columns, len(df), lambda: df)


def series_view(series: Any) -> Any:
    """Makes a view of a pandas series of numbers or truths; anything else as it is."""
    kind = getattr(getattr(series, "dtype", None), "kind", "")
    if not hasattr(series, "iloc") or isinstance(series, SeriesView) or kind not in PLAIN_KINDS:
        return series
    return SeriesView(series.to_numpy(), lambda: series)


def array_view(values: Values) -> SeriesView:
    """Makes a view of an array, over rows counted from 0."""

    def make() -> Column:
        import pandas as pd

        return pd.Series(values)

    return SeriesView(values, make)


class CandleView(FrameView):
    """Shows candles that were read without pandas; its frame is a tidy one."""

    __slots__ = ("candles",)

    def __init__(self, candles: Candles) -> None:
        columns = {name: getattr(candles, name) for name in COLUMNS}

        def make() -> pd.DataFrame:
            import pandas as pd

            moments = pd.to_datetime(candles.times, unit="ms", utc=True).as_unit("ms")
            return pd.DataFrame({"timestamp": moments, **columns})

        super().__init__(columns, len(candles), make)
        self.candles = candles


def _pandas_operator(name: str) -> Callable[..., Any]:
    """Gives a method that lets pandas do an operation."""

    def operate(self: Any, *others: Any) -> Any:
        plain = [o.to_pandas() if isinstance(o, View) else o for o in others]
        return getattr(self.to_pandas(), name)(*plain)

    operate.__name__ = name
    return operate


# Operators are looked up on the class, where __getattr__ is never asked.
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_ALONE = ("neg", "pos", "abs", "invert", "bool")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_OPERATORS = (*_COMPARE, *_ALONE, *_ARITHMETIC, *(f"r{name}" for name in _ARITHMETIC))
for _name in _OPERATORS:
    setattr(View, f"__{_name}__", _pandas_operator(f"__{_name}__"))
setattr(View, "__hash__", None)  # noqa: B010 - unhashable, as in pandas
