"""Candles of another timeframe: a proof refuses them, a quick look warns."""

from pathlib import Path

import pytest

from bot.cli import main

HOUSE = Path(__file__).parents[3]
DATA = str(HOUSE / "tests/fixtures/sample_btc.csv")


@pytest.fixture
def contract(tmp_path: Path) -> str:
    text = (HOUSE / "contracts/oversold_dip.yaml").read_text()
    path = tmp_path / "dip.yaml"
    path.write_text(text.replace("timeframe: 1h", "timeframe: 4h"))
    return str(path)


def test_backtest_warns_and_goes_on(
    contract: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backtest", contract, "--data", DATA, "--out", str(tmp_path / "out")]) == 0
    assert "candles are 1h apart, the timeframe is 4h" in capsys.readouterr().err


def test_the_gates_refuse(contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", contract, "--data", DATA]) == 2
    assert "candles are 1h apart, the timeframe is 4h" in capsys.readouterr().err
