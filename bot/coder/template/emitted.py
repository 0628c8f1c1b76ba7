"""Turns functions of the rule language into text that a generated file can carry with it.

One source of truth: the text is cut out of `adapters.series` itself, with everything that the
wanted functions need, so that a file which may not import our packages computes the same. Only the
functions that read the candles' times, or call the compiled engine, are written for Freqtrade here.
"""

import ast
import inspect
from collections.abc import Iterable
from functools import cache

from adapters import series

# They read our own frames, TA-Lib's private module or the compiled engine.
_LEFT_OUT = {
    *("at", "by_name", "column", "crossed", "crossed_above", "hour", "ma_type", "open_times"),
    *("resampled", "times", "weekday"),
}
_WITHOUT_OURS = '''
def crossed_above(a: Value, b: Value) -> Booleans:
    """a is above b now and was at or below it one bar ago."""
    a, b = np.broadcast_arrays(a, b)
    crossed: Booleans = a > b
    crossed[1:] &= a[:-1] <= b[:-1]
    crossed[:1] = False
    return crossed



def open_times(df: pd.DataFrame) -> Moments:
    """When each candle opened, in milliseconds of UTC."""
    return np.asarray(df["date"].dt.as_unit("ms").astype("int64"), dtype=np.int64)


def resampled(df: pd.DataFrame, minutes: int) -> pd.DataFrame:
    """The longer candles that these candles make."""
    columns = {
        name: df[name].to_numpy(dtype=np.float64)
        for name in ("open", "high", "low", "close", "volume")
    }
    opens, longer = combined(open_times(df), columns, minutes)
    return pd.DataFrame({"date": pd.to_datetime(opens, unit="ms", utc=True), **longer})


def hour(df: pd.DataFrame) -> Numbers:
    """The hour of each candle's open, UTC."""
    return np.asarray(df["date"].dt.hour, dtype=np.float64)


def weekday(df: pd.DataFrame) -> Numbers:
    """The day of each candle's open, UTC, Monday = 0."""
    return np.asarray(df["date"].dt.day_of_week, dtype=np.float64)
'''


@cache
def function_names() -> frozenset[str]:
    """Names the functions of the language."""
    return frozenset(name for name, parts in _parts().items() if parts.is_function)


class _Part:
    """A function with its overloads, or a type alias: its text, and the names that it uses."""

    def __init__(self, is_function: bool) -> None:
        self.is_function = is_function
        self.texts: list[str] = []
        self.uses: set[str] = set()

    def add(self, text: str, node: ast.stmt) -> None:
        self.texts.append(text)
        self.uses |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@cache
def _parts() -> dict[str, _Part]:
    """Collects the functions and aliases of the module, in its own order."""
    parts: dict[str, _Part] = {}
    _read(inspect.getsource(series), parts, _LEFT_OUT)
    _read(_WITHOUT_OURS, parts, set())
    return parts


def _read(source: str, parts: dict[str, _Part], left_out: set[str]) -> None:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name not in left_out:
            name, is_function = node.name, True
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, is_function, first = node.targets[0].id, False, node.lineno
        else:
            continue
        # flake8 wants no blank before the colon of a slice.
        text = "\n".join(lines[first - 1 : node.end_lineno]).replace(" :", ":")
        parts.setdefault(name, _Part(is_function)).add(text, node)


def emitted(wanted: Iterable[str]) -> tuple[str, str]:
    """Writes the type aliases and the functions that some functions of the language need."""
    parts, needed, open_names = _parts(), set[str](), set(wanted)
    while open_names:
        needed |= open_names
        uses = {use for name in open_names for use in parts[name].uses}
        open_names = (uses & set(parts)) - needed
    chosen = [part for name, part in parts.items() if name in needed]
    aliases = [part.texts[0] for part in chosen if not part.is_function]
    functions = [text for part in chosen if part.is_function for text in part.texts]
    return "\n".join(aliases), "\n\n\n".join(functions)
