"""Notes in the ledger what is tried and opened outside the line, before anything is shown."""

from collections.abc import Iterable
from pathlib import Path

from bot.contract.digest import contract_digest
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.errors import InputError
from bot.git.repository import open_repository
from bot.proof.trial_ledger import Scope, TrialLedger, scope_of
from bot.settings import FILE as SETTINGS
from bot.sweep.runs import timeline
from bot.sweep.search import name_of_try
from bot.sweep.space import Values


def note_opening(contract: Contract, data: MarketData, root: Path) -> str:
    """Write down that a contract's sealed candles are opened; gives what there is to say of it.

    Raises:
        InputError: the contract seals nothing, or there is no repository to write it into.
        SafetyStop, WorldError: as the ledger.
    """
    if contract.data.holdout is None:
        hint = "Seal some: data: {..., holdout: 2024-06-01}."
        raise InputError("the contract has no data.holdout to open", hint)
    ledger = TrialLedger(open_repository(root))
    scope = _scope(contract, data)
    before = ledger.before(ledger.read(alone=True), scope).openings
    ledger.note(ledger.opening(scope, contract_digest(contract)), publish=False)
    return (
        f"sealed candles of {contract.workflow} from {contract.data.holdout} on: opened now, and"
        f" {before} times before; what is chosen by them is not judged by them"
    )


def note_tries(
    contract: Contract, data: MarketData, root: Path, command: str, sets: Iterable[Values]
) -> int | None:
    """Write down the sets of a search, and count all of this workflow on these candles.

    None outside a repository that the bot was set up in: there is no ledger then.

    Raises:
        SafetyStop, WorldError: as the ledger.
    """
    if not (root / SETTINGS).is_file():
        return None
    ledger = TrialLedger(open_repository(root))
    scope = _scope(contract, data)
    names = {name_of_try(contract, values) for values in sets}
    known = ledger.before(ledger.read(alone=True), scope).tries
    if not names <= known:
        ledger.note(ledger.entry(scope, command, names - known), publish=False)
    return len(known | names)


def _scope(contract: Contract, data: MarketData) -> Scope:
    times = timeline(data.candles)
    return scope_of(contract, int(times[0]), int(times[-1]))
