"""Plain UTF-8 Python of a reviewable size passes, everything else is refused."""

import pytest

from bot.gates.port import Case
from bot.gates.static.file_text import SIZE_LIMIT
from bot.gates.table import STATIC

SYNTAX = next(gate for gate in STATIC if gate.name == "syntax")


def judge(content: bytes) -> tuple[bool, str, str]:
    verdict = SYNTAX.judge(Case({"Backtest/codes/a.py": content}, frozenset()))
    return verdict.passed, verdict.where, verdict.reason


def test_plain_python_passes() -> None:
    assert judge(b"x = 1\n") == (True, "", "")
    assert judge("naïve = 'Größe → ✓'\r\n".encode()) == (True, "", "")


@pytest.mark.parametrize(
    ("content", "where", "word"),
    [
        (b"x = (1\n", "Backtest/codes/a.py:1", "never closed"),
        (b"x = 1\nreturn x\n", "Backtest/codes/a.py:2", "outside function"),
        (b"\xef\xbb\xbfx = 1\n", "Backtest/codes/a.py:1", "byte order mark"),
        (b"x = 1\n# caf\xe9\n", "Backtest/codes/a.py:2", "not UTF-8"),
        (b"# coding: latin-1\nx = 1\n", "Backtest/codes/a.py:1", "another encoding"),
        (b"x = 1\n\x0cy = 2\n", "Backtest/codes/a.py:2", "cannot be seen"),
        ("x = 'a\u200bb'\n".encode(), "Backtest/codes/a.py:1", "zero width space"),
        (b"x = " + b"[" * 150 + b"]" * 150, "Backtest/codes/a.py", "too deeply"),
        (b"x = " + b"not " * 5000 + b"1", "Backtest/codes/a.py", "too deeply"),
        (b"#" * (SIZE_LIMIT + 1), "Backtest/codes/a.py", "bytes"),
    ],
)
def test_what_a_reviewer_would_misread_is_refused(content: bytes, where: str, word: str) -> None:
    passed, place, reason = judge(content)
    assert not passed
    assert place == where
    assert word in reason


@pytest.mark.parametrize(
    "cookie", [b"# -*- coding: utf-8 -*-", b"# coding=UTF8", b"# encoding: utf_8"]
)
def test_the_usual_encoding_comments_pass(cookie: bytes) -> None:
    assert judge(cookie + b"\nx = 1\n")[0]


def test_odd_escapes_are_left_to_the_linter() -> None:
    assert judge(b"x = '\\d'\n")[0]


def test_a_candidate_without_python_has_not_passed() -> None:
    assert not SYNTAX.judge(Case({"README.md": b""}, frozenset())).passed
