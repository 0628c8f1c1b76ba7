"""Every template is a whole contract that trades on the candles it comes with."""

import os
import zlib
from pathlib import Path

import pytest

from bot.cli import main
from bot.contract.document.problems import ContractError
from bot.contract.language.program import compile_contract
from bot.contract.load import parse_contract
from bot.data.candle_files import CandleFile
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.examples.templates import NAMES, find_template, template_text
from bot.files import write_files
from bot.proof.judge import judge_rules

FIXTURES = Path(__file__).parents[2] / "fixtures"
HOME = Path(__file__).parents[3] / "bot/examples"
# Gates take seconds for each; `make examples` takes all.
PROVEN = NAMES if os.environ.get("STRATWRIGHT_EVERY_TEMPLATE") else ("timeframes",)


@pytest.mark.parametrize("name", NAMES)
def test_a_template_trades_and_reaches_its_goals_on_its_candles(name: str, tmp_path: Path) -> None:
    template = find_template(name)
    write_files(tmp_path, template.candles)
    text = template_text(template, "MyOwn", None, "")
    assert text.startswith("# yaml-language-server: $schema=schema/contract-1.0.json\n")
    contract = parse_contract(text.encode(), "yaml", Path("my_own.yaml")).strategy
    assert (contract.name, contract.workflow) == ("MyOwn", "my-own")
    judged = judge_rules(contract, compile_contract(contract), read_market_data(contract, tmp_path))
    asked = contract.acceptance
    assert asked.min_trades is not None
    assert asked.max_drawdown is not None
    assert judged.summary["total_trades"] >= asked.min_trades
    assert judged.summary["max_drawdown"] <= asked.max_drawdown


def test_the_seven_differ_in_what_they_show() -> None:
    texts = {name: find_template(name).text for name in NAMES}
    assert len(texts) == 7
    for name, shows in {
        "breakout": "stop_loss: {atr:",
        "long-short": "enter_short:",
        "timeframes": "timeframe: 4h",
        "symbols": "max_positions: 2",
        "roi-ladder": "roi: {0:",
    }.items():
        assert [other for other, text in texts.items() if shows in text] == [name]


@pytest.mark.parametrize("name", PROVEN)
def test_a_template_passes_all_gates(
    name: str, tmp_path: Path, heard: None, capsys: pytest.CaptureFixture[str]
) -> None:
    template = find_template(name)
    contract = tmp_path / "contracts/mine.yaml"
    (tmp_path / ".git").mkdir()
    write_files(tmp_path, {**template.candles, "contracts/mine.yaml": template.text})
    code = main(["gate", str(contract), "--sandbox", "namespace"])
    assert code == 0, capsys.readouterr().out


def test_the_candles_are_those_of_the_tests_and_small_in_the_wheel() -> None:
    names = {"BTC_USDT-1h": "sample_btc", "ETH_USDT-1h": "sample_eth", "SP500-1d": "sp500_daily"}
    shipped = sorted(HOME.glob("candles/*.csv"))
    assert len(shipped) == len(names)
    for path in shipped:
        fixture = FIXTURES / f"{names[path.stem.removeprefix('example_')]}.csv"
        assert path.read_bytes() == fixture.read_bytes()
    assert sum(len(zlib.compress(path.read_bytes())) for path in shipped) < 300_000


def test_a_contract_says_what_its_candles_are() -> None:
    for name in NAMES:
        text = template_text(find_template(name), "MyOwn", None, "")
        assert ("synthetic" in text) != ("Real daily values" in text)


def test_own_candles_take_the_place_of_the_template_s() -> None:
    own = CandleFile(Path("x/BTC_EUR-4h.feather"), "BTC/EUR", "4h", 900)
    text = template_text(find_template("dip"), "MyDip", own, "x/BTC_EUR-4h.feather")
    contract = parse_contract(text.encode(), "yaml", Path("my_dip.yaml")).strategy
    assert contract.market.symbols == ("BTC/EUR",)
    assert contract.market.timeframe == "4h"
    assert (contract.data.source, contract.data.path) == ("feather", "x/BTC_EUR-4h.feather")
    assert "synthetic" not in text


def test_shorts_on_own_candles_stay_on_a_futures_market() -> None:
    own = CandleFile(Path("BTC_USDT_USDT-1h.parquet"), "BTC/USDT:USDT", "1h", 900)
    text = template_text(find_template("long-short"), "MyOwn", own, "BTC_USDT_USDT-1h.parquet")
    contract = parse_contract(text.encode(), "yaml", Path("my_own.yaml")).strategy
    assert (contract.market.type, contract.data.source) == ("futures", "freqtrade")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="no template 'dipp'") as refused:
        find_template("dipp")
    assert "Did you mean dip?" in refused.value.hint
    with pytest.raises(ContractError):
        template_text(find_template("dip"), "not a name", None, "")
    own = CandleFile(Path("x.csv"), "BTC/USDT", "1d", 900)
    with pytest.raises(ContractError):
        template_text(find_template("timeframes"), "MyOwn", own, "x.csv")
