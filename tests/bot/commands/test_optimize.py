"""`stratwright optimize` searches what the contract asks for and says how it was found."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bot import cli

ROOT = Path(__file__).parents[3]
CANDLES = ROOT / "tests" / "fixtures" / "sample_btc.csv"
PLAIN = (ROOT / "contracts" / "oversold_dip.yaml").read_text(encoding="utf-8")


def contract(tmp_path: Path, more: str = "", plain: str = PLAIN) -> str:
    path = tmp_path / "contract.yaml"
    path.write_text(plain + more, encoding="utf-8")
    return str(path)


def options(*more: str) -> list[str]:
    return ["--data", str(CANDLES), *more]


def test_twenty_repeats_give_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = contract(tmp_path, "optimize: {metric: sortino, trials: 12}\n")
    for sampler in ("tpe", "random"):
        told = []
        for _ in range(20):
            assert cli.main(["optimize", path, *options("--json", "--sampler", sampler)]) == 0
            told.append(capsys.readouterr().out)
        assert len(set(told)) == 1, sampler
        found = json.loads(told[0])
        assert found["metric"] == "sortino"
        assert (found["found_by"]["sampler"], found["found_by"]["seed"]) == (sampler, 7)
        assert found["found_by"]["trials"] == 12
        assert found["found_by"]["best"] == found["sets"][0]["parameters"]


def test_another_process_gives_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = contract(tmp_path)
    arguments = ["optimize", path, *options("--json", "--trials", "15")]
    assert cli.main(arguments) == 0
    here = capsys.readouterr().out
    there = subprocess.run(
        [sys.executable, "-m", "bot.cli", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONHASHSEED": "5", "PATH": "/usr/bin:/bin"},
    )
    assert there.stdout == here


def test_the_answer_says_how_it_was_found_and_what_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sets.csv"
    arguments = options("--sampler", "grid", "--trials", "30", "--worlds", "2", "--out", str(out))
    assert cli.main(["optimize", contract(tmp_path), *arguments]) == 0
    shown = capsys.readouterr().out
    assert "Found by grid, seed 7" in shown
    assert "# was 14" in shown or "None is better" in shown
    assert "of 2 histories without an edge" in " ".join(shown.split())
    lines = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert 20 <= len(lines) <= 30


def test_a_search_in_which_no_set_is_acceptable_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = contract(tmp_path, plain=PLAIN.replace("min_trades: 10", "min_trades: 100000"))
    assert cli.main(["optimize", path, *options("--sampler", "random", "--trials", "9")]) == 1
    assert "No set meets min_trades, max_drawdown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "plain", "arguments", "message"),
    [
        ("optimize: {metric: sharp}\n", PLAIN, [], "sharpe"),
        ("optimize: {trials: 0}\n", PLAIN, [], "optimize.trials"),
        ("optimize: {study: ../../x}\n", PLAIN, [], "study"),
        ("optimize: {trials: 1000000}\n", PLAIN, [], "1,000,000 trials are too many"),
        ("optimize: {walk_forward: {folds: 90}}\n", PLAIN, [], "too few for 90 folds"),
        ("optimize: {walk_forward: {train: 1.0}}\n", PLAIN, [], "optimize.walk_forward.train"),
        (
            "optimize: {walk_forward: {folds: 11, split: combinatorial}}\n",
            PLAIN,
            [],
            "3 to 10",
        ),
        ("optimize: {sampler: oracle}\n", PLAIN, [], "optimize.sampler"),
        ("", PLAIN.replace("[15, 40]", "[.nan, 40]"), [], "parameters.oversold.range"),
        ("", PLAIN.replace("[15, 40]", "[40, 15]"), [], "parameters.oversold.range"),
        ("", PLAIN.replace("[7, 28]", "[1, 28]"), [], "timeperiod=1"),
        ("", PLAIN, ["--trials", "0"], "are counts"),
        ("", PLAIN, ["--worlds", "-1"], "are counts"),
        ("", PLAIN, ["--sampler", "oracle"], "oracle"),
    ],
)
def test_what_cannot_be_searched_gets_a_clear_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: str,
    plain: str,
    arguments: list[str],
    message: str,
) -> None:
    assert cli.main(["optimize", contract(tmp_path, more, plain), *options(*arguments)]) == 2
    assert message in capsys.readouterr().err


def test_other_commands_take_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for more in ("", "optimize: {trials: 5}\n"):
        arguments = options("--json", "--out", str(tmp_path / "out"))
        assert cli.main(["backtest", contract(tmp_path, more), *arguments]) == 0
        told.append(json.loads(capsys.readouterr().out)["summary"])
    assert told[0] == told[1]


@pytest.mark.parametrize("split", ["rolling", "anchored", "combinatorial"])
def test_walk_forward_tells_what_the_search_gave_where_it_had_not_looked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], split: str
) -> None:
    asked = f"optimize: {{trials: 8, walk_forward: {{folds: 3, split: {split}}}}}\n"
    path = contract(tmp_path, asked)
    assert cli.main(["optimize", path, *options("--json")]) == 0
    walked = json.loads(capsys.readouterr().out)["walk_forward"]
    assert len(walked["folds"]) == 3
    assert walked["gap"] >= 200
    assert {*walked["drift"]} == {"oversold", "rsi_period"}
    for fold in walked["folds"]:
        for _, searched_last in fold["searched"]:
            for judged_first, judged_last in fold["judged"]:
                apart = judged_first - searched_last
                assert apart > walked["gap"] * 3_600_000 or searched_last > judged_last
    assert cli.main(["optimize", path, *options()]) == 0
    assert "Where it was not searched: return" in capsys.readouterr().out


def test_without_optuna_the_other_samplers_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    asked = options("--trials", "3", "--sampler", "tpe")
    assert cli.main(["optimize", contract(tmp_path), *asked]) == 4
    told = capsys.readouterr().err
    assert "pip install '.[optuna]' in a checkout" in " ".join(told.split())
    assert "--sampler random" in " ".join(told.split())
