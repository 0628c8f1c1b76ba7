"""Every test has a key of its own and a ledger of its own."""

from pathlib import Path

import pytest

from tests.doubles.model.messages_api import KEY


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "stratwright" / "costs"
