"""Sealed candles are seen by nobody, and whoever opens them is counted."""

import json
from pathlib import Path

import pytest

from bot import cli
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from tests.bot.git.worlds import World, commit_file, make_world

ROOT = Path(__file__).parents[3]
CONTRACT = (ROOT / "contracts" / "oversold_dip.yaml").read_text(encoding="utf-8")
SEALED = CONTRACT.replace("sample_btc.csv}", "sample_btc.csv, holdout: 2024-04-01}")
CANDLES = (ROOT / "tests" / "fixtures" / "sample_btc.csv").read_text(encoding="utf-8")
BORDER = 1_711_929_600_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    assert SEALED != CONTRACT
    world = make_world(tmp_path)
    commit_file(world.work, "tests/fixtures/sample_btc.csv", CANDLES)
    commit_file(world.work, "contracts/dip.yaml", SEALED)
    commit_file(world.work, "stratwright.yml", 'version: "1.0"\n')
    return world


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert cli.main([str(one) for one in (*arguments, "--json")]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_digest_may_change_and_the_seal_holds(world: World) -> None:
    for text in (SEALED, SEALED.replace("min_trades: 10", "min_trades: 11")):
        (world.work / "contracts/dip.yaml").write_text(text)
        contract = load_contract(world.work / "contracts/dip.yaml").strategy
        for given in (None, world.work / "tests/fixtures/sample_btc.csv"):
            (seen,) = read_market_data(contract, world.work, given).candles.values()
            (rest,) = read_market_data(contract, world.work, given, opened=True).candles.values()
            assert seen.times[-1] < BORDER <= rest.times[0]
            assert len(seen) + len(rest) == 3000


def test_every_command_stops_before_it_and_every_opening_is_counted(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, out = world.work / "contracts/dip.yaml", ("--out", tmp_path / "out")
    before = told(capsys, "backtest", path, *out)["summary"]
    swept = told(capsys, "sweep", path, "--set", "oversold=30,35")
    searched = told(capsys, "optimize", path, "--trials", "4")
    assert before["end"] < "2024-04-01"  # type: ignore[index]
    assert swept["trials_in_all"] == 2
    assert searched["trials_in_all"] in (4, 5)  # the contract's own defaults were swept before
    for number in range(2):
        assert cli.main(["backtest", str(path), "--open-holdout", *map(str, out), "--json"]) == 0
        shown = capsys.readouterr()
        assert f"opened now, and {number} times before" in shown.err
        assert json.loads(shown.out)["summary"]["start"] >= "2024-04-01"
        # Another digest of the same workflow is the same seal.
        path.write_text(SEALED.replace("min_trades: 10", "min_trades: 11"))


def test_what_seals_nothing_cannot_be_opened(
    world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    commit_file(world.work, "contracts/dip.yaml", CONTRACT)
    path = str(world.work / "contracts/dip.yaml")
    assert cli.main(["backtest", path, "--open-holdout", "--out", str(tmp_path / "o")]) == 2
    assert "data.holdout" in capsys.readouterr().err
