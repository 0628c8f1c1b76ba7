"""Freqtrade's own signals and trades are those of the contract."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from bot.coder.template.freqtrade_names import RESERVED
from bot.contract.language.program import compile_contract
from bot.contract.load import parse_contract
from bot.contract.model import Contract
from bot.gates.freqtrade.parity import Expectation, differing_signal, differing_trade
from tests.freqtrade.compare_worlds import compare, written
from tests.freqtrade.freqtrade_environment import ROOT, needs_freqtrade, run_python
from tests.freqtrade.worlds import tiers_of, world
from tools.freqtrade_answers import ask_freqtrade as ask

pytestmark = needs_freqtrade
SPOT_WORLDS = range(20)
FUTURES_WORLDS = range(500, 508)
WILD_WORLDS = range(10_000, 10_008)


def test_random_worlds_give_the_same_signals_and_trades(tmp_path: Path) -> None:
    cases = [world(seed) for seed in SPOT_WORLDS]
    cases += [world(seed, futures=True) for seed in FUTURES_WORLDS]
    compared = list(compare(cases, tmp_path))
    assert [one.difference for one in compared if one.difference] == []
    reasons = {trade["exit_reason"] for one in compared for trade in one.trades}
    assert reasons == {"exit_signal", "force_exit", "roi", "stop_loss", "trailing_stop_loss"}


def test_futures_are_liquidated_where_freqtrade_liquidates_them(tmp_path: Path) -> None:
    cases = [world(seed, futures=True, wild=True) for seed in WILD_WORLDS]
    compared = list(compare(cases, tmp_path, [tiers_of(seed) for seed in WILD_WORLDS]))
    assert [one.difference for one in compared if one.difference] == []
    reasons = [trade["exit_reason"] for one in compared for trade in one.trades]
    assert reasons.count("liquidation") >= 5


def test_the_examples_give_the_same_signals_on_their_own_candles(tmp_path: Path) -> None:
    cases: list[tuple[Contract, Expectation]] = []
    for path in sorted((ROOT / "contracts").glob("*.yaml")):
        text = path.read_text("utf-8").replace("[adapter]", "[adapter, freqtrade]")
        text = text.replace("[SP500]", "[SPX/USD]")
        contract = parse_contract(text.encode(), "yaml", path).strategy
        frame = pd.read_csv(ROOT / str(contract.data.path))
        frames = {contract.market.symbols[0]: frame}
        cases.append((contract, Expectation(contract, compile_contract(contract), frames)))
    answers = ask([case.request(written(c, tmp_path)) for c, case in cases], tmp_path)
    for (contract, case), answer in zip(cases, answers, strict=True):
        assert differing_signal(answer["signals"], case.signals()) == "", contract.name
        assert differing_trade(answer["trades"], case.trades()) == "", contract.name
        assert answer["trades"], contract.name


def test_a_parameter_never_takes_a_name_of_freqtrade() -> None:
    code = """
import json
from freqtrade.strategy import IStrategy
names = set(dir(IStrategy))
for kind in IStrategy.__mro__:
    names |= set(getattr(kind, "__annotations__", {}))
print(json.dumps(sorted(names)))
"""
    names: list[str] = json.loads(run_python(code))
    free = [name for name in names if not name.startswith(("_", "ft_")) and name.islower()]
    assert set(free) - RESERVED == set()


def test_another_strategy_is_told_apart(tmp_path: Path) -> None:
    contract, frames = world(3)
    expected = Expectation(contract, compile_contract(contract), frames)
    risk = {**contract.risk.model_dump(exclude_none=True), "ignore_roi_if_entry_signal": False}
    changes: list[dict[str, Any]] = [
        {"stop_loss": 0.001},
        {"take_profit": 0.001},
        {"size": {"equity": 0.31}},
    ]
    requests = []
    for number, change in enumerate(changes):
        document = contract.model_dump(mode="json", exclude_none=True)
        document["risk"] = {**risk, **change}
        other = parse_contract(json.dumps(document).encode(), "json", Path("x.json")).strategy
        place = tmp_path / str(number)
        place.mkdir()
        requests.append(expected.request(written(other, place)))
    for answer, change in zip(ask(requests, tmp_path), changes, strict=True):
        assert differing_trade(answer["trades"], expected.trades()) != "", change
