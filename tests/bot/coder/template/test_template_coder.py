"""The template coder writes code a careful person would sign: right, clean, and always the same."""

import ast
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bot.coder.template.template_coder import TemplateCoder, strategy_text
from bot.contract.language import catalog
from bot.contract.language.interpreter import Interpreter
from bot.contract.language.program import compile_contract
from bot.contract.load import parse_contract
from bot.contract.model import Contract
from bot.files import cache_folder
from sandbox_runner.mypy_cache import warm_cache
from tests.bot.contract.language import worlds

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted((ROOT / "contracts").glob("*.yaml"))
BASE: dict[str, Any] = {
    "version": "1.0",
    "workflow": "made",
    "task": "strategy",
    "kind": "strategy",
    "name": "MadeUp",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h", "type": "futures"},
    "data": {"source": "csv", "path": "data.csv"},
    "rules": {"enter_long": "close > open"},
    "risk": {"stop_loss": 0.02},
}


def contract(**changes: Any) -> Contract:
    data = json.dumps({**BASE, **changes}).encode()
    return parse_contract(data, "json", Path("made.json")).strategy


def written(**changes: Any) -> dict[str, str]:
    return dict(TemplateCoder().write(contract(**changes), "contracts/made.json").files)


def strategy_of(files: dict[str, str]) -> Any:
    """The generated Strategy class; our own template's output from our own test contract."""
    (code,) = [text for path, text in files.items() if path.startswith("Backtest/codes/")]
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(code, "generated.py", "exec"), namespace)  # noqa: S102
    return namespace["Strategy"]


def run_tool(*command: str, cwd: Path) -> str:
    types = f"{ROOT}:{ROOT / 'sandbox_runner' / 'stubs'}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": types}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def write_all(folder: Path, *candidates: dict[str, str]) -> list[str]:
    paths = []
    for files in candidates:
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            paths.append(path)
    return paths


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_same_contract_gives_the_same_bytes(path: Path) -> None:
    loaded = parse_contract(path.read_bytes(), "yaml", path).strategy
    first = TemplateCoder().write(loaded, "contracts/x.yaml")
    assert first == TemplateCoder().write(loaded, "contracts/x.yaml")
    wanted = {f"Backtest/codes/{loaded.file_stem}.py", f"tests/test_{loaded.file_stem}.py"}
    if "freqtrade" in loaded.targets:
        wanted.add(f"Backtest/freqtrade/{loaded.name}.py")
    assert set(first.files) == wanted


def test_another_process_with_another_hash_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    outputs = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        command = [sys.executable, "-m", "bot.cli", "generate", *map(str, EXAMPLES), "--out", out]
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        outputs.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*.py")})
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == 2 * len(EXAMPLES) + 2


@pytest.mark.parametrize("seed", range(60))
def test_generated_code_equals_the_interpreter_bar_for_bar(seed: int) -> None:
    rng = random.Random(seed)
    changes: dict[str, Any] = {
        "parameters": worlds.PARAMETERS,
        "indicators": {
            **worlds.INDICATORS,
            "made": {"expression": worlds.random_number(rng, 4)},
            "cond": {"expression": worlds.random_condition(rng, 3)},
        },
        "rules": {
            "enter_long": worlds.random_condition(rng, 4),
            "exit_long": worlds.random_condition(rng, 3),
            "enter_short": "made > made[1] and cond",
        },
        "risk": {"stop_loss": {"atr": 2.0, "timeperiod": "period"}},
    }
    subject = contract(**changes)
    candles = worlds.random_candles(rng, 70)
    interpreter = Interpreter(compile_contract(subject))
    readings = [interpreter.step(candle) for candle in candles]
    code = strategy_text(subject, compile_contract(subject), "x.json")
    with np.errstate(all="ignore"):
        prepared = strategy_of({"Backtest/codes/x.py": code})({}).prepare_indicators(
            worlds.frame_of(candles)
        )
    for key in readings[0].indicators:
        expected = np.array([reading.indicators[key] for reading in readings])
        assert np.array_equal(prepared[key].to_numpy(), expected, equal_nan=True), key
    for rule in changes["rules"]:
        assert prepared[rule].tolist() == [reading.rules[rule] for reading in readings], rule


def odd_contracts() -> list[dict[str, str]]:
    """Contracts at the edges of what the language allows."""
    long_name = "a" + "b" * 47
    return [
        written(
            name="LongNames",
            description="x" * 600 + ' """ \\ \' {{ evil }} \u00fc\u20ac' * 20,
            parameters={long_name: {"default": 0.02}, "capital": {"default": 3}},
            indicators={
                "a" + "c" * 47: {"function": "BBANDS", "timeperiod": 5},
                "l": {"expression": f"{long_name} * close"},
                "np": {"expression": "capital + 1"},
                "df": {"expression": "mean(np, 3) + 5[1] + highest(2, 2)"},
                "open_": {"expression": f"{'a' + 'c' * 47}.upperband - open"},
            },
            rules={
                "enter_long": " or ".join(
                    f"({'a' + 'c' * 47}.lowerband[{n}] > l and not np != df)" for n in range(12)
                ),
                "enter_short": "capital > 2 and crossed_above(open_, 0)",
                "exit_short": "2 > 1",
            },
            risk={
                "stop_loss": {"atr": long_name, "timeperiod": 14},
                "take_profit": {"atr": 3.0, "timeperiod": "capital"},
                "trailing_stop": {
                    "distance": long_name,
                    "activate_at": 0.05,
                    "only_after_activation": True,
                },
                "roi": {"0": 0.04, "60": long_name},
                "size": {"risk": long_name},
            },
        ),
        written(
            name="ShortOnly",
            market={"symbols": ["ES", "NQ"], "timeframe": "1d", "type": "futures", "lot": 0.5},
            data={"source": "csv", "path": "{symbol}.csv"},
            rules={"enter_short": "never"},
            risk={"stop_loss": 0.5, "size": {"units": 2}},
            targets=["adapter"],
            execution="this_close",
        ),
    ]


def every_function() -> list[dict[str, str]]:
    """Contracts that between them use every TA-Lib function."""
    names = catalog.function_names()
    candidates = []
    for start in range(0, len(names), 70):
        indicators: dict[str, Any] = {}
        for name in names[start : start + 70]:
            body: dict[str, Any] = {"function": name}
            if name == "MAVP":
                body["input"] = ["close", "volume"]
            for argument in catalog.describe(name).arguments:
                if argument.kind == "matype":
                    body[argument.name] = "EMA"
                elif argument.kind == "real":
                    body[argument.name] = argument.default
            indicators[f"i_{name.lower()}"] = body
        candidates.append(written(name=f"Part{start}", indicators=indicators))
    return candidates


def test_generated_code_is_clean_for_every_linter(tmp_path: Path) -> None:
    examples = [
        dict(
            TemplateCoder()
            .write(parse_contract(path.read_bytes(), "yaml", path).strategy, "contracts/x.yaml")
            .files
        )
        for path in EXAMPLES
    ]
    paths = write_all(tmp_path, *examples, *odd_contracts(), *every_function())
    for path in paths:
        text = (tmp_path / path).read_text("utf-8")
        assert "noqa" not in text
        assert "type: ignore" not in text
        ast.parse(text)
    assert run_tool("flake8", "--isolated", "--max-line-length=100", ".", cwd=tmp_path) == ""
    strategies = [path for path in paths if path.startswith("Backtest")]
    assert run_tool("bandit", "-q", *strategies, cwd=tmp_path) == ""
    shutil.copytree(warm_cache(cache_folder()), tmp_path / ".mypy_cache")
    assert run_tool("mypy", "--strict", "--config-file=", *paths, cwd=tmp_path) == ""


def test_generated_tests_pass_and_run_anywhere(tmp_path: Path) -> None:
    write_all(tmp_path, *odd_contracts(), *every_function()[:1])
    options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    assert run_tool("pytest", *options, str(tmp_path / "tests"), cwd=ROOT) == ""


def test_find_methods_need_no_order_and_keep_no_state() -> None:
    subject = strategy_of(
        written(
            rules={
                "enter_long": "close > open",
                "exit_long": "close < open",
                "enter_short": "close >= open",
            }
        )
    )({})
    frame = worlds.frame_of(worlds.random_candles(random.Random(3), 40))
    indicators = subject.prepare_indicators(frame)
    forward = [subject.find_entries(frame, indicators, idx) for idx in range(40)]
    backward = [subject.find_entries(frame, indicators, idx) for idx in reversed(range(40))]
    assert forward == backward[::-1]
    rose = (frame["close"] > frame["open"]).tolist()
    assert [order is None for order in forward] == [
        up or fell for up, fell in zip(rose, (frame["close"] < frame["open"]), strict=True)
    ], "long and short on one bar cancel out"


def test_a_partial_cfg_merges_and_an_unknown_key_is_refused() -> None:
    strategy = strategy_of(
        written(parameters={"n": {"default": 3}}, rules={"enter_long": "close > mean(close, n)"})
    )
    assert strategy({"n": 5}).cfg["n"] == 5
    assert strategy({"n": 5}).cfg["commission"] == 0.001
    with pytest.raises(ValueError, match="nn"):
        strategy({"nn": 5})


def test_a_missing_atr_means_no_entry() -> None:
    strategy = strategy_of(
        written(rules={"enter_long": "always"}, risk={"stop_loss": {"atr": 2.0}})
    )
    frame = worlds.frame_of(worlds.random_candles(random.Random(1), 30))
    subject = strategy({})
    indicators = subject.prepare_indicators(frame)
    wanted = [subject.find_entries(frame, indicators, idx) is not None for idx in range(30)]
    assert wanted == [False] * 14 + [True] * 16


def test_strings_of_the_contract_reach_code_only_as_literals() -> None:
    evil = '"""\nimport os\nos.system(\'x\') # {{ 7*7 }} {% raw %} \u202e\\'
    code = written(description=evil.replace("\u202e", ""))["Backtest/codes/made_up.py"]
    tree = ast.parse(code)
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert modules == {"pandas"}
    (description,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DESCRIPTION"
    ]
    assert ast.literal_eval(description) == evil.replace("\u202e", "")


def test_the_strategy_file_runs_alone(tmp_path: Path) -> None:
    path = ROOT / "contracts" / "oversold_dip.yaml"
    loaded = parse_contract(path.read_bytes(), "yaml", path).strategy
    write_all(tmp_path, dict(TemplateCoder().write(loaded, "contracts/oversold_dip.yaml").files))
    command = [
        sys.executable, "Backtest/codes/oversold_dip.py", "--mode", "backtest",
        "--data", str(ROOT / "tests/fixtures/sample_btc.csv"), "--out", "results",
    ]  # fmt: skip
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        "equity_curve.csv", "summary.json", "trades.csv",
    ]  # fmt: skip
    trades = pd.read_csv(tmp_path / "results" / "trades.csv")
    summary = json.loads((tmp_path / "results" / "summary.json").read_text("utf-8"))
    assert len(trades) == summary["total_trades"] + summary["forced_exits"] > 0
    out = tmp_path / "contract"
    subprocess.run(
        [sys.executable, "-m", "bot.cli", "backtest", str(path), "--out", str(out)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    for name in ("trades.csv", "equity_curve.csv"):
        assert (out / name).read_bytes() == (tmp_path / "results" / name).read_bytes()
    of_contract = json.loads((out / "summary.json").read_text("utf-8"))
    # Only a contract has rules whose bars can be counted; the tear sheet is the command's.
    assert of_contract.pop("signals")["entries"] > 0
    assert of_contract.pop("tear_sheet")["by_month"]
    assert of_contract == summary
