"""A first strategy of one's own, from an empty folder on."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import main
from bot.contract.load import load_contract

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests/fixtures"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of somebody whom Git knows."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Trader")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "trader@example.com")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_an_empty_folder_becomes_a_repository_with_a_contract_to_run(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "dip", "--name", "MyDip"]) == 0
    said = capsys.readouterr().out
    assert "a new Git repository" in said
    assert "stratwright run contracts/my_dip.yaml" in said
    assert git(empty, "status", "--short") == ""
    assert git(empty, "ls-files").split() == [
        "contracts/my_dip.yaml",
        "contracts/schema/contract-1.0.json",
        "data/example_BTC_USDT-1h.csv",
    ]
    contract = load_contract(empty / "contracts/my_dip.yaml").strategy
    assert (contract.name, contract.workflow) == ("MyDip", "my-dip")


def test_in_a_repository_with_commits_nothing_is_committed_for_its_owner(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(empty, "init", "-q")
    git(empty, "commit", "-q", "--allow-empty", "-m", "first")
    (empty / "deep").mkdir()
    assert main(["new", "roi-ladder", "--repository", "deep"]) == 0
    said = capsys.readouterr().out
    assert "git add contracts/roi_ladder.yaml" in said
    assert git(empty, "ls-files") == ""
    assert (empty / "contracts/roi_ladder.yaml").is_file()
    assert main(["new", "roi-ladder"]) == 2
    assert "contracts/roi_ladder.yaml is there already" in capsys.readouterr().err


def test_candles_that_are_there_are_taken_and_none_are_brought(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "data").mkdir()
    (empty / "data/ETH_EUR-1h.csv").write_bytes((FIXTURES / "sample_eth.csv").read_bytes())
    assert main(["new", "dip"]) == 0
    assert "on     data/ETH_EUR-1h.csv: 3,000 candles of 1h" in capsys.readouterr().out
    contract = load_contract(empty / "contracts/oversold_dip.yaml").strategy
    assert contract.market.symbols == ("ETH/EUR",)
    assert [path.name for path in (empty / "data").iterdir()] == ["ETH_EUR-1h.csv"]


def test_named_candles_need_a_symbol_and_lie_in_the_repository(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "mine.csv").write_bytes((FIXTURES / "sample_eth.csv").read_bytes())
    assert main(["new", "dip", "--data", str(FIXTURES / "sample_eth.csv")]) == 2
    assert "is not in" in capsys.readouterr().err
    assert main(["new", "dip", "--data", "mine.csv"]) == 2
    assert "Add --symbol BTC/USDT" in capsys.readouterr().err
    assert main(["new", "dip", "--data", "mine.csv", "--symbol", "ETH/USDT"]) == 0
    contract = load_contract(empty / "contracts/oversold_dip.yaml").strategy
    assert contract.data.path == "mine.csv"


def test_without_a_name_for_git_the_files_are_there_and_the_way_on_is_told(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{name}_NAME")
        monkeypatch.delenv(f"GIT_{name}_EMAIL")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    assert main(["new", "dip"]) == 0
    said = capsys.readouterr().out
    assert "git config user.name" in said
    assert "git commit -m" in said
    assert (empty / "contracts/oversold_dip.yaml").is_file()


def test_without_a_terminal_the_template_has_to_be_named(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new"]) == 2
    assert "stratwright new dip|trend|breakout" in capsys.readouterr().err
    assert list(empty.iterdir()) == []


def test_on_a_terminal_it_asks(empty: Path) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"9\n5\nmy <b>\nFour\n")
    done = subprocess.run(
        [sys.executable, "-m", "bot.cli", "new"],
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "5  timeframes  Buy hourly pullbacks" in done.stdout
    assert "Which one [1]: there is no template '9'" in done.stdout
    assert "'my <b>' is no name for a strategy: not PascalCase" in done.stdout
    assert "Did you mean MyB?" in done.stdout
    assert "Name of the strategy [TwoTimeframes]:" in done.stdout
    assert load_contract(empty / "contracts/four.yaml").strategy.name == "Four"


@pytest.mark.parametrize("name", ["my dip", "Json", "Strategy", "Üb", "D" * 65])
def test_a_name_that_a_contract_refuses_is_told_as_a_name(
    empty: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["new", "dip", "--name", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{name!r} is no name for a strategy: ")
    assert ".yaml" not in said
    assert list(empty.iterdir()) == []
