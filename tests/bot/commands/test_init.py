import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from bot.cli import main
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.proof.judge import decide, judge
from bot.settings import FILE as SETTINGS
from bot.settings import FORM, WORKFLOW, Settings
from bot.workflow import starter
from bot.workflow.starter import CANDLES, released_action, workflow_text

ACTION = f"stratwright/stratwright@{'b' * 40}"
SCHEMA = "contracts/schema/contract-1.0.json"
FILES = (WORKFLOW, FORM, SETTINGS, SCHEMA, "contracts/example.yaml", CANDLES)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_init_writes_its_files_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(root), "--action", ACTION]) == 0
    said = capsys.readouterr().out
    assert all(f"wrote     {path}" in said for path in FILES)
    assert ACTION in (root / WORKFLOW).read_text()
    assert "@" + "ACTION@" not in (root / WORKFLOW).read_text()
    assert yaml.safe_load((root / FORM).read_text())["labels"] == ["stratwright"]
    assert load_contract(root / "contracts/example.yaml").strategy.name == "OversoldDip"


def test_plain_init_works_in_a_checkout_and_the_schema_is_where_the_example_says(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(root)]) == 0
    assert f"wrote     {WORKFLOW}" in capsys.readouterr().out
    first = (root / "contracts/example.yaml").read_text().splitlines()[0]
    place = root / "contracts" / first.partition("$schema=")[2]
    assert json.loads(place.read_text())["title"] == "Stratwright contract 1.0"


def test_init_of_a_copy_that_does_not_know_its_commit_leaves_the_workflow_out(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(starter, "_HOME", tmp_path / "installed")
    assert main(["init", str(root)]) == 0
    said = capsys.readouterr().out
    assert not (root / WORKFLOW).exists()
    assert f"{WORKFLOW} was not written" in said
    assert "stratwright init --action stratwright/stratwright@" in said
    assert "stratwright run contracts/example.yaml" in said
    assert "git push" not in said
    assert all((root / path).exists() for path in FILES if path != WORKFLOW)


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
    (root / "contracts/example.yaml").write_text("mine: 1\n")
    (root / CANDLES).write_text("mine\n")
    assert main(["init", str(root), "--action", ACTION, "--force"]) == 0
    assert "'quant'" in (root / WORKFLOW).read_text()
    assert yaml.safe_load((root / FORM).read_text())["labels"] == ["quant"]
    assert (root / SETTINGS).read_text() == "label: quant\n"
    assert (root / "contracts/example.yaml").read_text() == "mine: 1\n"
    assert (root / CANDLES).read_text() == "mine\n"
    said = capsys.readouterr().out
    assert "stay as they are" in said
    assert 'gh label create "quant"' in said


def test_init_below_the_top_writes_at_the_top(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "notes/deep").mkdir(parents=True)
    assert main(["init", str(root / "notes/deep"), "--action", ACTION]) == 0
    assert (root / WORKFLOW).exists()
    assert f"In {root}" in capsys.readouterr().out
    assert not (root / "notes/deep/stratwright.yml").exists()


def test_the_example_reaches_its_goals_on_the_candles_that_come_with_it(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["init", str(root), "--action", ACTION])
    contract = load_contract(root / "contracts/example.yaml").strategy
    program = compile_contract(contract)
    data = read_market_data(contract, root)
    judgement = judge(contract, program, data, decide(contract, program, data))
    assert contract.acceptance.min_trades is not None
    assert len(judgement.broker.get_trades()) >= contract.acceptance.min_trades


def test_the_example_candles_are_our_own_synthetic_ones(root: Path) -> None:
    main(["init", str(root), "--action", ACTION])
    fixture = Path(__file__).parents[2] / "fixtures/sample_btc.csv"
    assert fixture.read_bytes().startswith((root / CANDLES).read_bytes())


def test_init_needs_a_repository_and_a_pinned_action(
    tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "none"), "--action", ACTION]) == 2
    for action in ("stratwright/stratwright@v1", "stratwright/stratwright", "x@${{ y }}"):
        assert main(["init", str(root), "--action", action]) == 2
        assert "pinned by commit" in capsys.readouterr().err


def test_a_release_pins_its_own_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"stratwright/stratwright@[0-9a-f]{40}", released_action())
    monkeypatch.setattr(starter, "_HOME", tmp_path / "installed")
    with pytest.raises(InputError, match="neither a release nor a checkout"):
        released_action()
    stamp = tmp_path / "release.json"
    stamp.write_text(json.dumps({"commit": "c" * 40, "version": "0.1.0"}))
    monkeypatch.setattr(starter, "_STAMP", stamp)
    assert released_action() == f"stratwright/stratwright@{'c' * 40} # v0.1.0"


@pytest.mark.parametrize("way", ["vcs", "folder"])
def test_a_copy_that_pip_installed_pins_the_commit_it_came_from(
    way: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(__file__).parents[3]
    url = "https://github.com/stratwright/stratwright"
    notes = {
        "vcs": {"url": url, "vcs_info": {"vcs": "git", "commit_id": "d" * 40}},
        "folder": {"url": source.as_uri(), "dir_info": {}},
    }
    note = tmp_path / "site/stratwright-0.1.0.dist-info/direct_url.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps(notes[way]))
    monkeypatch.setattr(starter, "_HOME", tmp_path / "site")
    assert main(["init", str(root)]) == 0
    pinned = re.findall(r"uses: stratwright/stratwright@(\S+)", (root / WORKFLOW).read_text())
    head = subprocess.run(
        ["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, check=True
    )
    assert set(pinned) == {"d" * 40 if way == "vcs" else head.stdout.decode().strip()}


def test_a_label_that_could_leave_its_expression_is_refused() -> None:
    with pytest.raises(InputError, match="label"):
        workflow_text(Settings(label="x') || (true"), ACTION)
