"""Every snippet in the CODE pages runs."""

import asyncio
import re
from pathlib import Path

import pytest

from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.candles import read_candles
from Backtest.simbroker import SimBroker
from bot.coder.template.template_coder import strategy_text
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.knowledge.pages import SHIPPED

FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
ROOT = Path(__file__).parents[3]


def snippets(number):
    (page,) = (SHIPPED / "code").glob(f"{number}-*.md")
    return FENCE.findall(page.read_text("utf-8"))


def run(texts, **names):
    for text in texts:
        exec(compile(text, "snippet", "exec"), names)  # noqa: S102  our own pages
    return names


def test_no_page_of_code_is_left_out():
    pages = sorted(path.name[:8] for path in (SHIPPED / "code").glob("CODE-*.md"))
    assert pages == ["CODE-001", "CODE-002", "CODE-003", "CODE-004", "CODE-005"]


def test_the_istrategy_of_code_001_passes_the_checks_of_code_005():
    (strategy,) = snippets("CODE-001")
    offences = run(snippets("CODE-005"))["offences"]
    assert offences(strategy.encode(), "freqtrade") == []
    assert offences(b"import os\n") == [
        line for line in offences(b"import os\n") if line.startswith("1:")
    ]
    assert offences(b"import os\n")
    assert offences(b"def (")


class Exchange:
    """Candles of one minute, as CCXT gives them, at most `most` a call."""

    most = 3

    def parse_timeframe(self, timeframe):
        return {"1m": 60}[timeframe]

    def fetch_ohlcv(self, symbol, timeframe, since, limit):
        first = -(-since // 60_000)
        return [[60_000 * n, 1, 2, 0.5, 1.5, 9] for n in range(first, first + self.most)]


def test_code_003_fetches_every_candle_once():
    fetch = run(snippets("CODE-003"))["fetch_candles"]
    candles = fetch(Exchange(), "BTC/USDT", "1m", 0, 600_000)
    assert [candle[0] for candle in candles] == list(range(0, 600_000, 60_000))


def test_code_003_asks_for_many_symbols_at_once():
    class Later(Exchange):
        async def fetch_ohlcv(self, *args, **named):
            await asyncio.sleep(0)
            return super().fetch_ohlcv(*args, **named)

    fetch = run(snippets("CODE-003"))["fetch_many"]
    found = asyncio.run(fetch(Later(), ["A/B", "C/D"], "1m", 0))
    assert {symbol: len(page) for symbol, page in found.items()} == {"A/B": 2, "C/D": 2}


def test_the_tests_of_code_004_hold_for_a_generated_strategy():
    contract = load_contract(ROOT / "contracts/oversold_dip.yaml").strategy
    written = {}
    text = strategy_text(contract, compile_contract(contract), "contracts/oversold_dip.yaml")
    exec(compile(text, "strategy", "exec"), written)  # noqa: S102
    candles = read_candles(ROOT / contract.data.path)
    strategy = written["Strategy"]({})
    indicators = strategy.prepare_indicators(candles)
    rsi = indicators["rsi"]
    entry, left = (
        next(bar for bar in range(len(candles)) if indicators[name].iloc[bar])
        for name in ("enter_long", "exit_long")
    )
    page = "".join(snippets("CODE-004")).replace(
        "[41.2, 55.0, 38.7]", str([float(rsi.iloc[bar]) for bar in (14, 500, 2999)])
    )
    names = run(
        [page], pytest=pytest, Strategy=written["Strategy"], ENTRY_BARS=[entry], EXIT_BAR=left,
        CUTS=[900], SimBroker=SimBroker, SimBrokerAdapter=SimBrokerAdapter,
        run_backtest=written["run_backtest"], DEFAULT_CFG=written["DEFAULT_CFG"],
    )  # fmt: skip
    names["test_rsi_has_the_expected_values"](candles)
    names["test_it_enters_where_the_rule_holds"](candles, indicators, entry)
    names["test_it_leaves_where_the_exit_rule_holds"](candles, indicators)
    names["test_a_shorter_history_gives_the_same_signals"](candles, 900)
    names["test_two_runs_agree"](candles)
