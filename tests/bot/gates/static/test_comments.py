"""Comments that speak to a tool are refused in generated code, and quiet no gate anywhere."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.files import cache_folder
from bot.gates.secrets import find_secrets
from bot.gates.static.static_check import check_bytes
from bot.gates.tools import judge_tool
from bot.proof.trial import without_comments
from sandbox_runner.jobs import tool_job
from sandbox_runner.mypy_cache import warm_cache
from sandbox_runner.port import Limits, open_sandbox
from tests.chance import examples

DIRECTIVES = [
    "# type: ignore",
    "#type:ignore",
    "# type: ignore[attr-defined]",
    "# type: List[int]",
    "#  TYPE : ignore",
    "# mypy: ignore-errors",
    "# mypy: disable-error-code=attr-defined",
    "# noqa",
    "#noqa",
    "# NOQA: E501",
    "# see below # noqa",
    "## noqa",
    "# flake8: noqa",
    "# nosec",
    "# nosec B101",
    "# why not #nosec",
    "# pylint: disable=all",
    "# pragma: allowlist secret",
    "# pragma: no cover",
    "# pragma pylint: disable=W0105",
    "# ruff: noqa: F401",
    "# fmt: off",
    "# isort: skip_file",
    "# pyright: basic",
    "# doctest: +SKIP",
    "#! noqa",
]
PROSE = [
    "# the type of the order is MARKET",
    "# type of order",
    "# black candles only",
    "# 14: Wilder's own period",
    "# ignore entries while the type is unknown",
    "# see flake8",
    "# the noqaa of it",
    "#",
    "# ---- exits ----",
    "# -*- coding: utf-8 -*-",
    "# rsi: below 30",
    "# fmt of the figures",
]


@pytest.mark.parametrize("file_class", ["strategy", "module", "test"])
@pytest.mark.parametrize("comment", DIRECTIVES)
def test_a_directive_is_refused_with_its_place(comment: str, file_class: str) -> None:
    source = f'"""Words."""\n\nx = 1  {comment}\n'.encode()
    [first, *_] = check_bytes(source, file_class)  # type: ignore[arg-type]
    assert (first.line, first.column) == (3, 8)
    assert "tells a tool" in first.why
    assert first.instead


@pytest.mark.parametrize("comment", PROSE)
def test_words_for_people_pass(comment: str) -> None:
    assert check_bytes(f"x = 1  {comment}\n".encode(), "strategy") == ()


@pytest.mark.parametrize("comment", DIRECTIVES)
def test_texts_are_not_comments(comment: str) -> None:
    assert check_bytes(f"x = {comment!r}\n".encode(), "strategy") == ()


@pytest.mark.parametrize("comment", DIRECTIVES)
def test_people_may_write_them_into_their_own_freqtrade_files(comment: str) -> None:
    assert check_bytes(f"x = 1  {comment}\n".encode(), "freqtrade") == ()


def test_a_comment_does_not_hide_a_credential() -> None:
    line = b"key = 'AKIAIOSFODNN7EXAMPLZ'  # pragma: allowlist secret\n"
    assert find_secrets("x.py", line)


@pytest.mark.parametrize(
    "quiet",
    [
        b"# type: ignore\n\n%s",
        b"# mypy: ignore-errors\n\n%s",
        b"# mypy: disable-error-code=return-value\n\n%s",
        b"# mypy: disable-error-code=return-value,no-untyped-def\n\n%s",
    ],
)
def test_mypy_sees_what_a_comment_would_hide(quiet: bytes) -> None:
    wrong = b"def f() -> int:\n    return 'x'  # type: ignore\n"
    files = {"Backtest/codes/x.py": without_comments(quiet % wrong)}
    warm = warm_cache(cache_folder())
    job = tool_job("mypy", files, list(files), mypy_cache=warm, limits=Limits(time_s=120))
    outcome = open_sandbox().run(job)
    verdict = judge_tool("mypy", outcome, files)
    assert not verdict.passed
    assert verdict.where == "Backtest/codes/x.py:4"


@examples(200)
@given(
    st.lists(
        st.sampled_from(
            ["x = 1", "y = '# type: ignore'", '"""a\n# b\n"""', "if x:\n    z = [1,  # noqa\n  2]"]
        ),
        max_size=6,
    ),
    st.lists(st.sampled_from([*DIRECTIVES, *PROSE, "# ünïcode 💹"]), min_size=1, max_size=6),
)
def test_without_comments_the_code_is_the_same_at_the_same_places(
    codes: list[str], comments: list[str]
) -> None:
    pairs = zip(codes, (comments * 6)[: len(codes)], strict=True)
    source = "".join(f"{code}  {comment}\n" for code, comment in pairs).encode()
    blanked = without_comments(source)
    before, after = (ast.dump(ast.parse(s), include_attributes=True) for s in (source, blanked))
    assert before == after
    assert ast.parse(blanked, type_comments=True).type_ignores == []


def test_what_is_no_python_is_left_for_the_tool_to_say() -> None:
    for content in (b"\xff", b"'''", b"def f(:\n"):
        assert without_comments(content) == content


def test_what_we_write_ourselves_has_none() -> None:
    house = Path(__file__).resolve().parents[4]
    written = sorted((house / "tests/golden").rglob("*.py.txt"))
    assert written
    for path in written:
        found = [o for o in check_bytes(path.read_bytes(), "strategy") if "tells a tool" in o.why]
        assert found == []


@pytest.mark.parametrize("code", [0x3164, 0x115F, 0x2800, 0x034F, 0xE0101, 0x200B, 0x202E, 0x0C])
@pytest.mark.parametrize("line", ["x = 1  # a{}b\n", "x = 'a{}b'\n"])
def test_what_nobody_sees_is_refused_in_comments_and_texts(code: int, line: str) -> None:
    [found] = check_bytes(line.format(chr(code)).encode(), "strategy")
    assert found.name == f"U+{code:04X}"


def test_an_emoji_is_seen() -> None:
    assert check_bytes("x = 1  # to the moon ✔️\n".encode(), "strategy") == ()
