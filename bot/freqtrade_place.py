"""Where Freqtrade is installed: beside us, or in an environment of its own."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from bot.contract.model import Contract
from bot.errors import WorldError

VARIABLE = "STRATWRIGHT_FREQTRADE"


def find_freqtrade() -> tuple[bool, Path | None]:
    """Whether Freqtrade can be run, and the folder of its packages if that is not our own.

    `STRATWRIGHT_FREQTRADE` names a virtual environment of the same Python that has Freqtrade.
    """
    named = os.environ.get(VARIABLE, "")
    if named:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = Path(named) / "lib" / version / "site-packages"
        return (packages / "freqtrade" / "__init__.py").is_file(), packages
    return find_spec("freqtrade") is not None, None


def require_freqtrade(contract: Contract) -> None:
    """Refuse to start on a contract whose gate `freqtrade-parity` cannot run here.

    Raises:
        WorldError: the contract has the target freqtrade, and Freqtrade is not installed.
    """
    if "freqtrade" not in contract.targets:
        return
    found, packages = find_freqtrade()
    if found:
        return
    place = f"in {packages}, which {VARIABLE} names" if packages else "on this machine"
    raise WorldError(
        f"{contract.name} has the target freqtrade, and there is no Freqtrade {place}: the gate "
        "freqtrade-parity could not run",
        "Install it with pip install 'stratwright[freqtrade]', or name an environment that has it "
        f"in {VARIABLE}, or write targets: [adapter].",
    )
