"""Stories to report on: the example contract's real back-test, and the same told by an enemy."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from Backtest.positions import Trade
from bot.contract.digest import contract_digest
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract, parse_contract
from bot.data.market_data import read_market_data
from bot.proof.judge import decide, judge, judge_rules, with_tear_sheet
from bot.report.behaviour import compare_trades
from bot.report.holding import held_value
from bot.report.story import Story

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Answer:
    """A gate's verdict, in the shape that gates give it."""

    name: str
    passed: bool
    figure: str = ""
    reason: str = ""
    where: str = ""
    next_step: str = ""


PASSED = (
    Answer("syntax", True, "2 files"),
    Answer("imports", True, "5 imports"),
    Answer("constitution", True, "2 paths"),
    Answer("secrets", True, "2 files"),
    Answer("flake8", True, "2 files"),
    Answer("mypy", True, "2 files"),
    Answer("bandit", True, "1 file"),
    Answer("pytest", True, "23 tests"),
    Answer("determinism", True, "2 runs"),
    Answer("lookahead", True, "40 cuts"),
    Answer("artifacts", True, "9 files"),
    Answer("acceptance", True, "2 checks"),
    Answer("correlation", True, "61 lines"),
)
REFUSED = (
    *PASSED[:5],
    Answer(
        "mypy",
        False,
        "2 errors",
        "Function is missing a return type annotation.",
        "Backtest/codes/oversold_dip.py:41",
        "Annotate the function, then run the gates again.",
    ),
    *PASSED[6:11],
    Answer("acceptance", False, "1 of 2 checks", "14 trades; the contract asks for at least 20."),
    PASSED[12],
)


@cache
def told(name: str = "oversold_dip") -> Story:
    """The story of an example contract, back-tested on its own candles."""
    path = ROOT / "contracts" / f"{name}.yaml"
    contract = load_contract(path).strategy
    program = compile_contract(contract)
    data = read_market_data(contract, ROOT)
    judgement = judge(contract, program, data, decide(contract, program, data))
    judgement = with_tear_sheet(judgement, data.candles)
    trades = judgement.broker.get_trades()
    return Story(
        contract=contract,
        program=program,
        verdicts=PASSED,
        summary=judgement.summary,
        trades=trades,
        equity=judgement.broker.get_equity_rows(),
        candles=data.candles,
        held=held_value(
            {name: (c.times, c.open, c.close) for name, c in data.candles.items()}, contract.capital
        ),
        correlation_id="corr_5f1c0a9be3d2",
        branch=contract.branch,
        tag=f"ai/{contract.workflow}/{contract.task}/corr_5f1c0a9be3d2",
        contract_path=f"contracts/{name}.yaml",
        contract_digest=contract_digest(contract),
        data_digest=data.digest,
        data_files=data.files,
        prompt_hash="sha256:" + "4e" * 32,
        coder="template",
        versions={"stratwright": "0.1.0", "TA-Lib": "0.8.2", "numpy": "2.4.6"},
        behaviour_change=compare_trades(trades[2:], trades[:-1], "main"),
        files=(f"Backtest/codes/{name}.py", f"tests/test_{name}.py"),
    )


@cache
def version(name: str, path: str, value: object) -> tuple[tuple[Trade, ...], Mapping[str, Any]]:
    """Back-test an example contract with one of its values changed: its trades and its summary.

    `path` is as "parameters.oversold.default" or "risk.stop_loss".
    """
    text = yaml.safe_load((ROOT / "contracts" / f"{name}.yaml").read_text(encoding="utf-8"))
    inner, (*folders, last) = text, path.split(".")
    for folder in folders:
        inner = inner[folder]
    inner[last] = value
    contract = parse_contract(yaml.safe_dump(text).encode(), "yaml", Path(name)).strategy
    data = read_market_data(contract, ROOT)
    judgement = judge_rules(contract, compile_contract(contract), data)
    judgement = with_tear_sheet(judgement, data.candles)
    return tuple(judgement.broker.get_trades()), judgement.summary
