"""Colour and layout are for terminals; elsewhere a result is its plain words."""

import io
import sys

import pytest

from bot.commands.screen import rendered, show, wrapped

TABLE = "gate    result  figure\nsyntax  pass    2 files\nmypy    FAIL\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_every_byte_stays(capsys: pytest.CaptureFixture[str]) -> None:
    show(TABLE)
    assert capsys.readouterr().out == TABLE
    assert rendered("| a |\n| --- |\n") == "| a |\n| --- |\n"


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal())
    show(TABLE)
    assert "\x1b[32msyntax  pass\x1b[0m" in sys.stdout.getvalue()  # type: ignore[attr-defined]
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    show("syntax  pass    2 files\n")
    assert sys.stdout.getvalue() == "syntax  pass    2 files\n"  # type: ignore[attr-defined]


def test_on_a_terminal_markdown_is_laid_out_and_hidden_blocks_stay_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    text = rendered("## Gates\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<!-- hidden -->\n")
    assert "Gates" in text
    assert "hidden" not in text
    assert "| --- |" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_a_browser_folds_has_its_title_and_no_word_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "80")
    digest = "sha256:" + "".join(f"{number:x}" * 4 for number in range(16))
    text = rendered(
        "![A picture](x/equity.svg)\n\n<details><summary>15 gates passed</summary>\n\n"
        f"| What | Value |\n| --- | --- |\n| Contract digest | `{digest}` |\n\n</details>\n"
    )
    assert "15 gates passed" in text
    assert "A picture" not in text
    assert "…" not in text
    assert digest in "".join(text.split())
    assert "\n\n\n" not in text


def test_a_long_line_breaks_between_words_and_keeps_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    short, path = "  tag  a-b", "/" + "long-folder/" * 12
    long = "  freqtrade: not delivered, " + "because it is not there, " * 5
    lines = wrapped(f"{short}\n{long}\n{path}\n").split("\n")
    assert (lines[0], lines[-2:]) == (short, [path, ""])
    assert len(lines) > 4
    assert all(line.startswith("  ") and len(line) <= 80 for line in lines[1:-2])
    assert " ".join(" ".join(lines[1:-2]).split()) == " ".join(long.split())
