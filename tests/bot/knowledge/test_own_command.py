"""A command of ours runs within limits and without the caller's secrets."""

import asyncio

import pytest

from bot.errors import WorldError
from bot.knowledge import own_command
from bot.knowledge.own_command import run_own


async def no_beat(seconds):
    """Nobody listens."""


def test_exit_code_and_object_come_back(tmp_path):
    code, told = asyncio.run(run_own(["plan", "none.yaml"], tmp_path, 60, no_beat))
    assert code == 2
    assert "none.yaml" in told["error"]


def test_what_takes_too_long_is_stopped_with_all_it_started(tmp_path):
    with pytest.raises(WorldError, match="took more than 0"):
        asyncio.run(run_own(["plan", "none.yaml"], tmp_path, 0.01, no_beat))


def test_what_prints_too_much_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(own_command, "MOST_BYTES", 10)
    with pytest.raises(WorldError, match="too much"):
        asyncio.run(run_own(["plan", "none.yaml"], tmp_path, 60, no_beat))


def test_a_module_of_the_repository_is_not_ours(tmp_path):
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/__init__.py").write_text("raise SystemExit('hijacked')", "utf-8")
    code, _ = asyncio.run(run_own(["plan", "none.yaml"], tmp_path, 60, no_beat))
    assert code == 2


def test_keys_and_tokens_are_not_passed_on(tmp_path, monkeypatch):
    shown = tmp_path / "python"
    shown.write_text(
        '#!/bin/sh\nprintf \'{"names": "%s"}\' "$(env | cut -d= -f1 | tr "\\n" " ")"\n'
    )
    shown.chmod(0o755)
    monkeypatch.setattr(own_command.sys, "executable", str(shown))
    for name in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    _, told = asyncio.run(run_own(["plan"], tmp_path, 60, no_beat))
    names = {*told["names"].split()}
    assert "PATH" in names
    assert not names & {"GITHUB_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"}
