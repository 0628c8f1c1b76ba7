"""A faithful contract passes the mutation gate, whatever its rules leave undecided.

The tests of a few are tried on a part of their mutants; `make attacks` takes them all.
"""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.idle_clauses import idle_clauses
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.gates.mutation.mutation_gate import try_mutants
from sandbox_runner.port import open_sandbox
from tests.chance import EVERY_ATTACK

HEAD = """version: "1.0"
workflow: faithful
task: strategy
kind: strategy
name: FaithfulRule
market: {symbols: [BTC/USDT], timeframe: 1h}
data: {source: csv, path: data/btc.csv}
indicators:
  rsi: {function: RSI, timeperiod: 14}
"""
# Indicators beside rsi, the rules, and what is said of the clause that no market decides.
RULES = {
    "redundant": ("", "rsi < 40 and rsi < 60 and close > 0", "rsi > 60", "`rsi is below 60` holds"),
    "nearly impossible": (
        "  bands: {function: BBANDS, timeperiod: 20, nbdevup: 4.0, nbdevdn: 4.0}\n",
        "rsi < 35 or (close > bands.upperband * 3 and rsi > 99.9)",
        "rsi > 65",
        "`close is above bands.upperband * 3 and rsi is above 99.9` never holds",
    ),
    "slow": (
        "  year: {function: SMA, timeperiod: 2000}\n  half: {function: EMA, timeperiod: 900}\n",
        "close > year and half > year and rsi < 45",
        "crossed_below(half, year) or rsi > 75 or close < lowest(low, 1500)[1]",
        "",
    ),
    "slower than any market": (
        "  far: {function: SMA, timeperiod: 7000}\n",
        "rsi < 20 or close > far and rsi < 45",
        "rsi > 75",
        "`close is above far and rsi is below 45` never holds",
    ),
    "a rare pattern": (
        "  stars: {function: CDL3STARSINSOUTH}\n",
        "rsi < 30 and not stars > 0",
        "rsi > 70",
        "`it is not the case that stars is above 0` holds",
    ),
    "contradictory": ("", "rsi < 30 and rsi > 70", "rsi > 50", "`rsi is above 70` never holds"),
    "inside a clause": (
        "  trend: {function: SMA, timeperiod: 60}\n",
        "rsi < 45 and (close > trend or rsi < 20 and volume < 0)",
        "rsi > 70",
        "`rsi is below 20 and volume is below 0` never holds",
    ),
}
TRIED = list(RULES) if EVERY_ATTACK else ["nearly impossible", "slow"]


def contract(name: str, folder: Path) -> Contract:
    indicators, enter, leave, _ = RULES[name]
    rules = f"rules:\n  enter_long: {enter}\n  exit_long: {leave}\nrisk: {{stop_loss: 0.02}}\n"
    path = folder / "faithful.yaml"
    path.write_text(HEAD + indicators + rules, "utf-8")
    return load_contract(path).strategy


@pytest.mark.parametrize(
    "name", RULES if EVERY_ATTACK else sorted({*RULES} - {"slower than any market"})
)
def test_the_clause_that_no_market_decides_is_named(name: str, tmp_path: Path) -> None:
    told = contract(name, tmp_path)
    found = [
        clause
        for clauses in idle_clauses(told, compile_contract(told)).values()
        for clause in clauses
    ]
    named = [clause for clause in found if RULES[name][3] in clause]
    assert bool(named) is bool(RULES[name][3]), found


@pytest.mark.parametrize("name", TRIED)
def test_no_mutant_is_left_to_the_tests_of_a_faithful_contract(name: str, tmp_path: Path) -> None:
    told = contract(name, tmp_path)
    files = TemplateCoder().write(told, "contracts/faithful.yaml").contents
    mutation = try_mutants(told, files, open_sandbox("namespace"), None if EVERY_ATTACK else 16)
    assert mutation.verdict.passed, mutation.verdict
    assert mutation.killed
