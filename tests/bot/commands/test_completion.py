"""Completion as a shell does it; zsh takes bash's script, fish has one of its own."""

import subprocess
from pathlib import Path

import pytest

from bot.cli import COMMANDS, build_parser, main
from bot.commands.completion import words_of

ROOT = Path(__file__).parents[3]


def completed(script: str, *words: str) -> set[str]:
    """What bash offers for the last word."""
    listed = " ".join(f"'{word}'" for word in words)
    code = f"{script}\nCOMP_WORDS=(stratwright {listed}); COMP_CWORD={len(words)}\n"
    code += '_stratwright; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_actions_options_and_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert set(COMMANDS) <= completed(script, "")
    assert completed(script, "pr", "s") == {"show"}
    assert completed(script, "gate", "--mu") == {"--mutants"}
    assert completed(script, "data", "download", "--s") == {"--since"}
    assert completed(script, "run", "contracts/o") == {"contracts/oversold_dip.yaml"}
    assert completed(script, "completion", "") == {"bash", "zsh", "fish", "--help"}


def test_every_word_of_the_parser_is_in_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    words = words_of(build_parser())
    assert {"", "pr", "pr show", "data check"} <= set(words)
    for shell in ("bash", "zsh", "fish"):
        main(["completion", shell])
        script = capsys.readouterr().out
        assert all(word.lstrip("-") in script for after in words.values() for word in after)


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
