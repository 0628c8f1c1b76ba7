"""Decides which targets of a contract are delivered; says what cannot be proven and is left out."""

from dataclasses import dataclass, replace
from pathlib import Path

from bot.coder.port import Candidate
from bot.contract.model import Contract
from bot.errors import WorldError
from bot.gates.freqtrade.installation import VARIABLE, freqtrade_version
from bot.locks.pins import locked_version

FREQTRADE = "freqtrade"
NOT_DELIVERED = (
    "freqtrade: not delivered, Freqtrade 2026.9 is not installed here; "
    f"install stratwright[freqtrade] or set {VARIABLE}"
)


@dataclass(frozen=True)
class Targets:
    """Says which files a candidate is proposed with.

    Attributes:
        freqtrade: whether the Freqtrade file is among them, and so the gate `freqtrade-parity`.
        notes: what the contract asked for and does not get, one sentence each.
        packages: the folder of packages with Freqtrade; None where recorded answers are judged.
    """

    freqtrade: bool = False
    notes: tuple[str, ...] = ()
    packages: Path | None = None

    @property
    def freqtrade_version(self) -> str:
        """The version of the Freqtrade that proves its file: the one here, else the lock's."""
        if not self.freqtrade:
            return ""
        return freqtrade_version(self.packages) if self.packages else locked_version("freqtrade")

    def generator(self, version: str) -> str:
        """The generator as a run's name counts it: a run that delivers more has another name."""
        return f"{version}+{FREQTRADE}" if self.freqtrade else version

    def kept(self, contract: Contract, candidate: Candidate) -> Candidate:
        """The candidate without the file that is not delivered."""
        if self.freqtrade:
            return candidate
        dropped = contract.freqtrade_file
        files = {path: text for path, text in candidate.files.items() if path != dropped}
        return replace(candidate, files=files)


ADAPTER_ONLY = Targets()


def decide_targets(
    contract: Contract, packages: Path | None, *, strict: bool = False, elsewhere: bool = False
) -> Targets:
    """Find out what of a contract can be proven.

    Args:
        contract: what was asked for.
        packages: the folder of packages with Freqtrade, if it is installed here.
        strict: refuse to leave a target out.
        elsewhere: whether another job has Freqtrade; then its answers are judged here.

    Raises:
        WorldError: it cannot be proven and may not be left out.
    """
    if FREQTRADE not in contract.targets:
        return ADAPTER_ONLY
    if packages is not None or elsewhere:
        return Targets(freqtrade=True, packages=packages)
    return left_out(contract, strict=strict)


def left_out(contract: Contract, *, strict: bool) -> Targets:
    """Leave the Freqtrade file out, if it may be.

    Raises:
        WorldError: it may not.
    """
    if strict or contract.targets == (FREQTRADE,):
        raise WorldError(
            f"{contract.name}: {NOT_DELIVERED}",
            "Or let it be left out: write targets: [adapter, freqtrade], without require_targets.",
        )
    return without_freqtrade(contract)


def without_freqtrade(contract: Contract) -> Targets:
    """Leave the Freqtrade file out, and say so where it was asked for."""
    asked = FREQTRADE in contract.targets
    return Targets(notes=(NOT_DELIVERED,)) if asked else ADAPTER_ONLY
