"""Real Freqtrade for the tests: installed beside us, or in the environment that is named."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.freqtrade_place import VARIABLE, find_freqtrade

ROOT = Path(__file__).parents[2]
needs_freqtrade = pytest.mark.skipif(
    find_freqtrade() is None,
    reason=f"needs Freqtrade: pip install '.[freqtrade]', or {VARIABLE}=<environment with it>",
)


def interpreter() -> str:
    named = os.environ.get(VARIABLE)
    return str(Path(named) / "bin" / "python") if named else sys.executable


def ask(requests: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Let Freqtrade answer, in a process of its own."""
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(requests), "utf-8")
    harness = ROOT / "sandbox_runner" / "freqtrade_harness.py"
    command = [interpreter(), str(harness), str(question), str(answer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[dict[str, Any]] = json.loads(answer.read_text("utf-8"))
    return answers


def run_python(code: str) -> str:
    """What some lines print in Freqtrade's environment."""
    command = [interpreter(), "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
