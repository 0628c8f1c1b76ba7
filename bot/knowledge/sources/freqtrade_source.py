"""Asks the installed Freqtrade, in its own environment, and turns the answer into facts."""

import json
import subprocess
import sys
from pathlib import Path

from bot.errors import WorldError
from bot.gates.freqtrade.installation import HOW_TO_INSTALL, find_freqtrade
from bot.knowledge.facts import Fact, Finding

_PROBE = Path(__file__).with_name("freqtrade_probe.py")
_TIMEOUT_S = 180


def read_freqtrade() -> Finding:
    """Runs the probe.

    Raises:
        ModuleNotFoundError: Freqtrade is not installed.
        WorldError: it is, and does not answer.
    """
    packages = find_freqtrade()
    if packages is None:
        raise ModuleNotFoundError(f"Freqtrade is not installed: {HOW_TO_INSTALL}")
    own = packages.parents[2] / "bin" / "python"
    python = str(own) if own.is_file() else sys.executable
    command = [python, "-I", "-W", "ignore", str(_PROBE)]
    try:
        told = subprocess.run(  # noqa: S603  a fixed program with a fixed argument
            command, capture_output=True, timeout=_TIMEOUT_S, check=True, text=True
        )
    except (subprocess.SubprocessError, OSError) as error:
        reason = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1:]
        raise WorldError(f"Freqtrade did not answer: {''.join(reason)}", HOW_TO_INSTALL) from None
    answer = json.loads(told.stdout)
    facts = tuple(Fact(*row) for row in answer["rows"])
    return Finding("Freqtrade", answer["version"], facts)
