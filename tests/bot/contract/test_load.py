"""Loading a contract: all problems at once, in plain words, with their places."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.contract.document.problems import ContractError, Problem
from bot.contract.document.source import Form
from bot.contract.load import load_contract, missing_candles, parse_contract
from bot.contract.model import Contract, ModuleContract
from bot.contract.risk import Trailing
from bot.errors import InputError
from tests.chance import examples

GOOD: dict[str, Any] = {
    "version": "1.0",
    "workflow": "oversold-dip",
    "task": "strategy",
    "kind": "strategy",
    "name": "OversoldDip",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h"},
    "data": {"source": "csv", "path": "data/btc.csv"},
    "parameters": {"oversold": {"default": 30, "range": [15, 40]}},
    "indicators": {"rsi": {"function": "RSI", "timeperiod": 14}},
    "rules": {"enter_long": "rsi < oversold"},
    "risk": {"stop_loss": 0.02},
}
MODULE: dict[str, Any] = {
    "version": "1.0",
    "workflow": "oversold-dip",
    "task": "store",
    "kind": "module",
    "name": "CandleStore",
    "files": [{"path": "Backtest/codes/candle_store.py", "signatures": ["def load(path: str)"]}],
}


def changed(changes: dict[str, Any], base: dict[str, Any] = GOOD) -> dict[str, Any]:
    """Set values by dotted key; None removes the key."""
    document = copy.deepcopy(base)
    for dotted, value in changes.items():
        *parents, last = dotted.split(".")
        part = document
        for key in parents:
            part = part.setdefault(key, {})
        if value is None:
            part.pop(last, None)
        else:
            part[last] = value
    return document


def parse(document: object, form: Form = "json") -> Contract | ModuleContract:
    text = json.dumps(document) if form == "json" else yaml.safe_dump(document)
    return parse_contract(text.encode(), form, Path(f"x.{form}")).contract


def problems(document: object) -> list[Problem]:
    try:
        parse(document)
    except ContractError as error:
        return list(error.problems)
    return []


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(ContractError) as caught:
        parse_contract(text.encode(), "yaml", Path("contracts/x.yaml"))
    return list(caught.value.problems)


TEN_MISTAKES = """\
version: 1.0
workflow: Oversold Dip
task: strategy
kind: strategy
name: oversold_dip
market: {symbols: [BTC/USDT], timeframe: 60m}
data: {source: csv, path: ../btc.csv}
indicators:
  rsi: {function: RSI, timeperid: 14}
rules:
  enter_long: rsi < oversold
risk:
  stop_loss: 2
  take_proft: 0.04
costs: {commission: "0.1%"}
"""


def test_ten_different_mistakes_are_all_reported_with_place_and_advice() -> None:
    found = problems_of(TEN_MISTAKES)
    by_field = {problem.field: problem for problem in found}
    assert {(p.line, p.field) for p in found} >= {
        (1, "version"),
        (2, "workflow"),
        (5, "name"),
        (6, "market.timeframe"),
        (7, "data.path"),
        (9, "indicators.rsi.timeperid"),
        (11, "rules.enter_long"),
        (13, "risk.stop_loss"),
        (14, "risk.take_proft"),
        (15, "costs.commission"),
    }
    assert len(found) == 10
    assert by_field["version"].message == (
        'the version is text; write version: "1.0" with the quotes'
    )
    assert by_field["workflow"].nearest == "oversold-dip"
    assert by_field["name"].nearest == "OversoldDip"
    assert by_field["market.timeframe"].nearest == "1h"
    assert by_field["indicators.rsi.timeperid"].nearest == "timeperiod"
    assert by_field["risk.stop_loss"].nearest == "0.02"
    assert by_field["risk.take_proft"].nearest == "take_profit"
    assert by_field["costs.commission"].nearest == "0.001"
    assert [p.line for p in found] == sorted(p.line for p in found)


def test_a_mistake_in_a_rule_is_placed_at_its_word() -> None:
    text = TEN_MISTAKES.replace("rsi < oversold", "close < oversold")
    rule = next(p for p in problems_of(text) if p.field == "rules.enter_long")
    assert (rule.line, rule.column) == (11, 23)


def test_a_problem_reads_as_one_line() -> None:
    lines = [str(problem) for problem in problems_of(TEN_MISTAKES)]
    assert (
        "contracts/x.yaml:13:14 risk.stop_loss: out of bounds; found 2; allowed: a number above 0 "
        "and below 1 (a fraction: 0.02 is 2 %) or a parameter's name; did you mean 0.02?"
    ) in lines


def test_a_flaw_of_the_file_and_mistakes_of_the_contract_come_together() -> None:
    text = TEN_MISTAKES.replace("task: strategy", "task: &t strategy\ntask: again")
    messages = [problem.message for problem in problems_of(text)]
    assert "anchors (&t) are not allowed" in messages
    assert 'duplicate key "task"; it was given on line 3' in messages
    assert len(messages) == 12


def test_defaults_are_those_of_the_design() -> None:
    contract = parse(GOOD)
    assert isinstance(contract, Contract)
    assert contract.targets == ("adapter",)
    assert (contract.capital, contract.seed, contract.execution) == (10000, 7, "next_open")
    assert (contract.costs.commission, contract.costs.slippage) == (0.001, 0.0005)
    assert contract.risk.size.equity == 0.1
    assert contract.risk.max_positions == 1
    assert contract.market.type == "spot"
    assert contract.coder == "auto"
    assert contract.file_stem == "oversold_dip"
    assert contract.branch == "ai/generated/oversold-dip/strategy"


def test_short_forms_become_long_ones() -> None:
    contract = parse(changed({"risk.trailing_stop": 0.03, "risk.roi": {"60": 0.02, "0": 0.04}}))
    assert isinstance(contract, Contract)
    assert contract.risk.trailing_stop == Trailing(distance=0.03)
    assert contract.risk.roi == {0: 0.04, 60: 0.02}
    assert list(contract.risk.roi) == [0, 60]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_roi_minutes_may_be_numbers_or_text(form: Form) -> None:
    contract = parse(changed({"risk.roi": {0: 0.04, 60: 0.02}}), form)
    assert isinstance(contract, Contract)
    assert contract.risk.roi == {0: 0.04, 60: 0.02}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"version": 1}, "version", "with the quotes"),
        ({"version": "2.0"}, "version", "unknown version"),
        ({"workflow": "../../etc"}, "workflow", "not the right form"),
        ({"workflow": "a-"}, "workflow", "not the right form"),
        ({"workflow": "a\n"}, "workflow", "not the right form"),
        ({"workflow": "\u043eversold"}, "workflow", "CYRILLIC SMALL LETTER O"),
        ({"workflow": "x" * 64}, "workflow", "not the right form"),
        ({"task": "\uff41"}, "task", "FULLWIDTH LATIN SMALL LETTER A"),
        ({"kind": "strateg"}, "kind", 'did you mean "strategy"'),
        ({"name": "Os"}, "name", "hide the Python module os"),
        ({"name": "Pandas"}, "name", "hide the Python module pandas"),
        ({"name": "Talib"}, "name", "hide the Python module talib"),
        ({"name": "Adapters"}, "name", "hide the Python module adapters"),
        ({"name": "None"}, "name", "word of Python"),
        ({"name": "Class"}, "name", "hide the Python module class"),
        ({"name": "IStrategy"}, "name", "class that strategies use"),
        ({"name": "over dip"}, "name", 'did you mean "OverDip"'),
        ({"market.symbols": "BTC/USDT"}, "market.symbols", "did you mean [BTC/USDT]"),
        ({"market.symbols": []}, "market.symbols", "empty"),
        ({"market.symbols": ["btc/usdt"]}, "market.symbols[0]", 'did you mean "BTC/USDT"'),
        ({"market.symbols": ["../BTC"]}, "market.symbols[0]", "not a symbol"),
        ({"market.symbols": ["A/B", "A_B"]}, "market.symbols", "one symbol"),
        ({"market.symbols": ["A/B", "C/D"]}, "data.path", "{symbol}"),
        ({"market.timeframe": "2m"}, "market.timeframe", "unknown timeframe"),
        ({"market.timeframe": 60}, "market.timeframe", "did you mean 1h"),
        ({"market.timeframe": "90m"}, "market.timeframe", "did you mean 2h"),
        ({"market.timeframe": "45m"}, "market.timeframe", "did you mean 1h"),
        ({"market.timeframe": "24H"}, "market.timeframe", "did you mean 1d"),
        ({"market.timeframe": "30d"}, "market.timeframe", "did you mean 1M"),
        ({"market.timeframe": "2y"}, "market.timeframe", "did you mean 1M"),
        ({"market.type": "future"}, "market.type", 'did you mean "futures"'),
        ({"market.lot": 0}, "market.lot", "above 0"),
        ({"data.path": "/etc/passwd"}, "data.path", "absolute"),
        ({"data.path": "a/../../b.csv"}, "data.path", "leaves its folder"),
        ({"data.path": "a\\b.csv"}, "data.path", "backslash"),
        ({"data.path": "C:/b.csv"}, "data.path", "absolute"),
        ({"data.path": "~/b.csv"}, "data.path", "absolute"),
        ({"data.path": "a//b.csv"}, "data.path", "empty part"),
        ({"data.path": "a\nb.csv"}, "data.path", "control characters"),
        ({"data.path": ".git/config"}, "data.path", "Git's own folder"),
        ({"data.path": "{home}.csv"}, "data.path", "only placeholder"),
        ({"data.path": "a.feather"}, "data.path", "no csv file"),
        ({"data.path": None}, "data", "needs a path"),
        ({"data": {"source": "ccxt"}}, "data", "needs an exchange"),
        ({"data.exchange": "binance"}, "data.exchange", "no use"),
        ({"data.start": "2024-02-30"}, "data.start", "no such day"),
        ({"data.start": "2024-02-02", "data.end": "2024-02-01"}, "data.end", "not after start"),
        ({"parameters.oversold.default": 50}, "parameters.oversold.default", "15 to 40"),
        ({"parameters.oversold.range": [40, 15]}, "parameters.oversold.range", "[15, 40]"),
        ({"parameters.oversold.range": [1]}, "parameters.oversold.range", "two numbers"),
        ({"parameters.oversold.default": True}, "parameters.oversold.default", "found true"),
        ({"parameters.oversold": 30}, "parameters.oversold", "a mapping"),
        ({"indicators.x": {}}, "indicators.x", "a function of TA-Lib, or an expression"),
        ({"indicators.rsi.timeperiod": "14"}, "indicators.rsi.timeperiod", "did you mean 14"),
        ({"indicators.x": {"expression": "rsi", "of": 1}}, "indicators.x.of", "unknown key"),
        ({"rules.enter_long": None}, "rules", "no rule to enter"),
        ({"rules.enter_long": True}, "rules.enter_long", 'did you mean "always"'),
        ({"rules.enter_long": " "}, "rules.enter_long", "empty"),
        ({"rules.enter_long": {"prose": ""}}, "rules.enter_long.prose", "empty"),
        (
            {"rules.enter_long": {"prose": "x", "expression": "rs < 3"}},
            "rules.enter_long.expression",
            "unknown name `rs`",
        ),
        (
            {"rules.enter_long": {"prose": "x", "expression": "rsi + 3"}},
            "rules.enter_long.expression",
            "condition",
        ),
        ({"rules.enter_long": {"pose": "x"}}, "rules.enter_long.pose", 'mean "prose"'),
        ({"rules.enter_lng": "rsi < 3"}, "rules.enter_lng", 'did you mean "enter_long"'),
        ({"rules": None}, "rules", "required"),
        ({"risk.stop_loss": None}, "risk.stop_loss", "stop_loss: 0.02"),
        ({"risk.stop_loss": -0.02}, "risk.stop_loss", "did you mean 0.02"),
        ({"risk.stop_loss": 1}, "risk.stop_loss", "did you mean 0.01"),
        ({"risk.stop_loss": "0.02"}, "risk.stop_loss", "without quotes"),
        ({"risk.stop_loss": "2%"}, "risk.stop_loss", "did you mean 0.02"),
        ({"risk.stop_loss": False}, "risk.stop_loss", "found false"),
        ({"risk.stop_loss": {"atr": 0}}, "risk.stop_loss.atr", "above 0"),
        ({"risk.stop_loss": {"atr": 1, "timeperiod": 1.5}}, "risk.stop_loss.timeperiod", "whole"),
        ({"risk.trailing_stop": 3}, "risk.trailing_stop", "did you mean 0.03"),
        (
            {"risk.trailing_stop": {"distance": 0.1, "only_after_activation": True}},
            "risk.trailing_stop.only_after_activation",
            "needs activate_at",
        ),
        (
            {
                "risk.trailing_stop": {"distance": 0.1, "activate_at": 0.1},
                "targets": ["adapter", "freqtrade"],
            },
            "risk.trailing_stop.activate_at",
            "above distance",
        ),
        ({"risk.roi": {"x": 0.1}}, "risk.roi.x", "minutes"),
        ({"risk.roi": {"-1": 0.1}}, "risk.roi.-1", "minutes"),
        ({"risk.roi": {"00": 0.1}}, "risk.roi.00", "minutes"),
        ({"risk.roi": {}}, "risk.roi", "empty"),
        ({"risk.size": {"risk": 0.5}}, "risk.size.risk", "at most 0.1"),
        ({"risk.size": {"equity": 10}}, "risk.size.equity", "did you mean 0.1"),
        ({"risk.size": {"equity": 0.1, "units": 1}}, "risk.size", "exactly one"),
        ({"risk.size": {}}, "risk.size", "exactly one"),
        ({"risk.size": {"equity": 0.1, "cap": 0.5}}, "risk.size.cap", "for a size by risk"),
        ({"risk.size": {"equity": 1.0}}, "risk.size.equity", "largest that fits: 0.998501"),
        (
            {"risk.size": {"equity": 1}, "costs": {"commission": 0, "slippage": 0, "spread": 0.02}},
            "risk.size.equity",
            "largest that fits: 0.990099",
        ),
        (
            {"risk.size": {"risk": 0.03}},
            "risk.size.risk",
            "largest that fits: 0.01997, or cap: 1.0",
        ),
        (
            {
                "risk.size": {"equity": "part"},
                "parameters.part": {"default": 0.5, "range": [0.1, 1]},
            },
            "risk.size.equity",
            "largest that fits",
        ),
        ({"risk.max_positions": 0}, "risk.max_positions", "from 1"),
        ({"risk.max_positions": True}, "risk.max_positions", "found true"),
        ({"risk.exit_profit_only": "yes"}, "risk.exit_profit_only", 'did you mean "true"'),
        ({"costs": {"commission": 1}}, "costs.commission", "did you mean 0.01"),
        (
            {"execution": "this_close", "targets": ["adapter", "freqtrade"]},
            "execution",
            "targets: [adapter]",
        ),
        ({"capital": 0}, "capital", "above 0"),
        ({"seed": 7.0}, "seed", "did you mean 7"),
        ({"seed": -1}, "seed", "from 0"),
        ({"acceptance": {"max_drawdown": 30}}, "acceptance.max_drawdown", "did you mean 0.3"),
        ({"acceptance": {"min_win_rate": 1.5}}, "acceptance.min_win_rate", "at most 1"),
        ({"acceptance": {"min_trades": 1.5}}, "acceptance.min_trades", "whole number"),
        ({"targets": ["adapter", "adapter"]}, "targets", "twice"),
        ({"targets": ["adaptor"]}, "targets[0]", 'did you mean "adapter"'),
        ({"targets": []}, "targets", "empty"),
        ({"optimize": {"metric": "sharp"}}, "optimize.metric", 'did you mean "sharpe"'),
        ({"optimized": {"sets": 1}}, "optimized", "nobody asked for a search"),
        ({"coder": "robot"}, "coder", "template, agent, cli, auto"),
        ({"coder": "agent"}, "coder", "carries it out yet"),
        ({"coder": "cli"}, "coder", "carries it out yet"),
        ({"coder": "cli"}, "coder", "allowed: template, auto"),
        ({"rules.enter_long": {"prose": "x"}}, "rules.enter_long", "an expression, as enter_long"),
        (
            {"rules.enter_short": "rsi > 70", "market.type": "futures", "risk.take_profit": 1.0},
            "risk.take_profit",
            "a short can never gain so much",
        ),
        ({"after": ["strategy"]}, "after[0]", "after itself"),
        ({"after": ["a", "a"]}, "after[1]", "twice"),
        ({"files": []}, "files", "kind: module"),
        ({"nmae": 1}, "nmae", 'did you mean "name"'),
        ({"n\u0430me": 1}, "n\u0430me", "CYRILLIC SMALL LETTER A"),
        ({"description": 5}, "description", 'did you mean "5"'),
        (
            {"parameters.oversold": {"default": 2}, "risk.stop_loss": "oversold"},
            "parameters.oversold.default",
            "risk.stop_loss",
        ),
    ],
)
def test_a_mistake_is_told_in_plain_words(changes: dict[str, Any], field: str, words: str) -> None:
    found = problems(changed(changes))
    matching = [str(problem) for problem in found if problem.field == field]
    assert len(matching) == 1, [str(problem) for problem in found]
    assert words in matching[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"risk.size": {"equity": 0.9985}},
        {"risk.size": {"equity": 1.0}, "costs": {"commission": 0, "slippage": 0}},
        {"risk.size": {"risk": 0.03, "cap": 1.0}},
        {"risk.size": {"risk": 0.1}, "risk.stop_loss": {"atr": 2.0}},
    ],
)
def test_a_size_that_can_be_paid_for_is_taken(changes: dict[str, Any]) -> None:
    assert not problems(changed(changes))


def test_levels_above_one_are_allowed_for_targets() -> None:
    assert not problems(changed({"risk.take_profit": 1.5, "risk.roi": {"0": 10, "60": -1}}))


def test_this_close_is_allowed_for_the_adapter_alone() -> None:
    assert not problems(changed({"execution": "this_close", "targets": ["adapter"]}))


def test_a_path_with_a_symbol_serves_several_symbols() -> None:
    symbols = ["BTC/USDT", "ETH/USDT:USDT", "AAPL", "BRK.B", "kPEPE/USDC"]
    changes = {"market.symbols": symbols, "data.path": "data/{symbol}.csv"}
    assert not problems(changed({**changes, "targets": ["adapter"]}))


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"market.symbols": ["AAPL"]}, "market.symbols[0]", "trades pairs only"),
        (
            {"market.symbols": ["BTC/USDT", "ETH/EUR"], "data.path": "data/{symbol}.csv"},
            "market.symbols[1]",
            "counts in one currency",
        ),
        (
            {"risk.take_profit": 0.1, "risk.ignore_roi_if_entry_signal": True},
            "risk.ignore_roi_if_entry_signal",
            "would ignore take_profit too",
        ),
        (
            {
                "risk.stop_loss": {"atr": 2.0},
                "risk.trailing_stop": {"distance": 0.01, "activate_at": 0.05},
            },
            "risk.trailing_stop",
            "cannot trail by a stop that is measured in ATRs",
        ),
    ],
)
def test_what_freqtrade_cannot_express_is_refused(
    changes: dict[str, object], field: str, message: str
) -> None:
    (problem,) = problems(changed({**changes, "targets": ["adapter", "freqtrade"]}))
    assert (problem.field, message in problem.message) == (field, True)
    assert "targets: [adapter]" in problem.allowed
    assert not problems(changed({**changes, "targets": ["adapter"]}))


def test_a_union_gives_one_problem_for_each_place() -> None:
    for value in ("2%", 2, [1], True):
        assert len(problems(changed({"risk.stop_loss": value}))) == 1, value


def test_a_module_contract_is_loaded() -> None:
    contract = parse(MODULE)
    assert isinstance(contract, ModuleContract)
    assert contract.files[0].signatures == ("def load(path: str)",)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"files": []}, "files"),
        ({"files": None}, "files"),
        ({"files": [{"path": "../x.py"}]}, "files[0].path"),
        ({"files": [{"path": ".github/workflows/x.yml"}]}, "files[0].path"),
        ({"files": [{"path": "a.py"}, {"path": "A.py"}]}, "files"),
        ({"files": [{"path": "a.py", "signatures": ["import os"]}]}, "files[0].signatures[0]"),
        ({"files": [{"path": "a.py", "signatures": ["("]}]}, "files[0].signatures[0]"),
        ({"files": [{"path": "a.py", "signatures": ["(" * 400]}]}, "files[0].signatures[0]"),
        ({"coder": "template"}, "coder"),
        ({"market": {}}, "market"),
    ],
)
def test_a_module_contract_is_checked(changes: dict[str, Any], field: str) -> None:
    assert [problem.field for problem in problems(changed(changes, MODULE))] == [field]


def test_a_model_made_by_hand_is_checked_across_its_parts() -> None:
    both = {"execution": "this_close", "targets": ["adapter", "freqtrade"]}
    with pytest.raises(ValueError, match="this_close cannot be had"):
        Contract.model_validate(changed(both))


def test_the_strategy_of_a_module_is_refused_with_a_reason() -> None:
    loaded = parse_contract(json.dumps(MODULE).encode(), "json", Path("x.json"))
    with pytest.raises(InputError, match="asks for a module"):
        _ = loaded.strategy


def test_files_that_are_none(tmp_path: Path) -> None:
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    device = tmp_path / "zero.json"
    device.symlink_to("/dev/zero")
    for path in (folder, pipe, device):
        with pytest.raises(InputError, match="not a regular file"):
            load_contract(path)
    for path in (tmp_path / "missing.yaml", Path("a\0b.yaml"), tmp_path / ("x" * 300 + ".yaml")):
        with pytest.raises(InputError, match=r"no file|cannot read"):
            load_contract(path)
    with pytest.raises(InputError, match="not a contract's file name"):
        load_contract(tmp_path / "x.txt")


FORMS: tuple[Form, ...] = ("json", "yaml")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
dotted = st.sampled_from(
    [
        *GOOD,
        *(f"{key}.{inner}" for key in GOOD if isinstance(GOOD[key], dict) for inner in GOOD[key]),
    ]
)
extra = st.sampled_from(
    [
        "risk.take_profit",
        "risk.trailing_stop",
        "risk.roi",
        "risk.size",
        "costs",
        "acceptance",
        "optimize",
        "targets",
        "after",
        "files",
        "rules.exit_long",
        "data.start",
        "market.lot",
    ]
)


@examples(150)
@given(st.dictionaries(dotted | extra, json_values, max_size=3))
def test_any_value_anywhere_gives_a_contract_or_our_own_error(changes: dict[str, Any]) -> None:
    document = copy.deepcopy(GOOD)
    for key, value in changes.items():
        *parents, last = key.split(".")
        part: Any = document
        for parent in parents:
            part = part.setdefault(parent, {}) if isinstance(part, dict) else {}
        if isinstance(part, dict):
            part[last] = value
    for form in FORMS:
        text = json.dumps(document) if form == "json" else yaml.safe_dump(document)
        check_answer(text.encode(), form)


@examples(150)
@given(st.binary(max_size=200), st.integers(0, 600), st.sampled_from(["yaml", "json"]))
def test_any_bytes_give_our_own_error(noise: bytes, index: int, form: Form) -> None:
    text = yaml.safe_dump(GOOD) if form == "yaml" else json.dumps(GOOD)
    check_answer(noise, form)
    check_answer(text.encode()[:index] + noise + text.encode()[index:], form)


def check_answer(data: bytes, form: Form) -> None:
    found: tuple[Problem, ...] | None = None
    try:
        parse_contract(data, form, Path("x"))
    except ContractError as error:
        found = error.problems
    assert found is None or found
    assert all(problem.line >= 1 and problem.column >= 1 for problem in found or ())


def findings_of(text: str) -> list[str]:
    """The messages about a contract in YAML."""
    with pytest.raises(ContractError) as caught:
        parse_contract(text.encode(), "yaml", Path("x.yaml"))
    return [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


WHOLE = """
version: "1.0"
workflow: w
task: t
kind: strategy
name: FlowStyle
market: {symbols: [BTC/USDT], timeframe: 1h}
data: {source: csv, path: data.csv}
indicators:
  awesome: {expression: mean(hl2, 5) - mean(hl2, 34)}
rules: {enter_long: crossed_above(close, max(awesome, lowest(low, 3))), exit_long: close < open}
risk: {stop_loss: 0.02}
"""


def test_an_expression_with_commas_needs_no_quotes_inside_braces() -> None:
    contract = parse_contract(WHOLE.encode(), "yaml", Path("x.yaml")).strategy
    assert contract.indicators["awesome"].model_dump(exclude_none=True) == {
        "expression": "mean(hl2, 5) - mean(hl2, 34)"
    }
    assert contract.rules.enter_long == "crossed_above(close, max(awesome, lowest(low, 3)))"
    assert contract.rules.exit_long == "close < open"


def test_a_mistake_in_such_an_expression_keeps_its_column() -> None:
    text = WHOLE.replace("max(awesome, ", "max(awesme, ")
    with pytest.raises(ContractError) as caught:
        parse_contract(text.encode(), "yaml", Path("x.yaml"))
    (problem,) = caught.value.problems
    line = text.splitlines()[problem.line - 1]
    assert line[problem.column - 1 :].startswith("awesme")


@pytest.mark.parametrize("text", ["{a: f(x, b: 1}", "{a: f(x, [1]}", "{a: f(x}", "{a: f(x, 'q'}"])
def test_brackets_that_never_close_are_no_hang_and_no_crash(text: str) -> None:
    assert findings_of(f"rules: {text}\n")


def test_one_wrong_field_does_not_hide_the_others_of_its_part() -> None:
    span = "start: 2024-02-01, end: 2024-01-01"
    text = (
        WHOLE.replace("{stop_loss: 0.02}", "{stop_loss: 0.02, size: {equity: 10, units: 1},"
                      " trailing_stop: {distance: 3, only_after_activation: true}}")
        .replace("path: data.csv", "path: ../x.csv, exchange: binance, " + span)
        .replace("indicators:", "parameters: {a: {default: 5, range: [1, 3], foo: 1}}\nindicators:")
    )  # fmt: skip
    told = "\n".join(findings_of(text))
    for words in (
        "exactly one is needed", "risk.size.equity", "only_after_activation needs activate_at",
        "risk.trailing_stop.distance", "data.path", "exchange has no use", "end is not after start",
        "the default is outside its range", 'unknown key "foo"',
    ):  # fmt: skip
        assert words in told, told


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("{function: SMA, timeframe: 90m}", "unknown timeframe"),
        ("{function: SMA, timeframe: 30m}", "cannot be made of 1h candles"),
        ("{function: SMA, timeframe: 1h}", "leave `timeframe` out"),
        ("{expression: close, timeframe: 3d}", "no start that all agree on"),
        ("{expression: close, timeframe: 1M}", "no length"),
        ("{expression: rsi > 3, timeframe: 4h}", "`rsi` is not of 4h candles"),
        ("{expression: bands.upperband, timeframe: 4h}", "`bands` is not of 4h candles"),
        ("{function: SMA, input: rsi, timeframe: 4h}", "`rsi` is not of 4h candles"),
    ],
)
def test_an_indicators_own_timeframe_is_refused_with_its_reason(body: str, words: str) -> None:
    others = "\n  rsi: {function: RSI}\n  bands: {function: BBANDS}"
    text = WHOLE.replace("{expression: mean(hl2, 5) - mean(hl2, 34)}", body + others)
    (told,) = findings_of(text)
    assert told.startswith("indicators.awesome")
    assert words in told


def test_an_indicator_may_have_a_timeframe_of_its_own() -> None:
    for body in ("{function: SMA, timeframe: 4h}", "{expression: close, timeframe: 1w}"):
        text = WHOLE.replace("{expression: mean(hl2, 5) - mean(hl2, 34)}", body)
        loaded = parse_contract(text.encode(), "yaml", Path("x.yaml"))
        assert loaded.strategy.indicators["awesome"].timeframe == body[-3:-1]


def test_missing_candles_are_told_with_the_other_mistakes(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    wrong = {**GOOD, "rules": {"enter_long": "rsj < oversold"}}
    path = tmp_path / "dip.yaml"
    path.write_text(yaml.safe_dump(wrong), "utf-8")
    with pytest.raises(ContractError) as stop:
        load_contract(path)
    assert sorted(p.field for p in stop.value.problems) == ["data.path", "rules.enter_long"]
    assert "data/btc.csv is not there" in str(stop.value)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/btc_1h.csv").write_text("", "utf-8")
    with pytest.raises(ContractError) as stop:
        load_contract(path)
    assert "data/btc.csv is not there; allowed: a path from the top" in str(stop.value)
    assert 'did you mean "btc_1h.csv"?' in str(stop.value)
    (tmp_path / "data/btc.csv").write_text("", "utf-8")
    with pytest.raises(ContractError) as stop:
        load_contract(path)
    assert [p.field for p in stop.value.problems] == ["rules.enter_long"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0b", 7, None])
def test_odd_paths_of_candles_are_not_looked_for(tmp_path: Path, name: object) -> None:
    document = {"data": {"path": name}, "market": {"symbols": ["BTC/USDT"]}}
    assert missing_candles(document, tmp_path) == []


def test_missing_candles_are_told_though_the_symbols_are_wrong(tmp_path: Path) -> None:
    document = {"data": {"path": "data/btc.csv"}, "market": {"symbol": "BTC/USDT"}}
    assert [fault.where for fault in missing_candles(document, tmp_path)] == [("data", "path")]
    each = {"data": {"path": "data/{symbol}.csv"}, "market": {"symbol": "BTC/USDT"}}
    assert missing_candles(each, tmp_path) == []
