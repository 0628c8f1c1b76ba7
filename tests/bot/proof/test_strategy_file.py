"""A strategy file is backtested in the sandbox, to the same files as its contract."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.errors import InputError
from bot.proof.strategy_file import read_default_cfg

ROOT = Path(__file__).parents[3]
CONTRACT = ROOT / "contracts" / "channel_breakout.yaml"
CANDLES = ROOT / "tests" / "fixtures" / "sample_eth.csv"
FILES = ("trades.csv", "equity_curve.csv")


@pytest.fixture(name="strategy")
def strategy_fixture(tmp_path: Path) -> Path:
    candidate = TemplateCoder().write(load_contract(CONTRACT).strategy, "contracts/x.yaml")
    path = tmp_path / "channel_breakout.py"
    path.write_text(candidate.files["Backtest/codes/channel_breakout.py"], "utf-8")
    return path


def backtest(subject: Path, out: Path, *options: str) -> int:
    return main(["backtest", str(subject), "--data", str(CANDLES), "--out", str(out), *options])


def test_the_file_and_its_contract_give_the_same_results(strategy: Path, tmp_path: Path) -> None:
    assert backtest(strategy, tmp_path / "file") == 0
    assert backtest(CONTRACT, tmp_path / "contract") == 0
    for name in FILES:
        of_file, of_contract = (tmp_path / kind / name for kind in ("file", "contract"))
        assert of_file.read_bytes() == of_contract.read_bytes()
    asked, stated = (summary(tmp_path / kind) for kind in ("file", "contract"))
    # Only a contract has rules whose bars can be counted.
    assert stated.pop("signals")["entries"] > 0
    assert asked == stated


def summary(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "summary.json").read_text("utf-8")))


def test_a_file_that_fails_is_refused_with_its_line(
    strategy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = strategy.read_text("utf-8").replace(
        "        enter_long = close > ceiling", '        raise RuntimeError("no")'
    )
    strategy.write_text(code, "utf-8")
    line = code[: code.index("raise RuntimeError")].count("\n") + 1
    assert backtest(strategy, tmp_path / "out") == 1
    assert f"channel_breakout.py:{line}: the strategy failed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_file_cannot_reach_the_machine(strategy: Path, tmp_path: Path) -> None:
    target = tmp_path / "written"
    code = strategy.read_text("utf-8") + f"\nopen({str(target)!r}, 'w').write('x')\n"
    strategy.write_text(code, "utf-8")
    assert backtest(strategy, tmp_path / "out") == 1
    assert not target.exists()


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"DEFAULT_CFG = {}",
        b"DEFAULT_CFG: dict = f()",
        b"DEFAULT_CFG: dict = [1]",
        b"\x00",
        b"(",
    ],
)
def test_a_file_of_another_shape_is_bad_input(source: bytes) -> None:
    with pytest.raises(InputError, match="no DEFAULT_CFG"):
        read_default_cfg(source, Path("x.py"))
