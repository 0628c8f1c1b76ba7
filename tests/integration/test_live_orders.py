"""Freqtrade in live mode on the exchange: a sample of `make bridge`, with our launcher."""

import os
from pathlib import Path

import pytest

from tests.integration.live_orders import run_row
from tests.redis_server import PROGRAM, WHY

pytestmark = pytest.mark.freqtrade


@pytest.mark.parametrize(("leg", "fault"), [("entry", "lost"), ("entry", "kill -9")])
def test_a_fault_at_an_order_call_leaves_one_order_and_one_stop(
    tmp_path: Path, leg: str, fault: str
) -> None:
    if PROGRAM is None:
        pytest.skip(WHY)
    environment = Path(os.environ["STRATWRIGHT_FREQTRADE"])
    found = run_row(tmp_path, environment, leg, fault, safe=True)
    assert found.is_clean, found
    assert (found.buys, found.stops, found.sells) == (1, 1, 0)
