"""Real Freqtrade for the tests: installed beside us, or in the environment that is named."""

import subprocess
from pathlib import Path

import pytest

from tools.freqtrade_answers import interpreter

ROOT = Path(__file__).parents[2]
needs_freqtrade = pytest.mark.freqtrade


def run_python(code: str) -> str:
    """What some lines print in Freqtrade's environment."""
    command = [interpreter(), "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
