"""Only plain, finite data is taken from a strategy."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.harness.plain_answers import NotPlain, plain
from tests.chance import examples


@examples(100)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_keeps_every_bit_through_json(value: float) -> None:
    for given_value in (value, np.float64(value)):
        back = json.loads(json.dumps(plain({"x": given_value})))["x"]
        assert back == value
        assert str(back) == str(value)


def test_an_order_request_becomes_plain() -> None:
    order = {"action": "BUY", "volume": np.float64(0.1), "roi": {0: 0.04, 60: np.float32(0.5)}}
    order |= {"size": {"units": np.int64(3)}, "ok": np.bool_(True), "levels": (1, 2.5)}
    assert plain(order) == {
        "action": "BUY",
        "volume": 0.1,
        "roi": {"0": 0.04, "60": 0.5},
        "size": {"units": 3},
        "ok": True,
        "levels": [1, 2.5],
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (float("nan"), "nan"),
        ({"sl": float("inf")}, "inf"),
        (np.float64("nan"), "nan"),
        (object(), "object"),
        ({1.5: 1}, "key of type float"),
        ({True: 1}, "key of type bool"),
        (np.array([1.0, 2.0]), "ndarray"),
        ("x" * 1000, "1000 characters"),
        (10**30, "64 bits"),
        (list(range(1000)), "1000 items"),
        ([[[[[[[[1]]]]]]]], "deeper"),
        (b"bytes", "bytes"),
    ],
)
def test_other_answers_are_refused_with_the_reason(answer: Any, words: str) -> None:
    with pytest.raises(NotPlain, match=words):
        plain(answer)
