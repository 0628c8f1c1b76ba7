"""A statement that contradicts the installed package is found."""

import json
import shutil

import pytest

from bot.cli import main
from bot.knowledge.check import Installed, check_page
from bot.knowledge.facts import Finding, read_rows
from bot.knowledge.ingest import SOURCES, in_own_words
from bot.knowledge.pages import SHIPPED, Page, read_page

NAMES = ("talib", "ccxt", "stratwright", "pytest")


@pytest.fixture(scope="module")
def installed():
    return Installed({name: in_own_words(SOURCES[name].read()) for name in NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_page_contradicts_nothing(installed, name):
    page = read_page(SOURCES[name].page, SHIPPED / SOURCES[name].page)
    assert [item.text for item in check_page(page, installed)] == []


def found(installed, text, package="TA-Lib"):
    about = {"package": package} if package else {}
    page = Page("learnings/LEARN-099-x.md", about, text)
    return [
        item for item in check_page(page, installed)
        if "no word of" not in item.statement and not item.statement.startswith("version ")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "statement",
    [
        "Call `RSI(price, timeperiod=21)` for strength.",
        "The default period of `RSI` is 21.",
        "RSI uses a default of 9 bars.",
        "`STOCH(high, low, close, kperiod=5)` is the slow one.",
        "`SUPERMA` is smoother than `EMA`.",
        "The warm-up of `RSI` is 30 bars.",
        "`SMA` is unstable.",
        "`EMA` is stable.",
        "`MACD` returns `histogram`, `line`.",
        "Tried with TA-Lib 0.4.28.",
        "`talib.get_functionz` lists them.",
        "`fetch_ohlcv(symbol, timeframe='5m')` gives candles.",
        "`create_order(symbol, kind, side, amount)` and `fetch_klines` are unified.",
        "`RateLimitExceeded` is an `ExchangeError`.",
        "`pytest.aprox` compares floats.",
        "TA-Lib has 150 functions.",
        "There is no `VWAP` in TA-Lib.",
        "`ATR` takes only `close`.",
        "`BBANDS` has four outputs.",
        "The timeperiod of `RSI` may be 1 to 500.",
        "The defaults of `MACD` are 10, 26 and 9.",
        "`EMA` needs 50 bars before its first value.",
        "The first 30 values of `RSI` are missing.",
        "`ATR` is one of the Momentum Indicators.",
        "`SMA` depends on where history begins.",
        "`create_order(symbol, side, type, amount)` sends an order.",
        "`crossed_above(a)` takes one series.",
        "`talib.RSI(close, timeperiod=21)` has the default.",
        "`RateLimitExceeded` inherits from `ExchangeError`.",
        "`NetworkError` and what is below it (`RequestTimeout`, `InvalidOrder`) is tried again.",
        "`ccxt.kraken` cannot do `fetch_ohlcv`.",
        "Kraken has `set_leverage`.",
        "`fetch_ohlcv` is called with `since` and `limits`.",
        "`contract.name` is optional.",
        "`contract.capital` defaults to 77.",
        "`RSI` has a parameter `length`.",
        "`ATR` is a momentum indicator.",
        "`RequestTimeout` and `BadSymbol` are both `NetworkError`s.",
        "`stratwright start` begins it.",
        "`contract.risk.stop` ends a trade.",
        "`gate.speed` refuses slow code.",
        "x\n```python\ntalib.RSI(close, period=14)\n```",
        "| `RSI` | Momentum Indicators | `RSI(price, timeperiod=21) -> real` | x |",
        "| `RSJ` | Momentum Indicators | `RSJ(price) -> real` | x |",
    ],
)
def test_a_planted_mistake_is_found(installed, statement):
    assert found(installed, f"# x\n\nTrue things.\n\n- {statement}\n".replace("- |", "|"))


@pytest.mark.parametrize(
    "statement",
    [
        "Call `RSI(price, timeperiod=14)` for strength.",
        "The default period of `RSI` is 14.",
        "`RSI(close)` is below 30.",
        "`SMA` is stable, `EMA` is not.",
        "`MACD` gives `macd`, `macdsignal`, `macdhist`.",
        "`RateLimitExceeded` is a `NetworkError`.",
        "The warm-up of `RSI` is 14 bars.",
        "`RSI` needs 15 bars before its first value.",
        "`MACD` gives three series; its defaults are 12, 26 and 9.",
        "The timeperiod of `RSI` may be 2 to 100000, by default it is 14.",
        "`ATR` takes `high`, `low` and `close` and is one of the Volatility Indicators.",
        "There is no Ichimoku in TA-Lib, and `MIDPRICE` gives its lines.",
        "`RequestTimeout` derives from `NetworkError`; `BadSymbol` does not.",
        "Binance has `set_leverage`, Kraken is slower.",
        "`contract.name` is required, `contract.notes` is not.",
        "`create_order(symbol, type, side, amount)` and `crossed_above(fast, slow)` are calls.",
        "RSI(14) below 30, 70 at most; `RSI` of 14 bars.",
        "x\n```python\ntalib.RSI(close, timeperiod=7)\n```",
        "`fetch_ohlcv(symbol, timeframe='1m')` gives candles.",
        "A stop of 0.02 is usual; 21 trades are few.",
    ],
)
def test_what_is_true_is_left_alone(installed, statement):
    assert [item.text for item in found(installed, f"# x\n\n- {statement}\n")] == []


@pytest.mark.parametrize(
    "statement",
    [
        "`config.unfilledtimeout.unit` is one of hours, minutes.",
        "`config.exchange.pairs` lists the pairs.",
        "`freqtrade download` gets candles.",
        "`config.max_open_trades` must be a string.",
        "`config.fee` is at most 0.5.",
        "`populate_buy_trend` is the callback for entries.",
        "`trailing_stop` was removed.",
        "`adjust_trade_position` returns a bool.",
        "`can_short` is True by default.",
        "`custom_exit(pair, trade, now, rate, profit)` ends a trade.",
    ],
)
def test_a_planted_mistake_about_freqtrade_is_found(installed, statement):
    page = read_page(SOURCES["freqtrade"].page, SHIPPED / SOURCES["freqtrade"].page)
    facts = tuple(read_rows(page.text).values())
    known = Installed({**installed.findings, "freqtrade": Finding("Freqtrade", "2026.9", facts)})
    assert found(known, f"# x\n\n- {statement}\n", "Freqtrade")
    true = "- `config.fee` is at most 0.1 and `config.max_open_trades` is an integer.\n"
    true += "- `freqtrade download-data` and `config.exchange.pair_whitelist` come first.\n"
    assert not found(known, f"# x\n\n{true}", "Freqtrade")


def test_a_contradiction_names_its_line(installed):
    (item,) = found(installed, "# x\n\none\n\n- two\n- `SUPERMA` three\n")
    assert (item.line, item.statement) == (6, "`SUPERMA`")


def test_front_matter_counts_as_lines(installed, tmp_path):
    path = tmp_path / "x.md"
    path.write_text("---\nid: X\ntitle: y\n---\n# x\n\n- The default of `RSI` is 21.\n", "utf-8")
    (item,) = check_page(read_page("learnings/x.md", path), installed)
    assert item.line == 7


def test_the_command_says_no(tmp_path, monkeypatch, capsys):
    shutil.copytree(SHIPPED, tmp_path / "brain")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["brain", "check", "stratwright"]) == 0
    assert capsys.readouterr().out == "nothing contradicts\n"
    page = tmp_path / "brain" / SOURCES["stratwright"].page
    page.write_text(page.read_text("utf-8").replace("crossed_above(a, b)", "crossed_above(a)"))
    assert main(["brain", "check", "stratwright", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["contradictions"]
    assert "crossed_above" in told["statement"]
    assert main(["brain", "check", "nothing"]) == 2
