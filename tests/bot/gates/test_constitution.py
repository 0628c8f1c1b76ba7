"""A candidate touches its planned paths, written plainly, and nothing protected."""

import pytest

from bot.gates.constitution import ConstitutionGate, is_plain_path
from bot.gates.port import Case

PLANNED = frozenset({"Backtest/codes/a.py", "tests/test_a.py"})


def judge(
    *paths: str, links: frozenset[str] = frozenset(), planned: frozenset[str] = PLANNED
) -> bool:
    return ConstitutionGate().judge(Case(dict.fromkeys(paths, b""), planned, links)).passed


def test_planned_paths_pass() -> None:
    assert judge("Backtest/codes/a.py", "tests/test_a.py")
    assert judge("Backtest/codes/a.py")


def test_unplanned_paths_and_no_paths_are_refused() -> None:
    assert not judge("Backtest/codes/a.py", "Backtest/codes/b.py")
    assert not judge()


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/a.yml",
        ".GITHUB/workflows/a.yml",
        ".git/hooks/pre-commit",
        "adapters/base_adapter.py",
        "bot/gates/imports.py",
        "brain/INIT.md",
        "contracts/a.yaml",
        "tests/conftest.py",
        "Backtest/codes/__init__.py",
        "Backtest/provenance.py",
        "x/modification_log.py",
        "x/Self_Modification.py",
        "constitutional.py",
        "pytest.ini",
        "pyproject.toml",
        "Makefile",
        "CODEOWNERS",
        "stratwright.yml",
    ],
)
def test_protected_paths_are_refused_even_if_planned(path: str) -> None:
    assert not judge(path, planned=frozenset({path}))


@pytest.mark.parametrize(
    "path",
    [
        "../a.py",
        "Backtest/../bot/a.py",
        "/etc/passwd",
        "./a.py",
        "a//b.py",
        "a/",
        "a\\b.py",
        "C:a.py",
        "~/a.py",
        "-rf",
        "a\nb.py",
        "a\u202eb.py",
        "",
        "a./b.py",
        "cafe\u0301.py",
        "a" * 300,
    ],
)
def test_odd_paths_are_refused_even_if_planned(path: str) -> None:
    assert not is_plain_path(path)
    assert not judge(path, planned=frozenset({path}))


def test_links_are_refused() -> None:
    assert not judge("tests/test_a.py", links=frozenset({"tests/test_a.py"}))
    assert not judge("tests/test_a.py", links=frozenset({"tests"}))
