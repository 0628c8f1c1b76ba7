"""Finds where Freqtrade is installed: beside us, or in an environment of its own."""

import os
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from bot.errors import WorldError

VARIABLE = "STRATWRIGHT_FREQTRADE"
HOW_TO_INSTALL = (
    "pip install '.[freqtrade]' in a checkout of stratwright, or set "
    f"{VARIABLE} to an environment that has it"
)


def find_freqtrade() -> Path | None:
    """Finds the folder of packages that has Freqtrade; None if there is none.

    `STRATWRIGHT_FREQTRADE` names a virtual environment of the same Python that has Freqtrade;
    without it, Freqtrade is looked for among our own packages.

    Raises:
        WorldError: the environment that is named has none.
    """
    named = os.environ.get(VARIABLE, "")
    if named:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = Path(named) / "lib" / version / "site-packages"
        if (packages / "freqtrade" / "__init__.py").is_file():
            return packages
        raise WorldError(
            f"{VARIABLE} is set, and there is no Freqtrade in {packages}",
            f"Name a virtual environment of this Python that has Freqtrade, or unset {VARIABLE}.",
        )
    spec = find_spec("freqtrade")
    return Path(spec.origin).parents[1] if spec is not None and spec.origin else None


def freqtrade_version(packages: Path) -> str:
    """Gives the version of the Freqtrade in a folder of packages."""
    for found in metadata.distributions(name="freqtrade", path=[str(packages)]):
        return found.version
    return "unknown"
