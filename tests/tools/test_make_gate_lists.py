"""The committed lists are what the installed libraries give under the review rules."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_runner.rules import IMPORTS, read_block

ROOT = Path(__file__).parents[2]
HAND = read_block(IMPORTS, "modules")


def test_lists_are_up_to_date() -> None:
    # In a fresh process: which submodules a library holds depends on what was imported before.
    command = [sys.executable, "-m", "tools.make_gate_lists", "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    hint = "a library changed: run python -m tools.make_gate_lists and review the difference"
    assert answer.returncode == 0, f"{hint}: {answer.stdout}{answer.stderr}"


def public(name: str) -> set[str]:
    module: Any = importlib.import_module(name)
    return {
        word
        for word, value in vars(module).items()
        if not word.startswith("_") and getattr(value, "__module__", None) == name
    }


def test_our_series_functions_are_all_listed() -> None:
    assert set(HAND["ours"]["adapters.series"]) == public("adapters.series")


@pytest.mark.parametrize("section", ["python", "ours", "module"])
def test_listed_names_exist(section: str) -> None:
    for name, words in HAND[section].items():
        module = importlib.import_module(name)
        assert [word for word in words if not hasattr(module, word)] == [], name


def test_generated_tests_find_their_names() -> None:
    module = importlib.import_module("adapters.testing")
    assert all(hasattr(module, word) for word in HAND["test"]["adapters.testing"])
    assert public("adapters.testing") <= set(HAND["test"]["adapters.testing"])


def test_no_module_is_listed_as_a_name() -> None:
    for section in ("python", "ours", "module"):
        for name, words in HAND[section].items():
            module = importlib.import_module(name)
            assert not [word for word in words if type(getattr(module, word)).__name__ == "module"]
