"""What the catalogue says about TA-Lib's functions is what they do."""

import numpy as np
import pytest
import talib

from adapters.testing import market
from bot.contract.language import catalog

CANDLES = market(300, 5)


@pytest.mark.parametrize("name", catalog.function_names())
def test_whole_numbers_are_known_as_such(name: str) -> None:
    function = catalog.describe(name)
    columns = [CANDLES[slot.price or "close"].to_numpy() for slot in function.slots]
    if name == "MAVP":
        columns[1] = np.full(len(CANDLES), 5.0)
    found = getattr(talib, name)(*columns)
    outputs = found if isinstance(found, tuple) else (found,)
    assert len(outputs) == len(function.outputs)
    whole = {o for o, x in zip(function.outputs, outputs, strict=True) if x.dtype != np.float64}
    assert whole == catalog.INTEGER_OUTPUTS & set(function.outputs)


@pytest.mark.parametrize("name", catalog.function_names())
def test_no_function_looks_ahead(name: str) -> None:
    """Cut off anywhere, the history up to the cut has the same values."""
    function = catalog.describe(name)
    columns = [CANDLES[slot.price or "close"].to_numpy() for slot in function.slots]
    if name == "MAVP":
        columns[1] = np.full(len(CANDLES), 5.0)
    whole = catalog.call(name, columns, {})
    for cut in (120, 201, 299):
        part = catalog.call(name, [column[:cut].copy() for column in columns], {})
        for mine, all_of_it in zip(part, whole, strict=True):
            assert np.array_equal(mine, all_of_it[:cut], equal_nan=True), cut
