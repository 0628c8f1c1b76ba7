"""What the line tells: logs, events, and `doctor` before it starts."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from bot.commands.run import run_one
from bot.git.identity import is_correlation_id
from bot.logs import log_file, set_up
from bot.progress import Progress
from tests.bot.git.worlds import World, sh
from tests.e2e.attacks import HEAD
from tests.e2e.lines import ChangedCoder, events, open_shop, run, stratwright
from tests.remembered import Remembering

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
STRATEGY = "Backtest/codes/quick_dip.py"
COURSE = [
    *("TASK_DISPATCHED", "CODER_INVOKED", "CODER_COMPLETE"),
    *("TEST_PASSED", "ARTIFACT_COMMITTED", "PR_OPENED"),
]


def log_lines(world: World) -> list[dict[str, Any]]:
    folder = world.work / ".git/stratwright/logs"
    text = "".join(path.read_text("utf-8") for path in sorted(folder.iterdir()))
    return [json.loads(line) for line in text.splitlines()]


def test_every_line_of_the_log_carries_the_id(world: World, sandbox: Remembering) -> None:
    set_up(log_file(world.work / ".git/stratwright"))
    result = run(world, sandbox)
    lines = log_lines(world)
    assert [line["event"] for line in lines] == COURSE
    assert {line["correlation_id"] for line in lines} == {result.correlation_id}
    assert is_correlation_id(result.correlation_id)
    assert all(line["timestamp"].endswith("Z") for line in lines)


def test_events_come_in_the_order_in_which_things_happen(
    proposed: World, sandbox: Remembering
) -> None:
    told = events(proposed)
    assert [event.name.value for event in told] == COURSE
    assert [event.timestamp for event in told] == sorted(event.timestamp for event in told)
    assert {(event.workflow, event.task) for event in told} == {("dip", "strategy")}
    run(proposed, sandbox)
    assert len(events(proposed)) == len(told)


def test_every_command_that_knows_figures_shows_them(
    proposed: World, sandbox: Remembering, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    here, shop = ["--repository", str(proposed.work)], open_shop(proposed, sandbox)
    capsys.readouterr()
    run_one(proposed.work / "contracts/dip.yaml", shop, Progress(), as_json=False)
    shown = [capsys.readouterr().out]
    assert "  evidence      artifacts/dip/strategy on the branch\n" in shown[0]
    identity = run(proposed, sandbox).correlation_id
    report = ["report", identity, "--out", str(tmp_path / "out")]
    for command in (report, ["pr", "list"], ["pr", "show", "1"], ["status"]):
        assert main([*command, *here]) == 0
        shown.append(capsys.readouterr().out)
    line = re.compile(r"[\d.]+ % · hold \S+ % · dd \S+ % · Sharpe \S+ · \d+ trades?\b")
    told = [line.findall(text) for text in shown]
    assert all(told), shown
    assert len({words for found in told for words in found}) == 1


def test_no_secret_reaches_logs_bus_or_evidence(
    world: World, sandbox: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    set_up(log_file(world.work / ".git/stratwright"))
    code = f"{HEAD}KEY = {TOKEN!r}\n"
    coder = ChangedCoder(lambda files: {**files, STRATEGY: files[STRATEGY].replace(HEAD, code)})
    result = run(world, sandbox, coder=coder)
    assert "secrets" in [gate.name for gate in result.gates if not gate.passed]
    told = world.work / ".git/stratwright"
    for folder in ("logs", "bus", f"runs/{result.correlation_id}/artifacts"):
        files = [path for path in (told / folder).rglob("*") if path.is_file()]
        assert files
        assert not any(TOKEN in path.read_text("utf-8") for path in files)


def narrow_path(folder: Path, *programs: str) -> str:
    """A PATH on which there are these programs and no others."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found
        (folder / program).symlink_to(found)
    return str(folder)


def test_doctor_finds_a_sound_machine_sound(world: World) -> None:
    done = stratwright(world.work, "doctor", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["well"]) == (0, True)
    names = {finding["name"]: finding for finding in answer["findings"]}
    assert names["sandbox"]["well"]
    assert "lookahead" in names["gates"]["detail"]
    assert "Ada Trader" in names["committer"]["detail"]


def test_doctor_without_a_repository_says_what_is_missing(tmp_path: Path) -> None:
    done = stratwright(tmp_path, "doctor", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert done.returncode == 4
    assert "not inside a Git repository" in done.stdout
    assert "cannot work here yet" in done.stdout


def test_doctor_in_a_shallow_clone_says_what_to_fetch(world: World, tmp_path: Path) -> None:
    sh(tmp_path, "clone", "-q", "--depth=1", f"file://{world.remote}", "shallow")
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        sh(tmp_path / "shallow", "config", key, value)
    done = stratwright(tmp_path / "shallow", "doctor")
    assert done.returncode == 4
    assert "--unshallow" in done.stdout


@pytest.mark.parametrize(("command", "code"), [("doctor", 4), ("run", 2)])
def test_a_sandbox_that_nobody_knows_is_named(command: str, code: int, world: World) -> None:
    contract = [] if command == "doctor" else ["contracts/dip.yaml"]
    done = stratwright(world.work, command, *contract, "--sandbox", "nonsense")
    assert done.returncode == code
    assert "known: auto" in done.stdout + done.stderr
    assert not (world.work / ".git/stratwright").exists()


def test_where_nothing_can_isolate_nothing_runs(world: World, tmp_path: Path) -> None:
    path = narrow_path(tmp_path / "bin", "git")
    doctor = stratwright(world.work, "doctor", "--json", PATH=path)
    assert doctor.returncode == 4
    named = {finding["name"]: finding for finding in json.loads(doctor.stdout)["findings"]}
    assert named["sandbox"]["well"] is False
    assert named["sandbox"]["hint"]
    before = world.refs()
    done = stratwright(world.work, "run", "contracts/dip.yaml", PATH=path)
    assert done.returncode == 4
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert world.refs() == before
    # It was asked for, nothing was written or run, and why is told.
    told = events(world)
    assert [event.name for event in told] == ["TASK_DISPATCHED", "TODO_CREATED"]
    assert "No sandbox works here" in told[-1].data["mend"][0]


def test_gate_judges_files_of_somebody_else(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "candidate"
    made = stratwright(world.work, "generate", "contracts/dip.yaml", "--out", str(folder))
    assert made.returncode == 0
    strategy = folder / "Backtest/codes/quick_dip.py"
    strategy.write_text(strategy.read_text("utf-8").replace(HEAD, HEAD + "import os\n"), "utf-8")
    (folder / "conftest.py").write_text("import os\n", "utf-8")
    out = tmp_path / "evidence"
    done = stratwright(
        world.work,
        *("gate", "contracts/dip.yaml", "--candidate", str(folder), "--out", str(out), "--json"),
    )
    assert done.returncode == 1
    failed = [gate["name"] for gate in json.loads(done.stdout)["gates"] if not gate["passed"]]
    assert failed[0] == "imports"
    assert json.loads((out / "gates.json").read_text("utf-8"))["passed"] is False
    assert sh(world.work, "status", "--porcelain") == ""
