"""What binds is read from the pages that are installed with the product, and from nowhere else."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bot.knowledge.pages import SHIPPED
from sandbox_runner.jobs import tool_job
from sandbox_runner.port import Job
from sandbox_runner.rules import IMPORTS, LIMITS, RULES, SECURITY, STYLE, USUAL_LIMITS, read_block

ROOT = Path(__file__).parents[2]
HOSTILE = "import os\n\nNAMES = os.listdir('.')\n"


def test_the_rules_are_pages_of_the_brain_that_ships() -> None:
    assert RULES == SHIPPED / "rules"
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "brain" in packed["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def test_no_list_stands_a_second_time() -> None:
    assert not (ROOT / "bot/gates/static/lists").exists()
    pages = sorted(ROOT.glob("brain/**/*.md"))
    stated = [path for path in pages if "\n[python]\n" in path.read_text("utf-8")]
    assert [path.name for path in stated] == [IMPORTS]


def test_the_limits_of_a_job_are_those_of_rule_004() -> None:
    job = Job(("python",), {})
    assert (job.timeout_s, job.memory_mb) == (USUAL_LIMITS.time_s, USUAL_LIMITS.memory_mb)
    told = (job.processes, job.output_limit, job.file_limit_mb)
    assert told == (LIMITS["processes"], LIMITS["output_bytes"], LIMITS["file_mb"])


def test_the_longest_line_is_that_of_rule_002() -> None:
    longest = read_block(STYLE, "style")["max_line_length"]
    job = tool_job("flake8", {"a.py": b""}, ("a.py",))
    assert f"--max-line-length={longest}" in job.command


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A user's repository with a brain that lets everything in."""
    rules = tmp_path / "brain" / "rules"
    (rules / "lists").mkdir(parents=True)
    for page in RULES.glob("*.md"):
        text = page.read_text("utf-8").replace("[python]\n", '[python]\nos = ["listdir"]\n', 1)
        (rules / page.name).write_text(text, "utf-8")
    listed = json.loads((RULES / "lists/python.json").read_text("utf-8"))
    (rules / "lists/python.json").write_text(json.dumps({**listed, "doors": []}))
    (tmp_path / "bot").mkdir()
    (tmp_path / "steal.py").write_text(HOSTILE)
    return tmp_path


@pytest.mark.parametrize("way", ["-m bot.cli", "the command"])
def test_a_brain_in_the_users_repository_changes_no_rule(planted: Path, way: str) -> None:
    scripts = Path(sys.executable).with_name("stratwright")
    command = [sys.executable, "-P", "-m", "bot.cli"] if way == "-m bot.cli" else [str(scripts)]
    quiet = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = subprocess.run([*command, "check", "steal.py", "--json"], cwd=planted, env=quiet,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert said.returncode == 1, said.stderr
    assert "os" in said.stdout


def test_the_planted_page_would_let_os_in(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # So what holds is the place that the pages are read from.
    monkeypatch.setattr("sandbox_runner.rules.RULES", planted / "brain" / "rules")
    assert read_block.__wrapped__(IMPORTS, "modules")["python"]["os"] == ["listdir"]


def test_every_block_is_toml() -> None:
    for page, names in {IMPORTS: ["modules"], STYLE: ["style"],
                        SECURITY: ["limits", "values", "review"]}.items():  # fmt: skip
        for name in names:
            assert read_block(page, name)
