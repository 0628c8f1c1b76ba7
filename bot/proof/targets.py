"""Decides which targets of a contract are delivered; says what cannot be proven and is left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.coder.port import Candidate
from bot.contract.model import Contract
from bot.errors import WorldError
from bot.gates.freqtrade.installation import HOW_TO_INSTALL, freqtrade_version
from bot.locks.pins import locked_version

FREQTRADE = "freqtrade"
NOT_DELIVERED = (
    "freqtrade: not delivered, Freqtrade 2026.9 is not installed here; "
    f"{HOW_TO_INSTALL}; on GitHub, write freqtrade: true in stratwright.yml"
)


@dataclass(frozen=True)
class Targets:
    """Says which files a candidate is proposed with."""

    # Whether the Freqtrade file is among them, and so the gate `freqtrade-parity`.
    freqtrade: bool = False
    # What the contract asked for and does not get, and what others cannot verify, one sentence each
    notes: tuple[str, ...] = ()
    # The folder of packages with Freqtrade; None where recorded answers are judged.
    packages: Path | None = None
    in_git: bool = True  # whether the commit that it stands on holds the candles

    @property
    def freqtrade_version(self) -> str:
        """The version of the Freqtrade that proves its file: the one here, else the lock's."""
        if not self.freqtrade:
            return ""
        return freqtrade_version(self.packages) if self.packages else locked_version("freqtrade")

    def without_candles(self, absent: Sequence[str]) -> "Targets":
        """The same, with a note for each file of candles that Git does not have."""
        warning = "is not in Git: commit it, or nobody else can verify what is proposed"
        notes = (*self.notes, *(f"{file} {warning}" for file in absent))
        return replace(self, notes=notes, in_git=not absent)

    def generator(self, version: str) -> str:
        """The generator as a run's name counts it: a run that delivers more has another name.

        So has one whose candles came into Git since: its commit can be verified by others.
        """
        named = f"{version}+{FREQTRADE}" if self.freqtrade else version
        return named if self.in_git else f"{named}+candles outside Git"

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
    """Find out what of a contract can be proven with the packages that have Freqtrade, if any.

    `elsewhere` says that another job has Freqtrade: then its answers are judged here.

    Raises:
        WorldError: something cannot be proven and, by `strict`, may not be left out.
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
