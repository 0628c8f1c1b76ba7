"""Runs the line again for a tag and the commit that is meant, and says in words what came of it."""

from collections.abc import Callable

from bot.git.repository import Repository
from bot.proof.edges import Prover
from bot.proof.other_version import trusted_places, verify_elsewhere
from bot.proof.verification import Checker, verify
from bot.settings import Settings
from bot.workshop import open_coder


def verify_commit(
    repository: Repository,
    tag: str,
    commit: str,
    open_prover: Callable[[], Prover],
    wheels: list[str] | None = None,
    sandbox: str = "auto",
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """Compute a tag's evidence again; gives `holds`, or the outcome and the first thing wrong.

    Args:
        repository: where the tag is.
        tag: its name.
        commit: what it has to name; empty for whatever it names.
        open_prover: opens the sandbox.
        wheels: where another version of the product may come from.
        sandbox: the sandbox that such a version uses.
        say: is told how it goes.

    Raises:
        InputError: there is no such tag, or it names another commit.
    """
    places = trusted_places(wheels)
    checker = Checker(
        lambda contract: open_coder(contract, Settings()),
        open_prover,
        lambda name, claim, where: verify_elsewhere(name, claim, where, places, sandbox, say),
    )
    found = verify(tag, repository, checker, commit)
    wrong = next((each for each in found.findings if not each.holds), None)
    detail = f": {wrong.name}: {wrong.detail}" if wrong else ""
    return f"{found.outcome}{detail}"
