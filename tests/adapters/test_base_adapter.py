"""The interface is the one that strategies were promised."""

import inspect
from typing import TYPE_CHECKING

import pytest

from adapters.base_adapter import BaseAdapter
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.simbroker import SimBroker

METHODS = {
    "place_order": ["self", "order_request"],
    "cancel_order": ["self", "order_id"],
    "close_position": ["self", "pos_id", "price"],
    "step_bar": ["self", "bar"],
    "get_positions": ["self"],
    "get_account": ["self"],
    "generate_report": ["self"],
    "save_report": ["self", "out_dir"],
}

if TYPE_CHECKING:  # mypy proves that the adapter keeps the protocol
    _proof: BaseAdapter = SimBrokerAdapter(SimBroker())


@pytest.mark.parametrize("name", METHODS)
def test_names_and_parameters_are_exact(name: str) -> None:
    promised = inspect.signature(getattr(BaseAdapter, name)).parameters
    assert list(promised) == METHODS[name]
    offered = list(inspect.signature(getattr(SimBrokerAdapter, name)).parameters)
    assert offered[: len(METHODS[name])] == METHODS[name]


def test_nothing_else_is_promised() -> None:
    public = {name for name in vars(BaseAdapter) if not name.startswith("_")}
    assert public == set(METHODS)


def test_the_adapter_speaks_for_its_broker() -> None:
    broker = SimBroker(capital=500)
    adapter = SimBrokerAdapter(broker)
    assert adapter.get_account() == broker.get_account()
    assert adapter.execution == "next_open"
