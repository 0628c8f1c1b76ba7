"""Both files of every contract of the corpus mean the same: on every market, at every bar."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language import catalog
from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.program import compile_contract
from bot.contract.language.program_steps import TalibStep
from bot.contract.language.rules import PRICES
from bot.contract.language.tree import Call, Price, walk
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.contract.risk import AtrLevel
from bot.files import cache_folder, write_files
from bot.gates.static.file_class import guess_class
from bot.gates.static.static_check import check_bytes
from sandbox_runner.mypy_cache import warm_cache
from tests.chance import one_in
from tests.freqtrade.freqtrade_environment import ROOT, needs_freqtrade
from tools.corpus import CORPUS, compare, line

PATHS = sorted(CORPUS.glob("*.yaml"))
# One of every kind; `make corpus` takes all of them, on whole markets.
SAMPLE = ("all_momentum_1", "all_patterns_1", "four_hours", "heikin_cross", "risk_by_name",
          "short_only", "statistics_range", "three_places")  # fmt: skip


@pytest.fixture(name="contracts", scope="module")
def contracts_fixture() -> list[Contract]:
    return [load_contract(path).strategy for path in PATHS]


def test_the_corpus_has_every_function_and_every_price(contracts: list[Contract]) -> None:
    programs = [compile_contract(contract) for contract in contracts]
    talib = {s.function.name for p in programs for s in p.steps if isinstance(s, TalibStep)}
    assert talib == set(catalog.function_names())
    trees = [tree for p in programs for tree in p.rules.values()]
    for program in programs:
        for step in program.steps:
            trees += step.inputs if isinstance(step, TalibStep) else (step.tree,)
    nodes = [node for tree in trees for node in walk(tree)]
    assert {node.function for node in nodes if isinstance(node, Call)} == set(FUNCTIONS)
    assert set(PRICES) - {node.name for node in nodes if isinstance(node, Price)} == set()
    assert {length for p in programs for length in p.higher} >= {"4h", "12h", "1d", "1w"}


def test_the_corpus_has_every_form_of_risk(contracts: list[Contract]) -> None:
    assert len(contracts) >= 40
    forms: set[str] = set()
    for contract in contracts:
        risk = contract.risk
        for name in ("stop_loss", "take_profit"):
            level = getattr(risk, name)
            forms.add(f"{name} {'atr' if isinstance(level, AtrLevel) else type(level).__name__}")
        if trail := risk.trailing_stop:
            start = "at once" if trail.activate_at is None else "later"
            forms.add(f"trail {start} {trail.only_after_activation}")
        flags = ("exit_profit_only", "ignore_roi_if_entry_signal")
        forms |= {name for name in ("roi", *flags) if getattr(risk, name)}
        forms |= {f"size {form}" for form in risk.size.model_dump(exclude_none=True)}
        forms |= {f"{len(contract.market.symbols)} symbols", contract.market.type}
        forms |= set(compile_contract(contract).rules)
    assert forms == {
        *("stop_loss float", "stop_loss str", "stop_loss atr"),
        *("take_profit float", "take_profit str", "take_profit atr", "take_profit NoneType"),
        *("trail at once False", "trail later False", "trail later True"),
        *("roi", "exit_profit_only", "ignore_roi_if_entry_signal"),
        *("size equity", "size units", "size risk", "size cap"),
        *("1 symbols", "2 symbols", "3 symbols", "spot", "futures"),
        *("enter_long", "exit_long", "enter_short", "exit_short"),
    }


def test_every_file_may_say_what_it_says_and_is_clean(tmp_path: Path) -> None:
    """All pass the static gate, a sample the linters; the coder's own tests lint every function."""
    linted = {Path(name) for name in one_in(4, map(str, PATHS))}
    linted |= {CORPUS / f"{name}.yaml" for name in SAMPLE}
    for path in PATHS:
        written = TemplateCoder().write(load_contract(path).strategy, path.name).files
        assert len(written) == 3
        for name, text in written.items():
            content = text.encode()
            assert check_bytes(content, guess_class(name, content)) == (), name
        if path in linted:
            write_files(tmp_path / "files", written)
    shutil.copytree(warm_cache(cache_folder()), tmp_path / "cache")
    stubs = f"{ROOT}:{ROOT / 'sandbox_runner' / 'stubs'}"
    for command in (
        ["flake8", "--isolated", "--max-line-length=100", "."],
        ["mypy", "--strict", "--config-file=", "--namespace-packages", "--cache-dir=../cache", "."],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path / "files",
            env={"MYPYPATH": stubs, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]


@needs_freqtrade
def test_no_bar_and_no_trade_differs() -> None:
    """A sample on the first bars of the markets; `make corpus` takes all of it, whole."""
    rows = list(compare([CORPUS / f"{name}.yaml" for name in SAMPLE], 600))
    assert len(rows) == 4 * len(SAMPLE)
    assert all(row.same for row in rows), "\n".join(line(row) for row in rows if not row.same)
    assert sum(row.trades for row in rows) > 500
