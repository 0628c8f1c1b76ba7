"""Questions about files of our own to Freqtrade's answers, in a process without a sandbox."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bot.gates.freqtrade.installation import VARIABLE

HARNESS = Path(__file__).resolve().parents[1] / "sandbox_runner/harness/ask_freqtrade.py"


def interpreter() -> str:
    """The Python that has Freqtrade."""
    named = os.environ.get(VARIABLE)
    return str(Path(named) / "bin" / "python") if named else sys.executable


def ask_freqtrade(requests: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Let Freqtrade answer.

    Raises:
        RuntimeError: it failed, with its last words.
    """
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(requests), "utf-8")
    command = [interpreter(), "-W", "ignore", str(HARNESS), str(question), str(answer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Freqtrade failed:\n{done.stderr[-2000:]}")
    answers: list[dict[str, Any]] = json.loads(answer.read_text("utf-8"))
    return answers
