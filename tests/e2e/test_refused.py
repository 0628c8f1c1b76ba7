"""Hostile candidates through the coder port: blocked, with evidence, and nothing else changed."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.bus.port import EventName
from bot.cli import main
from bot.coder.port import Candidate, Failure
from bot.coder.template.template_coder import TemplateCoder
from bot.commands.status import read_standings
from bot.contract.model import AnyContract
from bot.errors import WorldError
from bot.gates.table import NAMES
from bot.proof.examination import gate_names
from sandbox_runner.answer_cache import Memory
from sandbox_runner.port import Job, Outcome, SandboxUnavailable
from tests.bot.git.worlds import World
from tests.e2e.attacks import FORGED_REPORT, HEAD, RULE, TRIVIAL, WRONG_RULE, at_import
from tests.e2e.lines import ChangedCoder, events, open_shop, run, snapshot
from tests.remembered import Remembering

STRATEGY, TESTS = "Backtest/codes/quick_dip.py", "tests/test_quick_dip.py"
AT_IMPORT = {
    "forges-reports": FORGED_REPORT,
    "exits": "import os; os._exit(0)",
    "plants-a-link": "import os; os.symlink('/etc/passwd', '/out/decisions.json')",
    "sleeps": "import time; time.sleep(10**6)",
    "forks": "import os\nwhile True: os.fork()",
    "calls-home": "import socket; socket.create_connection(('1.1.1.1', 80))",
    "reads-files": "SECRET = open('/etc/passwd').read()",
    "reads-the-environment": "import os; KEY = os.environ['GITHUB_TOKEN']",
    "patches-pandas": "import pandas; pandas.Series.iloc = property(lambda s: [True] * 999)",
    "patches-the-loop": "import adapters.sizing; adapters.sizing.volume_of = None",
    "evaluates": "exec(compile('x = 1', 'x', 'exec'))",
}
FILES = {
    "conftest": {"conftest.py": "x = 1\n"},
    "hook": {".git/hooks/post-commit": "#!/bin/sh\n"},
    "outside": {"../outside.py": "x = 1\n"},
    "root": {"/etc/outside.py": "x = 1\n"},
    "contract": {"contracts/dip.yaml": "version: 2\n"},
    "workflow": {".github/workflows/x.yml": "on: push\n"},
    "own-evidence": {"artifacts/dip/strategy/gates.json": "{}\n"},
    "library": {"adapters/series.py": "x = 1\n"},
    "other-branch-file": {"README.md": "mine\n"},
    "no-unicode": {STRATEGY: "x = '\ud800'\n"},
    "nul": {STRATEGY: "x = 1\0\n"},
    "deep": {STRATEGY: "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n"},
    "large": {STRATEGY: "x = 1\n" * 300_000},
    "many": {f"Backtest/codes/x{number}.py": "x = 1\n" for number in range(60)},
    "secret": {STRATEGY: 'KEY = "AKIA' + "IOSFODNN7EXAMPLQ" + '"\n'},
}

CRASH = {RULE: "        enter_long = rsi < [30][len(df)]\n"}


def swap(files: dict[str, str], swaps: dict[str, str]) -> dict[str, str]:
    for old, new in swaps.items():
        assert old in files[STRATEGY]
        files[STRATEGY] = files[STRATEGY].replace(old, new, 1)
    return files


def refused(world: World, sandbox: Remembering, coder: ChangedCoder) -> list[str]:
    """Run it, check that nothing but the verdict came of it, and give the gates that said no."""
    before = snapshot(world)
    result = run(world, sandbox, coder=coder)
    assert (result.status, result.exit_code) == ("blocked", 1)
    assert (result.tag, result.commit, result.pull_request) == ("", "", None)
    assert snapshot(world) == before
    assert world.left_behind() == []
    assert list(world.work.glob(".git/stratwright/forge/pulls/*")) == []
    names = [gate.name for gate in result.gates]
    assert names in (list(NAMES), list(gate_names(foreign=True)))
    failed = [gate for gate in result.gates if not gate.passed]
    assert failed
    assert all(gate.reason and gate.next_step for gate in failed)
    folder = Path(result.artifacts)
    assert folder == world.work / ".git/stratwright/runs" / result.correlation_id
    kept = json.loads((folder / "artifacts/dip/strategy/gates.json").read_text("utf-8"))
    assert kept["gates"] == [gate.to_dict() for gate in result.gates]
    inside = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert inside <= {"artifacts", "Backtest", "tests"}
    told = [event for event in events(world) if event.correlation_id == result.correlation_id]
    assert [event.name.value for event in told] == [
        *("TASK_DISPATCHED", "CODER_INVOKED", "CODER_COMPLETE"),
        *("TEST_FAILED", "TODO_CREATED"),
    ]
    mend = told[-1].data["mend"]
    assert mend == [gate.to_dict() for gate in failed]
    return [gate.name for gate in failed]


@pytest.mark.parametrize("name", AT_IMPORT)
def test_hostile_code_is_refused_before_it_runs(
    name: str, world: World, sandbox: Remembering
) -> None:
    coder = ChangedCoder(lambda files: swap(files, at_import(AT_IMPORT[name])))
    failed = refused(world, sandbox, coder)
    assert "imports" in failed
    assert "lookahead" in failed


@pytest.mark.parametrize("name", FILES)
def test_files_that_were_not_planned_or_cannot_be_read_are_refused(
    name: str, world: World, sandbox: Remembering
) -> None:
    refused(world, sandbox, ChangedCoder(lambda files: {**files, **FILES[name]}))
    assert not (world.work.parent / "outside.py").exists()
    assert not list(world.work.glob(".git/hooks/post-commit"))


@pytest.mark.parametrize("gone", [STRATEGY, TESTS])
def test_a_missing_file_is_refused(gone: str, world: World, sandbox: Remembering) -> None:
    coder = ChangedCoder(lambda files: {path: files[path] for path in files if path != gone})
    assert "pytest" in refused(world, sandbox, coder)


def test_no_file_at_all_is_refused(world: World, sandbox: Remembering) -> None:
    assert "syntax" in refused(world, sandbox, ChangedCoder(lambda files: {}))


def test_a_wrong_strategy_with_tests_of_its_own_is_refused(
    world: World, sandbox: Remembering
) -> None:
    """No static gate has anything against it, and all its tests pass."""
    tests = f'"""Tests."""\n\n\n{TRIVIAL}'
    coder = ChangedCoder(lambda files: {**swap(files, WRONG_RULE), TESTS: tests})
    failed = refused(world, sandbox, coder)
    assert failed == ["pytest", "lookahead", "elsewhere", "template", "mutation"]


def test_a_strategy_that_crashes_is_told_by_one_gate(world: World, sandbox: Remembering) -> None:
    """No static gate has anything against it; it fails wherever it is run."""
    coder = ChangedCoder(lambda files: swap(files, CRASH))
    refused(world, sandbox, coder)
    result = run(world, sandbox, coder=coder)
    told = [gate for gate in result.gates if "IndexError" in f"{gate.figure} {gate.reason}"]
    assert [gate.name for gate in told] == ["pytest"]
    assert told[0].where.startswith(f"{STRATEGY}:")
    others = [gate.reason for gate in result.gates if not gate.passed and gate not in told]
    assert set(others) <= {"not run: see pytest", "not run: another gate refused the code"}


def test_a_flood_of_output_is_stopped_in_the_sandbox(world: World, sandbox: Remembering) -> None:
    """Printing is allowed, so no static gate has anything against it."""
    swaps = at_import("while True:\n    print('x' * 1_000_000)")
    failed = refused(world, sandbox, ChangedCoder(lambda files: swap(files, swaps)))
    assert {"pytest", "determinism", "lookahead", "artifacts"} <= set(failed)
    assert "imports" not in failed


def test_a_look_ahead_in_plain_sight_is_refused(world: World, sandbox: Remembering) -> None:
    swaps = {RULE: "        enter_long = (rsi < 30) & (close < close[-1])\n"}
    failed = refused(world, sandbox, ChangedCoder(lambda files: swap(files, swaps)))
    assert {"pytest", "lookahead"} <= set(failed)


def test_a_refused_run_can_be_looked_at(
    world: World, sandbox: Remembering, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    coder = ChangedCoder(lambda files: swap(files, {HEAD: HEAD + "import os\n"}))
    name = run(world, sandbox, coder=coder).correlation_id
    out = tmp_path / "report"
    assert main(["report", name, "--repository", str(world.work), "--out", str(out)]) == 0
    assert "imports" in capsys.readouterr().out
    assert json.loads((out / "gates.json").read_text("utf-8"))["passed"] is False
    assert main(["status", "--repository", str(world.work), "--json"]) == 0
    assert "blocked" in capsys.readouterr().out


@dataclass
class Learner:
    """Writes nonsense until it is told twice what is wrong."""

    rounds: int = 3
    name = "agent"
    heard: list[tuple[Failure, ...]] = field(default_factory=list)

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        self.heard.append(failures)
        candidate = TemplateCoder().write(contract, contract_path)
        if len(failures) == 2:
            return candidate
        files = {**candidate.files, STRATEGY: "import os\n"}
        return Candidate(files, "agent", "some-model", candidate.prompt_hash)


def test_a_coder_with_rounds_left_is_told_what_failed(world: World, sandbox: Remembering) -> None:
    coder = Learner()
    assert run(world, sandbox, coder=coder).status == "proposed"
    assert [len(failures) for failures in coder.heard] == [0, 1, 2]
    assert "imports" in [verdict.name for verdict in coder.heard[1][0].verdicts]
    names = [event.name for event in events(world)]
    assert names.count(EventName.TODO_CREATED) == 2
    assert names[-1] is EventName.PR_OPENED


def test_a_coder_without_rounds_left_is_blocked(world: World, sandbox: Remembering) -> None:
    coder = Learner(rounds=2)
    before = world.refs()
    assert run(world, sandbox, coder=coder).status == "blocked"
    assert len(coder.heard) == 2
    assert world.refs() == before


@dataclass(frozen=True)
class Broken:
    """A sandbox that stops working after it was opened."""

    name: str = "broken"

    def run(self, job: Job) -> Outcome:
        raise SandboxUnavailable("the sandbox broke down", "Try again.")


def test_a_sandbox_that_breaks_down_is_the_worlds_fault(world: World) -> None:
    before = snapshot(world)
    with pytest.raises(WorldError, match="broke down") as stop:
        run(world, Broken())  # type: ignore[arg-type]
    assert stop.value.exit_code == 4
    assert snapshot(world) == before
    assert world.left_behind() == []
    shop = open_shop(world, Broken())  # type: ignore[arg-type]
    assert shop.forge.pulls() == ()
    # It is over: `status` does not call it running.
    assert [standing.status for standing in read_standings(shop.repository)] == ["blocked"]


@dataclass
class HalfWay:
    """A sandbox that works for some jobs, and then its engine is stopped."""

    inner: Remembering
    left: int
    name: str = "half-way"

    def run(self, job: Job) -> Outcome:
        self.left -= 1
        if self.left < 0:
            raise SandboxUnavailable("the engine was stopped", "Start it again.")
        return self.inner.run(job)


@pytest.mark.parametrize("jobs", [1, 4, 6])
def test_an_engine_stopped_half_way_leaves_nothing_half_written(
    jobs: int, world: World, sandbox: Remembering, tmp_path: Path
) -> None:
    before = snapshot(world)
    memory = Memory(tmp_path / "answers")
    with pytest.raises(WorldError, match="engine was stopped") as stop:
        run(world, HalfWay(sandbox, jobs), memory=memory)  # type: ignore[arg-type]
    assert stop.value.exit_code == 4
    assert snapshot(world) == before
    assert world.left_behind() == []
    assert not memory.folder.exists()
    again = run(world, sandbox, memory=memory)
    assert (again.status, again.remembered) == ("proposed", frozenset())
