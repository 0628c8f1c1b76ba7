"""The Freqtrade file carries the functions of the language with it, and they are the same ones."""

from typing import Any, overload

import numpy as np
import pandas as pd
import pytest
import talib
from numpy.typing import NDArray

from adapters import series
from bot.coder.template.emitted import emitted, function_names
from bot.contract.language.functions import FUNCTIONS


def carried(*names: str) -> dict[str, Any]:
    aliases, functions = emitted(names)
    known = {"np": np, "pd": pd, "talib": talib, "Any": Any, "overload": overload}
    namespace: dict[str, Any] = {**known, "NDArray": NDArray}
    exec(compile(f"{aliases}\n{functions}", "carried", "exec"), namespace)  # noqa: S102
    return namespace


PRICES = ("open", "high", "low", "close")


@pytest.mark.parametrize("name", sorted(name for name in function_names() if name[0] != "_"))
def test_a_function_brings_all_that_it_needs_and_answers_the_same(name: str) -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=60), np.abs(rng.normal(size=60))
    frame = pd.DataFrame(
        {
            "date": pd.date_range("2024-01-05", periods=60, freq="h", tz="UTC"),
            **dict.fromkeys(("open", "high", "low", "close", "volume"), x),
        }
    )
    moments = series.open_times(frame)
    columns = {name: frame[name].to_numpy() for name in (*PRICES, "volume")}
    arguments: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("always", "never"), (frame,)),
        **dict.fromkeys(("differs", "divide"), (x, y)),
        **dict.fromkeys(("numbers", "periods"), (y,)),
        **{f"heikin_ashi_{price}": (x, x + 1, x - 1, y) for price in PRICES},
        "open_times": (frame,),
        "resampled": (frame, 240),
        "combined": (moments, columns, 240),
        "merged": (x[:15], frame, 240, 60),
        "constant": (frame, 2.5),
    }
    for function in FUNCTIONS.values():
        kinds = {"number": iter((x, y)), "any": iter((x,)), "boolean": iter((x > 0.5,))}
        taken = [4 if kind == "window" else next(kinds[kind]) for _, kind in function.arguments]
        arguments[function.spelling] = (*(taken or [frame]), *function.fixed)
    given = arguments[name]
    found, expected = carried(name)[name](*given), getattr(series, name)(*given)
    if name == "resampled":
        pd.testing.assert_frame_equal(found, expected.rename(columns={"timestamp": "date"}))
        return
    if name == "combined":
        found, expected = (np.array([a, *b.values()]) for a, b in (found, expected))
    assert np.array_equal(found, expected, equal_nan=found.dtype == np.float64)


def test_nothing_is_carried_that_is_not_wanted() -> None:
    _, functions = emitted(["mean"])
    assert "def total(" in functions
    assert "def ago(" not in functions
    assert emitted([]) == ("", "")
