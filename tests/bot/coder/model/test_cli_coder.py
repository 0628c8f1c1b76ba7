"""Claude Code writes files without a shell or settings, and is not taken at its word."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.coder.constitution import ConstitutionViolated
from bot.coder.model.cli_coder import CliCoder, find_program, trouble
from bot.coder.model.client import MessagesApi
from bot.coder.model.file_coder import Bench
from bot.coder.model.loop import NotWritten
from bot.coder.model.session import SESSION, read_session
from bot.errors import InputError, WorldError
from bot.settings import CoderSettings
from tests.bot.coder.model.scripts import PATH, TEXT, contract, right
from tests.doubles.model.messages_api import KEY

STRATEGY = "Backtest/codes/oversold_dip.py"
USED = {"claude-sonnet-5-5": {"inputTokens": 1000, "outputTokens": 500}}
GOOD = {"type": "result", "subtype": "success", "is_error": False, "permission_denials": [],
        "result": "done", "total_cost_usd": 0.01, "modelUsage": USED}  # fmt: skip
# Stands for the program: writes what it is told, and keeps how it was called.
DOUBLE = """#!{python}
import json, os, pathlib, sys, time
told = json.loads(pathlib.Path({told!r}).read_text())
seen = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(),
         "shown": pathlib.Path("contracts/x.yaml").read_text(),
         "files": sorted(str(p) for p in pathlib.Path(".").rglob("*") if p.is_file())}}
pathlib.Path({told!r} + ".seen").write_text(json.dumps(seen))
for path, text in told["writes"].items():
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode("utf-8", "surrogateescape"))
time.sleep(told.get("sleeps", 0))
print(told["says"])
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("BROKER_TOKEN", "another secret")
    return tmp_path / "told.json"


def run(
    told: Path,
    writes: dict[str, str],
    says: Any = GOOD,
    sleeps: float = 0,
    root: Path | None = None,
    **settings: Any,
) -> Any:
    words = says if isinstance(says, str) else json.dumps(says)
    told.write_text(json.dumps({"writes": writes, "says": words, "sleeps": sleeps}))
    program = told.with_name("claude")
    program.write_text(DOUBLE.format(python=sys.executable, told=str(told)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    given = CoderSettings(**{"cli_path": str(program), **settings})
    held = {"contracts/x.yaml": b"x: another secret\n"}
    bench = Bench(given, MessagesApi, snapshot=lambda: held, root=root)
    made = contract(TEXT.replace("coder: agent", "coder: cli"))
    return CliCoder(bench).write(made, PATH)


def test_it_gets_the_task_a_home_of_its_own_and_no_shell(told: Path) -> None:
    made = run(told, {STRATEGY: right()})
    assert made.files[STRATEGY] == right()
    assert (made.coder, made.turns, made.cost) == ("cli", 1, 10_001)
    session = read_session(made.evidence[SESSION])
    assert (session.coder, session.tools) == ("cli", "")
    seen = json.loads(told.with_name("told.json.seen").read_text())
    argv = seen["argv"]
    assert argv[0] == "-p"
    assert argv[argv.index("--tools") + 1] == "Read,Write,Edit,Glob,Grep"
    # What is allowed by name is allowed outside of the folder too.
    allowed = argv[argv.index("--allowedTools") + 1].split(",")
    assert all(name.startswith("mcp__stratwright__") for name in allowed)
    assert argv[argv.index("--setting-sources") + 1] == ""
    # What the session says that it was told is what it was told.
    assert argv[argv.index("--append-system-prompt") + 1] == session.system
    assert "text that others wrote" in session.system
    assert "finish" not in session.system.split("4. ")[1]
    assert {"--strict-mcp-config", "--restricted"} <= set(argv)
    assert argv[argv.index("--add-dir") + 1] == seen["cwd"]
    assert argv[argv.index("--max-budget-usd") + 1] == "2.000000"
    assert seen["env"]["ANTHROPIC_API_KEY"] == KEY
    assert "BROKER_TOKEN" not in seen["env"]
    assert seen["env"]["HOME"] != os.environ["HOME"]
    assert not Path(seen["env"]["HOME"]).exists()
    assert "contracts/x.yaml" in seen["files"]
    assert seen["shown"] == "x: [redacted]\n"


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ({**GOOD, "is_error": True, "result": "API Error"}, "API Error"),
        ({**GOOD, "permission_denials": [{"tool_name": "Write"}]}, "a tool was denied"),
        ({**GOOD, "subtype": "error_max_turns"}, "error_max_turns"),
        ({key: value for key, value in GOOD.items() if key != "is_error"}, "success"),
        ({key: value for key, value in GOOD.items() if key != "permission_denials"}, "denied"),
    ],
)
def test_success_is_not_taken_at_its_word(says: dict[str, Any], reason: str) -> None:
    assert reason in trouble(says)


def test_what_went_wrong_ends_the_round_with_its_cost(told: Path) -> None:
    with pytest.raises(NotWritten, match="a tool was denied") as stopped:
        run(told, {}, {**GOOD, "permission_denials": [{"tool_name": "Bash"}]})
    assert stopped.value.cost == 10_001
    with pytest.raises(WorldError, match="no answer that can be read"):
        run(told, {}, "Error: unknown option")
    with pytest.raises(WorldError, match="took longer than") as stopped:
        run(told, {}, sleeps=30, timeout_seconds=0.5)
    assert stopped.value.cost == 2_000_000  # nobody can tell, so the most that it could
    with pytest.raises(NotWritten, match="not UTF-8"):
        run(told, {STRATEGY: "x = '\udcff'\n"})


def test_what_does_not_start_costs_nothing(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = told.with_name("broken")
    broken.write_text("neither a script nor a program\n")
    broken.chmod(0o700)
    with pytest.raises(WorldError, match="cannot be started") as stopped:
        run(told, {}, cli_path=str(broken))
    assert stopped.value.cost == 0
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://models.example")
    with pytest.raises(InputError, match="in the clear"):
        run(told, {})
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(InputError, match="no key"):
        run(told, {})
    assert not told.with_name("told.json.seen").exists()
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    run(told, {STRATEGY: right()}, max_cost_per_day_usd=2.0)  # all of the day's money is there


def test_no_program_of_the_repository_is_given_the_key(
    told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(told.parent)
    for named in (str(told.with_name("claude")), "./claude"):
        with pytest.raises(InputError, match="of the repository itself"):
            run(told, {}, root=told.parent, cli_path=named)
    assert not told.with_name("told.json.seen").exists()


@pytest.mark.parametrize("path", ["contracts/x.yaml", "bot/cli.py", ".git", "CLAUDE.md"])
def test_what_it_changed_beyond_the_plan_ends_the_task(told: Path, path: str) -> None:
    with pytest.raises(ConstitutionViolated) as stopped:
        run(told, {STRATEGY: right(), path: "mine\n"})
    assert stopped.value.paths == [path]


def test_without_the_program_it_says_how_to_get_it(told: Path) -> None:
    assert find_program("no-such-claude") is None
    made = contract(TEXT.replace("coder: agent", "coder: cli"))
    coder = CliCoder(Bench(CoderSettings(cli_path="no-such-claude"), MessagesApi))
    with pytest.raises(InputError, match="needs the program"):
        coder.write(made, PATH)
