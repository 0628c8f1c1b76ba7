"""Reads the locks: which version of a package the action installs."""

import re
from pathlib import Path

FREQTRADE = Path(__file__).with_name("freqtrade.txt")
GITHUB = Path(__file__).with_name("github.txt")


def locked_version(name: str, lock: Path = FREQTRADE) -> str:
    """The version that a lock pins a package to.

    Raises:
        KeyError: the lock does not have it.
    """
    found = re.search(rf"^{re.escape(name)}==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise KeyError(name)
    return found[1]
