"""A sweep of a contract: every set is what the contract alone gives, and the choice is told."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from Backtest.metrics.no_edge import NO_EDGE
from bot import cli
from bot.contract.language.program import compile_contract
from bot.contract.load import LoadedContract, load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.proof.judge import judge_rules
from bot.sweep.runs import FIGURES, WORLDS_A_SEED, run_sweep
from bot.sweep.sets import MAX_SETS, read_sets

ROOT = Path(__file__).parents[3]
CONTRACT = ROOT / "contracts" / "oversold_dip.yaml"
STOP = """
  stop: {default: 0.02}
  width: {default: 20}
"""


@pytest.fixture(scope="module")
def loaded() -> LoadedContract:
    return load_contract(CONTRACT)


@pytest.fixture
def with_stop(tmp_path: Path) -> LoadedContract:
    """The contract with parameters that have no range: its stop, and a window."""
    text = CONTRACT.read_text(encoding="utf-8")
    text = text.replace("parameters:\n", f"parameters:{STOP}", 1)
    text = text.replace("stop_loss: 0.02 ", "stop_loss: stop ", 1)
    text = text.replace("close > trend\n", "close > trend and close < mean(close, width)\n", 1)
    path = tmp_path / "contract.yaml"
    path.write_text(text, encoding="utf-8")
    return load_contract(path)


def sets_of(loaded: LoadedContract, *texts: str) -> list[dict[str, Any]]:
    return read_sets(texts, loaded.strategy, loaded.source.root or {})


@pytest.mark.parametrize("workers", [1, 2])
def test_every_set_is_what_the_contract_alone_gives(
    with_stop: LoadedContract, workers: int
) -> None:
    contract, program = with_stop.strategy, compile_contract(with_stop.strategy)
    data = read_market_data(contract, ROOT)
    (candles,) = data.candles.values()
    texts = ("oversold=30,40", "rsi_period=7,21", "stop=0.01,0.03", "width=5,30")
    found = run_sweep(contract, program, candles, sets_of(with_stop, *texts), workers=workers)
    assert len(found.rows) == 16
    for row in found.rows:
        changed = replace(program, parameters={**program.parameters, **row.values})
        alone = judge_rules(contract, changed, data).summary
        assert row.figures == {name: alone[name] for name in FIGURES}
    assert len({row.figures["total_pnl"] for row in found.rows}) > 8
    ratios = [row.figures["sharpe"] for row in found.rows]
    assert ratios == sorted(ratios, key=lambda ratio: -math.inf if ratio is None else -ratio)


def test_values_are_listed_or_counted(loaded: LoadedContract) -> None:
    sets = sets_of(loaded, "oversold=20:30:5", "rsi_period=14.0, 7")
    assert [tuple(one.values()) for one in sets] == [
        (20, 14), (20, 7), (25, 14), (25, 7), (30, 14), (30, 7)
    ]  # fmt: skip
    assert all(isinstance(value, int) for one in sets for value in one.values())


def test_steps_of_a_decimal_are_exact(with_stop: LoadedContract) -> None:
    assert [one["stop"] for one in sets_of(with_stop, "stop=0.01:0.05:0.01")] == [
        0.01, 0.02, 0.03, 0.04, 0.05
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((), "no parameter to change"),
        (("oversold",), "lists no values"),
        (("oversold=",), "lists no values"),
        (("overbought=70",), "no parameter 'overbought'"),
        (("oversold=30", "oversold=31"), "twice"),
        (("oversold=many",), "no number"),
        (("oversold=nan",), "no number"),
        (("oversold=10",), "oversold=10 is outside its range"),
        (("rsi_period=14.5",), "whole number"),
        (("oversold=20:30",), "no from:to:step"),
        (("oversold=30:20:1",), "goes nowhere"),
        (("oversold=20:30:0",), "goes nowhere"),
        (("stop=2",), "stop=2.0 is refused"),
        (("width=0",), "width=0 is refused"),
        (("stop=0.0001:0.9:0.0001", "width=10,20"), "18,000 sets, at most 10,000"),
        (("width=1:1000000:1",), "1,000,000 values"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_words(
    with_stop: LoadedContract, texts: tuple[str, ...], message: str
) -> None:
    assert MAX_SETS == 10_000
    with pytest.raises(InputError, match=message):
        sets_of(with_stop, *texts)


def test_an_unknown_figure_names_the_nearest(loaded: LoadedContract) -> None:
    contract = loaded.strategy
    (candles,) = read_market_data(contract, ROOT).candles.values()
    with pytest.raises(InputError) as told:
        run_sweep(contract, compile_contract(contract), candles, [{"oversold": 30}], "sharp")
    assert "sharpe" in told.value.hint


def test_worlds_without_an_edge_are_searched_in_the_same_way(loaded: LoadedContract) -> None:
    contract, program = loaded.strategy, compile_contract(loaded.strategy)
    (candles,) = read_market_data(contract, ROOT).candles.values()
    sets, done = sets_of(loaded, "oversold=30,40", "rsi_period=7,21"), []
    found = run_sweep(contract, program, candles, sets, "return", 1, done.append, 6).luck
    assert done == list(range(1, 4 * 7 + 1))
    assert found.worlds == 6
    ratios = []
    for number in range(6):
        make = list(NO_EDGE.values())[number % 2]
        world = make(candles, contract.seed * WORLDS_A_SEED + number)
        ratios.append(run_sweep(contract, program, world, sets, "return").rows[0].figures["return"])
    own = run_sweep(contract, program, candles, sets, "return").rows[0].figures["return"]
    assert own is not None
    assert found.worlds_as_good == sum(ratio is not None and ratio >= own for ratio in ratios)
    assert found.by_worlds == (found.worlds_as_good + 1) / 7


def sweep_command(*more: str) -> list[str]:
    return ["sweep", str(CONTRACT), "--set", "oversold=30,35,40", "--set", "rsi_period=7,14", *more]


def test_the_table_says_that_the_best_was_selected(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "sets.csv"
    assert cli.main(sweep_command("--top", "2", "--out", str(out))) == 0
    shown = capsys.readouterr().out
    assert "best of 6 sets" in shown
    for words in ("deflated Sharpe", "overfitting", "bps a side", "other orders"):
        assert words in shown, words
    assert "without an edge:" not in shown
    assert shown.splitlines()[3].split()[:3] == ["oversold", "rsi_period", "sharpe"]
    lines = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(lines) == 6
    ratios = [float(line["sharpe"]) for line in lines]
    assert ratios == sorted(ratios, reverse=True)


def test_the_first_lines_are_the_best_set_and_its_figures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The same line as `backtest` of the contract with these values."""
    assert cli.main(sweep_command("--json")) == 0
    answer = json.loads(capsys.readouterr().out)
    chosen = answer["sets"][0]["parameters"]
    text = CONTRACT.read_text(encoding="utf-8")
    for name, value in chosen.items():
        text = re.sub(rf"{name}: {{default: \d+", f"{name}: {{default: {value}", text)
    (tmp_path / "best.yaml").write_text(text, encoding="utf-8")
    candles = ["--data", str(ROOT / "tests" / "fixtures" / "sample_btc.csv")]
    out = ["--out", str(tmp_path / "out")]
    assert cli.main(["backtest", str(tmp_path / "best.yaml"), *candles, *out]) == 0
    alone = capsys.readouterr().out.splitlines()[0]
    assert alone.startswith(("+", "\N{MINUS SIGN}"))
    assert cli.main(sweep_command()) == 0
    named = ", ".join(f"{name} {value}" for name, value in chosen.items())
    shown = capsys.readouterr().out.splitlines()
    assert shown[:3] == [f"best of 6: {named}", alone, ""]
    assert answer["figures"]["total_trades"] == answer["sets"][0]["figures"]["total_trades"]


def test_orders_that_were_rejected_are_told_by_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    text = text.replace("timeframe: 1h}", "timeframe: 1h, min_notional: 5000}")
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    candles = ["--data", str(ROOT / "tests" / "fixtures" / "sample_btc.csv")]
    command = ["sweep", str(tmp_path / "small.yaml"), *candles, "--set", "oversold=35"]
    assert cli.main(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No trade: every order was rejected." in shown
    assert "for a value below min_notional" in shown


def test_json_is_the_same_twice_and_with_workers(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for more in ((), (), ("--workers", "2")):
        assert cli.main(sweep_command("--json", "--metric", "max_drawdown", *more)) == 0
        texts.append(capsys.readouterr().out)
    assert len(set(texts)) == 1
    found = json.loads(texts[0])
    assert (found["metric"], found["sets_tried"]) == ("max_drawdown", 6)
    assert 0.0 <= found["backtest_overfitting_probability"] <= 1.0
    assert found["neighbours"] in (2, 3)
    assert found["trades_by_chance"]["order_drawdown"][0] > 0.0
    assert found["chance_without_edge"] is None
    falls = [one["figures"]["max_drawdown"] for one in found["sets"]]
    assert falls == sorted(falls)


def test_errors_take_the_usual_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep", str(CONTRACT), "--set", "oversol=30"]) == 2
    told = capsys.readouterr().err
    assert "no parameter 'oversol'" in told
    assert "oversold" in told
    assert cli.main(sweep_command("--top", "0")) == 2
    assert cli.main(sweep_command("--worlds", "-1")) == 2
