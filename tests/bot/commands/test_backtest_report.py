"""`backtest --report` writes the page of a back-test, which claims no proof."""

from pathlib import Path

import pytest

from bot.cli import main

HOUSE = Path(__file__).resolve().parents[3]
CONTRACT = str(HOUSE / "contracts/oversold_dip.yaml")


def test_the_page_is_written_the_same_twice_and_claims_nothing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main(["backtest", CONTRACT, "--out", str(tmp_path / name), "--report"]) == 0
    page = (tmp_path / "one/report.html").read_text("utf-8")
    assert page == (tmp_path / "two/report.html").read_text("utf-8")
    assert "A backtest: no gate has judged it, so nothing is proven" in page
    for heading in ("Costs", "Deepest falls", "By exit rule", "What is in doubt"):
        assert f"<h3>{heading}</h3>" in page
    for heading in ("Reproduce", "What changed in behaviour"):
        assert f"<h2>{heading}</h2>" not in page
    assert "Correlation id" not in page
    assert len(page) < 150_000


def test_without_the_option_there_is_no_page(tmp_path: Path) -> None:
    assert main(["backtest", CONTRACT, "--out", str(tmp_path)]) == 0
    assert not (tmp_path / "report.html").exists()


def test_a_file_alone_has_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", str(tmp_path / "x.py"), "--report"]) == 2
    assert "--report needs a contract" in capsys.readouterr().err
