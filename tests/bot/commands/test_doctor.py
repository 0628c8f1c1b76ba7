import subprocess
from pathlib import Path

import pytest

from bot.cli import main


def test_without_a_token_the_doctor_still_tells_about_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert main(["doctor", "--repository", str(tmp_path), "--github"]) == 4
    said = capsys.readouterr().out
    assert "there is no token for GitHub" in said
    assert "Set GITHUB_TOKEN" in said
    assert "sandbox" in said
    assert "the repository on GitHub lacks something" in said
