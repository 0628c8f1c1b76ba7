import json
import subprocess
from pathlib import Path

import pytest
import yaml

from bot import starter
from bot.cli import main
from bot.contract.load import load_contract
from bot.errors import InputError
from bot.settings import Settings
from bot.starter import FORM, SETTINGS, WORKFLOW, released_action, workflow_text

ACTION = f"stratwright/stratwright@{'b' * 40}"
FILES = (WORKFLOW, FORM, SETTINGS, "contracts/example.yaml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_init_writes_four_files_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(root), "--action", ACTION]) == 0
    said = capsys.readouterr().out
    assert all(f"wrote     {path}" in said for path in FILES)
    assert ACTION in (root / WORKFLOW).read_text()
    assert "@" + "ACTION@" not in (root / WORKFLOW).read_text()
    assert yaml.safe_load((root / FORM).read_text())["labels"] == ["stratwright"]
    assert load_contract(root / "contracts/example.yaml").strategy.name == "OversoldDip"


def test_init_again_changes_nothing_and_keeps_what_people_changed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["init", str(root), "--action", ACTION])
    (root / SETTINGS).write_text("label: quant\n")
    capsys.readouterr()
    assert main(["init", str(root), "--action", ACTION]) == 0
    said = capsys.readouterr().out
    assert f"kept      {SETTINGS}" in said
    assert "as it is  contracts/example.yaml" in said
    assert (root / SETTINGS).read_text() == "label: quant\n"
    assert main(["init", str(root), "--action", ACTION, "--force"]) == 0
    assert "'quant'" in (root / WORKFLOW).read_text()


def test_init_needs_a_repository_and_a_pinned_action(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "none"), "--action", ACTION]) == 2
    for action in ("stratwright/stratwright@v1", "stratwright/stratwright", "x@${{ y }}"):
        assert main(["init", str(root), "--action", action]) == 2
        assert "pinned by commit" in capsys.readouterr().err


def test_a_release_pins_its_own_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="not a release"):
        released_action()
    stamp = tmp_path / "release.json"
    stamp.write_text(json.dumps({"commit": "c" * 40, "version": "0.1.0"}))
    monkeypatch.setattr(starter, "_STAMP", stamp)
    assert released_action() == f"stratwright/stratwright@{'c' * 40} # v0.1.0"


def test_a_label_that_could_leave_its_expression_is_refused() -> None:
    with pytest.raises(InputError, match="label"):
        workflow_text(Settings(label="x') || (true"), ACTION)
