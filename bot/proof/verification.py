"""Says whether a tag's evidence holds: runs the whole line again from the tag's own commit."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.coder.port import Coder
from bot.contract.model import Contract
from bot.errors import InputError, WorldError
from bot.git.repository import Repository
from bot.proof.edges import Prover
from bot.proof.findings import Finding, Outcome, Stop, Verification
from bot.proof.seal_check import Claim, SealCheck
from bot.proof.second_run import SecondRun

Elsewhere = Callable[[str, Claim, Repository], Verification]
"""Lets the product and the tools that a claim names check a tag.

Raises WorldError where they cannot be had.
"""


@dataclass(frozen=True)
class Checker:
    """Holds what checking a tag needs."""

    open_coder: Callable[[Contract], Coder]  # opens the coder that a contract and the settings name
    # Opens the sandbox and what else the gates need; None leaves out what they say.
    open_prover: Callable[[], Prover] | None = None
    # Asks the version that made the tag, where that is not this one.
    elsewhere: Elsewhere | None = None
    signers: tuple[str, ...] = ()  # the bot's public keys, as the base branch's settings name them


def verify(tag: str, repository: Repository, checker: Checker, expected: str = "") -> Verification:
    """Check everything that a tag claims, by computing it again.

    Args:
        tag: whose claims.
        repository: where it is.
        checker: what checking needs.
        expected: the commit that is meant, where one is: a tag that names another is refused.

    Raises:
        InputError: there is no such tag, or not enough of its history.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        raise InputError(f"there is no tag {tag}", "List them with: git tag --list 'ai/*'")
    if expected not in ("", commit):
        raise InputError(f"{tag} names {commit[:12]}, not {expected[:12]}", "Tags never move.")
    sealed = SealCheck(tag, commit, repository)
    found: list[Finding] = []
    left_out: tuple[str, ...] = ()
    try:
        found += sealed.check()
        # Where something was changed, it is named by now; what follows would only repeat it.
        if all(finding.holds for finding in found):
            left_out = _compute_again(sealed, found, checker)
    except Stop as stop:
        found.append(stop.finding)
    except WorldError as error:
        detail = f"{error.message}. {error.hint}".rstrip(". ")
        found.append(Finding("here", Outcome.CANNOT_CHECK, detail))
    return Verification(tuple(found), left_out)


def _compute_again(sealed: SealCheck, found: list[Finding], checker: Checker) -> tuple[str, ...]:
    """Run the line again, the cheapest parts first, and add to the findings; give what is left."""
    try:
        again = SecondRun(sealed, checker.open_coder)
        for finding in again.check():
            found.append(finding)
            if not finding.holds:
                return ()
        other = again.other_makers()
        if other is not None:
            if checker.elsewhere is None or checker.open_prover is None:
                raise Stop("made with", Outcome.CANNOT_CHECK, other)
            asked = checker.elsewhere(sealed.tag, sealed.claim, sealed.repository)
            found += asked.findings
            return asked.left_out
        found += again.check_results()
        if not all(finding.holds for finding in found):
            return ()
        found += again.origin(checker.signers)
        if checker.open_prover is None:
            return again.left_out
        found += again.check_all(checker.open_prover())
    except InputError as error:
        raise Stop("contract", Outcome.NOT_VERIFIED, error.message) from None
    return ()
