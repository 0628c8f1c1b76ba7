"""Files are judged as what their path says they are; the first offence says where."""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.gates.port import Case
from bot.gates.table import STATIC

GATES = {gate.name: gate for gate in STATIC}
IMPORTS = GATES["imports"]
CONTRACTS = sorted((Path(__file__).parents[3] / "contracts").glob("*.yaml"))


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.stem)
def test_generated_candidates_pass_the_static_gates(path: Path) -> None:
    candidate = TemplateCoder().write(load_contract(path).strategy, path.name)
    files = {name: text.encode() for name, text in candidate.files.items()}
    case = Case(files, frozenset(files))
    for gate in STATIC:
        assert gate.judge(case).passed, gate.judge(case)


def test_the_path_says_the_class() -> None:
    source = b"import pytest\n"
    assert IMPORTS.judge(Case({"tests/test_a.py": source}, frozenset())).passed
    assert not IMPORTS.judge(Case({"Backtest/codes/a.py": source}, frozenset())).passed


def test_other_folders_are_strict() -> None:
    case = Case({"pipelines/a.py": b"from pathlib import Path\n"}, frozenset())
    assert not IMPORTS.judge(case).passed


def test_the_first_offence_says_where_and_what_to_do() -> None:
    source = b"import pandas as pd\n\npd.read_pickle('x')\nexec('1')\n"
    verdict = IMPORTS.judge(Case({"Backtest/codes/a.py": source}, frozenset()))
    assert verdict.name == "imports"
    assert verdict.where == "Backtest/codes/a.py:3"
    assert "pandas.read_pickle" in verdict.reason
    assert verdict.figure == "2 refused"
    assert verdict.next_step


def test_an_unreadable_file_is_refused() -> None:
    assert not IMPORTS.judge(Case({"Backtest/codes/a.py": b"x = \xff"}, frozenset())).passed


def test_no_files_is_no_pass() -> None:
    assert not IMPORTS.judge(Case({}, frozenset())).passed
