"""Code that the template did not write: what it may say, and what nobody but the template may."""

import ast
from functools import cache
from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.files import cache_folder
from bot.gates.foreign.strange_parts import find_missing_tests, find_strange_parts
from bot.gates.foreign.strange_reading import find_strange_reading
from bot.gates.foreign.template_gate import judge_template
from bot.gates.port import Case, Verdict
from bot.gates.table import STATIC
from bot.proof.edges import Prover
from bot.proof.examination import Examination, examine, gate_names
from bot.proof.origin import is_the_templates, template_files
from sandbox_runner.mypy_cache import warm_cache
from sandbox_runner.port import open_sandbox
from tests.bot.proof.assignments import assigned
from tests.security.trojans import TROJANS, Trojan

ROOT = Path(__file__).parents[4]
STRATEGY, TESTS = "Backtest/codes/oversold_dip.py", "tests/test_oversold_dip.py"
# What no reading of the file shows: the places elsewhere do, in tests/bot/gates/test_elsewhere.py.
ONLY_BEHAVIOUR = {
    *("setting_size", "setting_lot", "data_volume_none", "data_flat_market"),
    *("again_length_in_steps", "again_flat_candle"),
    # It differs from the contract only where two long fractions are equal to the last digit.
    "data_edge",
}
ORDER = '        """The order of this bar, if the entry rule holds."""\n'
EXITS = '        """Whether the exit rule of the position\'s side holds at this bar."""\n'
RULE = "        enter_long = (rsi < oversold) & (close > trend)\n"
HONEST = (
    (RULE, "        enter_long = self._is_dip(df, rsi) & _above(close, trend)\n"),
    (
        "    def find_entries(",
        "    def _is_dip(self, df: pd.DataFrame, strength: Any) -> Any:\n"
        '        """Whether the market is oversold."""\n'
        "        if len(df) < LEAST:\n"
        '            raise ValueError(f"at least {LEAST} candle")\n'
        '        return strength < self.cfg["oversold"]\n\n'
        "    def find_entries(",
    ),
    (
        "class Strategy:",
        "LEAST = 1\n\n\ndef _above(left: Any, right: Any) -> Any:\n"
        '    """Whether one is above the other."""\n    return right < left\n\n\nclass Strategy:',
    ),
    ('        oversold = self.cfg["oversold"]\n', ""),
    ('series.at(df, "close", idx)', 'float(df["close"].iloc[idx])'),
    (ORDER, f"{ORDER}        if idx < 1:\n            return None\n"),
)


@cache
def written(name: str = "oversold_dip") -> dict[str, str]:
    contract = load_contract(ROOT / f"contracts/{name}.yaml").strategy
    files = TemplateCoder().write(contract, f"contracts/{name}.yaml").files
    assert (
        template_files(contract, compile_contract(contract), frozenset(files)).keys()
        == files.keys()
    )
    return dict(files)


def edited(*edits: tuple[str, str], path: str = STRATEGY) -> dict[str, bytes]:
    files = dict(written())
    for old, new in edits:
        assert old in files[path]
        files[path] = files[path].replace(old, new, 1)
    return {name: text.encode() for name, text in files.items()}


def judged(*edits: tuple[str, str]) -> Verdict:
    return judge_template(edited(*edits), written(), STRATEGY, TESTS)


def examined(files: dict[str, bytes]) -> Examination:
    contract = load_contract(ROOT / "contracts/oversold_dip.yaml").strategy
    work = assigned(contract, read_market_data(contract, ROOT))
    case = Case(files, frozenset(files))
    return examine(work, case, Prover(open_sandbox(), warm_cache(cache_folder())))


def refused(found: Examination) -> dict[str, str]:
    return {verdict.name: verdict.reason for verdict in found.verdicts if not verdict.passed}


def test_comments_and_layout_do_not_make_code_another_s() -> None:
    files = edited(
        ("import talib\n", "import talib  # indicators\n"), (RULE, RULE.replace(" & ", "  &  "))
    )
    assert is_the_templates(files, written())
    assert not is_the_templates(edited((" < oversold", " <= oversold")), written())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/corpus").glob("*.yaml")), ids=lambda p: p.stem
)
def test_the_template_keeps_its_own_rules(path: Path) -> None:
    contract = load_contract(path).strategy
    files = template_files(
        contract, compile_contract(contract), frozenset({contract.strategy_file})
    )
    (text,) = files.values()
    tree = ast.parse(text)
    assert [*find_strange_parts(tree, tree), *find_strange_reading(tree, tree)] == []


def test_an_honest_rewriting_is_let_through() -> None:
    found = judged(*HONEST)
    assert (found.passed, found.reason) == (True, "")


@pytest.mark.parametrize("trojan", TROJANS, ids=lambda trojan: trojan.name)
def test_a_trojan_is_refused_by_reading_it(trojan: Trojan, tmp_path: Path) -> None:
    for path, text in written(trojan.contract).items():
        (tmp_path / "old" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / path).write_text(text, "utf-8")
    new = tmp_path / "new"
    trojan.write(tmp_path / "old", new)
    files = {p.relative_to(new).as_posix(): p.read_bytes() for p in new.rglob("*.py")}
    strategy, tests = f"Backtest/codes/{trojan.contract}.py", f"tests/test_{trojan.contract}.py"
    assert not is_the_templates(files, written(trojan.contract))
    case = Case(files, frozenset(files))
    static = all(gate.judge(case).passed for gate in STATIC)
    parts = judge_template(files, written(trojan.contract), strategy, tests)
    missing = list(find_missing_tests(files[tests], written(trojan.contract)[tests]))
    assert (static and parts.passed and not missing) == (trojan.name in ONLY_BEHAVIOUR)
    assert parts.passed or (parts.reason and parts.next_step and parts.where)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RULE, f'{RULE}        if df.iloc[-1, 0].year > 100:\n            enter_long = rsi > 0\n'),
        (RULE, f'{RULE}        for name in df:\n            enter_long = enter_long | (rsi > 0)\n'),
        (RULE, f"{RULE}        frame = df\n"),
        (RULE, f"{RULE}        frame = [df]\n"),
        (RULE, f"{RULE}        enter_long = _other(df, rsi)\n"),
        (RULE, f'{RULE}        enter_long = enter_long & (close < 100 ** 3)\n'),
        (RULE, f'{RULE}        enter_long = enter_long & (close < 100 * 100)\n'),
        (RULE, f'{RULE}        if self.cfg.get("oversold"):\n            enter_long = rsi > 0\n'),
        (RULE, f'{RULE}        settings = self.cfg\n'),
        (RULE, f'{RULE}        if DEFAULT_CFG["oversold"]:\n            return {{}}\n'),
        (RULE, f'{RULE}        me = self\n'),
        (RULE, f'{RULE}        self.seen = rsi\n'),
        (RULE, f'{RULE}        df["close"] = rsi\n'),
        (RULE, f'{RULE}        enter_long = (lambda: rsi > 0)()\n'),
        (RULE, f'{RULE}        if series.hour(df)[-1] == 3:\n            enter_long = rsi > 0\n'),
        (RULE, f'{RULE}        enter_long = enter_long & (close.dtype == rsi.dtype)\n'),
        (ORDER, f'{ORDER}        far = idx\n        if far > 100:\n            return None\n'),
        (ORDER, f'{ORDER}        if idx % 100 == 3:\n            return None\n'),
        (EXITS, f'{EXITS}        if position["volume"] > 100:\n            return None\n'),
        (EXITS, f'{EXITS}        if 100 in position.values():\n            return None\n'),
        ("class Strategy:", "class Base:\n    pass\n\n\nclass Strategy(Base):"),
        ("class Strategy:", "SEEN: list[int] = []\n\n\nclass Strategy:"),
        ("class Strategy:", "def _f(x: list[int] = []) -> None:\n    pass\n\n\nclass Strategy:"),
        ("    def signals(", "    total = 0\n\n    def signals("),
        ("    def signals(", "    def find_exits(self) -> None:\n        pass\n\n    def signals("),
        ("    def signals(", "    def __eq__(self, x: Any) -> bool: ...\n\n    def signals("),
        ("    def signals(", "    @property\n    def signals("),
        ("strategy_cli import main\n", "strategy_loop import replay as main\n"),
        ("strategy_loop import replay\n", "strategy_cli import main as replay\n"),
        ("DEFAULT_CFG: dict[str, Any] = {", "DEFAULT_CFG: dict[str, Any] = {}\nDEFAULT_CFG = {"),
        ('if __name__ == "__main__":', 'while False:\n    pass\n\nif __name__ == "__main__":'),
        ("def run_live(", "@staticmethod\ndef run_live("),
        ("def run_live(", "async def run_live("),
    ],
    ids=range(33),
)  # fmt: skip
def test_what_a_strategy_has_no_use_for_is_refused(old: str, new: str) -> None:
    found = judged((old, new))
    assert not found.passed
    assert found.where.startswith(f"{STRATEGY}:")
    assert found.reason
    assert found.next_step


def test_a_freqtrade_file_is_the_template_s() -> None:
    path = next(path for path in written() if "freqtrade" in path)
    text = written()[path].replace("stoploss", "stoploss", 1) + "\nx = 1\n"
    files = {**edited(), path: text.encode()}
    found = judge_template(files, written(), STRATEGY, TESTS)
    assert (found.passed, found.where) == (False, path)


def test_tests_may_be_added_and_not_changed() -> None:
    more = written()[TESTS] + "\n\ndef test_more() -> None:\n    assert len(CFG) == 1\n"
    assert list(find_missing_tests(more.encode(), written()[TESTS])) == []
    gone = written()[TESTS].replace("def test_shape_is_kept", "def shape_is_kept")
    assert [f.reason for f in find_missing_tests(gone.encode(), written()[TESTS])]
    again = more.replace("test_more", "test_shape_is_kept")
    assert [f.reason for f in find_missing_tests(again.encode(), written()[TESTS])]


def test_an_honest_candidate_of_somebody_else_passes_every_gate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.proof.examination.MOST_MUTANTS", 12)
    more = '\n\ndef test_more() -> None:\n    """One symbol."""\n    assert len(CFG) == 1\n'
    files = edited(*HONEST)
    files[TESTS] += more.encode()
    found = examined(files)
    assert refused(found) == {}
    assert tuple(verdict.name for verdict in found.verdicts) == gate_names(foreign=True)
    figures = {verdict.name: verdict.figure for verdict in found.verdicts}
    assert figures["pytest"] == "47 tests, 48 of its own"
    assert "mutants killed" in figures["mutation"]


def test_a_candidate_s_own_tests_are_no_proof() -> None:
    """The strategy is the template's; the one test that is left asserts that one is one."""
    files = edited()
    files[TESTS] = b'"""Tests."""\n\n\ndef test_one() -> None:\n    """One."""\n    assert 1 == 1\n'
    found = refused(examined(files))
    assert set(found) == {"pytest", "mutation"}
    assert "contract's" in found["pytest"]


def test_an_order_in_run_live_is_refused_by_its_own_gate() -> None:
    live = '    adapter.place_order({"action": "BUY", "symbol": "DOGE/USDT", "volume": 1e9})\n'
    text = written()[STRATEGY]
    raised = next(line for line in text.splitlines(True) if "PermissionError" in line)
    found = refused(examined(edited((raised, live))))
    assert found["template"] == "run_live is not the template's"
