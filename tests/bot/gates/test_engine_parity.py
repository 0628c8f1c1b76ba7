"""Both paths of the broker, on decisions as they are judged."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loop.strategy_decisions import SignalDecisions
from Backtest.compiled.kernel import Orders
from Backtest.strategy_signals import read_signals
from benchmarks.worlds import SYMBOL, random_world
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import MarketData, read_market_data
from bot.gates import engine_parity
from bot.gates.engine_parity import NotArrays, as_arrays, judge_engine_parity
from bot.proof.judge import decide
from tests.chance import examples
from tests.decisions import record
from tests.e2e.lines import HOUSE, candles_text, contract_text

EXAMPLES = sorted((HOUSE / "contracts").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_give_the_same_trades_on_every_path(path: Path) -> None:
    contract = load_contract(path).strategy
    program, data = compile_contract(contract), read_market_data(contract, HOUSE)
    found = judge_engine_parity(contract, program, data, decide(contract, program, data))
    assert found.passed, found
    assert int(found.figure.split()[0]) > 0


@examples(150)
@given(st.integers(0, 10**9))
def test_recorded_decisions_are_the_arrays_they_were_made_from(seed: int) -> None:
    """Orders written down bar by bar and read back as arrays mean the same signals."""
    world = random_world(seed)
    bars = len(world.candles)
    signals = read_signals(world.offered, bars)
    written = record(SignalDecisions(signals, SYMBOL, world.candles.close), bars)
    again = read_signals(as_arrays(written, bars), bars)
    assert (again.enter == signals.enter).all()
    assert (again.exit_long == signals.exit_long).all()
    assert (again.exit_short == signals.exit_short).all()
    for idx in (int(key) for key in written["entries"]):
        close = float(world.candles.close[idx])
        assert again.order(idx, SYMBOL, close) == signals.order(idx, SYMBOL, close)


def dip(folder: Path, bars: int = 400) -> tuple[Any, Any, MarketData, dict[str, Any]]:
    (folder / "data").mkdir()
    (folder / "data/btc.csv").write_text(candles_text(bars), "utf-8")
    (folder / "dip.yaml").write_text(contract_text(), "utf-8")
    contract = load_contract(folder / "dip.yaml").strategy
    program, data = compile_contract(contract), read_market_data(contract, folder)
    return contract, program, data, decide(contract, program, data)


def test_a_contract_that_never_trades_passes(tmp_path: Path) -> None:
    contract, program, data, decisions = dip(tmp_path)
    nothing = {symbol: {**said, "entries": {}} for symbol, said in decisions.items()}
    assert judge_engine_parity(contract, program, data, nothing).figure.startswith("0 trades")


def test_a_compiled_path_with_another_stop_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate can fail: a kernel that reads one number wrongly gives other trades."""
    from Backtest.compiled import signal_run as compiled

    real = compiled.orders_of

    def wrong(signals: Any) -> Any:
        orders: Orders = real(signals)
        return orders._replace(size_amount=orders.size_amount * 1.000001)

    monkeypatch.setattr(compiled, "orders_of", wrong)
    contract, program, data, decisions = dip(tmp_path)
    found = judge_engine_parity(contract, program, data, decisions)
    assert not found.passed
    assert "the event loop and the compiled path differ: trade 0" in found.reason


def test_orders_that_differ_from_bar_to_bar_are_no_arrays(tmp_path: Path) -> None:
    contract, program, data, decisions = dip(tmp_path)
    entries = decisions["BTC/USDT"]["entries"]
    first = next(iter(entries))
    entries[first] = {**entries[first], "size": {"units": 3.0}}
    found = judge_engine_parity(contract, program, data, decisions)
    assert (found.passed, found.figure) == (False, "not run")
    assert "different values of size" in found.reason
    with pytest.raises(NotArrays):
        as_arrays(decisions["BTC/USDT"], 400)


def test_a_missing_library_fails_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> bool:
        raise ImportError("No module named 'numba'")

    monkeypatch.setattr(engine_parity, "run_arrays", missing)
    found = judge_engine_parity(*dip(tmp_path))
    assert (found.passed, found.figure) == (False, "not run")


def test_every_symbol_is_played(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for symbol in ("BTC_USDT", "ETH_USDT"):
        (tmp_path / f"data/{symbol}.csv").write_text(candles_text(400), "utf-8")
    text = contract_text(data='"data/{symbol}.csv"')
    counts = []
    for symbols in ("[BTC/USDT]", "[BTC/USDT, ETH/USDT]"):
        (tmp_path / "dip.yaml").write_text(text.replace("[BTC/USDT]", symbols), "utf-8")
        contract = load_contract(tmp_path / "dip.yaml").strategy
        program, data = compile_contract(contract), read_market_data(contract, tmp_path)
        found = judge_engine_parity(contract, program, data, decide(contract, program, data))
        assert found.passed, found
        counts.append(int(found.figure.split()[0]))
    assert counts[0] > 0
    assert counts[1] == 2 * counts[0]
