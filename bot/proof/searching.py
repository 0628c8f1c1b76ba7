"""Carries a contract's search out on the line: before it is written, and again where it is checked.

What a search found stands in the contract that goes onto the branch; how it was found, and what it
is worth, stands in the evidence. Both are computed again by whoever checks them.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.contract.digest import contract_digest
from bot.contract.found import as_searched, is_found, with_found
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.errors import InputError, StratwrightError
from bot.files import path_in_repository
from bot.gates.port import Verdict
from bot.git.repository import Repository
from bot.proof.findings import Outcome, Stop
from bot.proof.trial_ledger import (
    Scope,
    TrialLedger,
    overtaken,
    scope_of,
    search_name,
)
from bot.settings import FILE as SETTINGS
from bot.settings import LuckPolicy, parse_settings
from bot.sweep.runs import timeline
from bot.sweep.search import FILE, Before, Search, carry_out_search, name_of_try

GATE = "luck"


@dataclass(frozen=True)
class Searched:
    """Holds a search that was made: its answer, its name in the ledger, and all that it tried."""

    search: Search
    name: str
    scope: Scope
    tries: frozenset[str] = frozenset()


def policy_of(repository: Repository, commit: str) -> LuckPolicy:
    """Read the policy of a commit of the base branch; a candidate's own never counts."""
    return parse_settings(repository.read(commit, SETTINGS)).luck


def find_values(
    loaded: LoadedContract, data: MarketData, repository: Repository, say: Callable[[str], None]
) -> tuple[LoadedContract, Searched | None]:
    """Search where a contract asks for it, and write what was found into its text.

    Nothing is searched again once the base branch has the very contract and the evidence of its
    search by the lines of today: its own merge ends it.

    Raises:
        InputError: the search cannot be made, or a contract tells of one that comes out otherwise.
        SafetyStop, WorldError: as the ledger.
    """
    contract = loaded.strategy
    if contract.optimize is None:
        return loaded, None
    base = repository.base().commit
    if is_found(contract):
        path = path_in_repository(loaded.path, repository.root)
        if repository.read(base, path) == loaded.data:
            ended, merged = _merged(contract, data, base, repository)
            if ended:
                return loaded, merged
    asked = as_searched(contract)
    say(f"{contract.workflow}/{contract.task}: searching {asked.optimize.trials} sets")  # type: ignore[union-attr]
    ledger = TrialLedger(repository)
    # What waits here would overtake the search else.
    ledger.publish_waiting()
    scope, name = _names(asked, data)
    before = ledger.before(ledger.read(), scope, name)
    found = make_search(asked, data, policy_of(repository, base), before)
    if is_found(contract):
        if not _tells_of(contract, found.search):
            hint = "Take `optimized` out of the contract; `run` searches then."
            raise InputError("`optimized` tells of a search that comes out otherwise here", hint)
        return loaded, found
    form = FORMS[loaded.path.suffix.lower()]
    written = with_found(loaded.data, form, found.search.values, found.search.optimized)
    return parse_contract(written, form, loaded.path), found


def make_search(asked: Contract, data: MarketData, policy: LuckPolicy, before: Before) -> Searched:
    """Search, and judge what was found beside what was tried before."""
    scope, name = _names(asked, data)
    search, played = carry_out_search(asked, data.candles, data.digest, policy, before)
    return Searched(search, name, scope, frozenset(name_of_try(asked, each) for each in played))


def _names(asked: Contract, data: MarketData) -> tuple[Scope, str]:
    times = timeline(data.candles)
    scope = scope_of(asked, int(times[0]), int(times[-1]))
    return scope, search_name(asked, contract_digest(asked), data.digest)


def _tells_of(contract: Contract, search: Search) -> bool:
    """Say whether a contract has the very values that a search found, and tells of that one."""
    values = {name: contract.parameters[name].default for name in search.values}
    return search.optimized == contract.optimized and search.values == values


def _merged(
    contract: Contract, data: MarketData, base: str, repository: Repository
) -> tuple[bool, Searched | None]:
    """Say whether the base branch has the search that this very contract tells of, by its lines of
    today; and give it, if it is of these candles.
    """
    content = repository.read(base, f"artifacts/{contract.workflow}/{contract.task}/{FILE}")
    try:
        told: Any = json.loads(content or b"")
        search = Search(told)
        if not _tells_of(contract, search):
            return False, None
        if told["candles"]["digest"] != data.digest:
            return True, None
        drawn = {line["name"]: line["asked"] for line in told["lines"]}
        drawn["worlds"] = told["luck"]["worlds"]
        unseen = set() if told["walk_forward"] else {"min_unseen_sharpe"}
    except (ValueError, TypeError, KeyError):
        return False, None
    if drawn != policy_of(repository, base).model_dump(exclude_none=True, exclude=unseen):
        return False, None
    return True, Searched(search, "", _names(as_searched(contract), data)[0])


def refuse_missing(contract: Contract, data: MarketData, contract_path: str, sealed: Any) -> None:
    """Stop at a tag without its search, unless its base had the very contract and no search of
    these candles.

    Raises:
        Stop: the search is missing.
    """
    if contract.optimize is None:
        return
    merged = sealed.repository.read(sealed.parent, contract_path) == sealed.read(contract_path)
    found = is_found(contract) and merged
    if not found or _merged(contract, data, sealed.parent, sealed.repository) != (True, None):
        raise Stop("search", Outcome.BROKEN, f"{FILE} is missing")


def note_search(searched: Searched | None, repository: Repository) -> None:
    """Write the sets of a search into the ledger, once, and publish what waits here.

    Raises:
        SafetyStop, WorldError: as the ledger; also where somebody else was quicker.
    """
    ledger = TrialLedger(repository)
    if searched is None or not searched.tries:
        ledger.publish_waiting()
        return
    chain = ledger.publish()
    if ledger.own(chain, searched.name) is None:
        after = int(searched.search.told["ledger"]["sequence"])
        more = {"search": searched.name, "after": after}
        entry = ledger.entry(searched.scope, "run", searched.tries, **more)
        ledger.note(entry, publish=True)


def search_again(
    contract: Contract, data: MarketData, content: bytes, parent: str, repository: Repository
) -> Searched:
    """Make the search of a tag again, as the ledger knew it then.

    Raises:
        Stop: the evidence tells of another search, or the ledger does not have it.
    """
    asked = as_searched(contract)
    scope, name = _names(asked, data)
    if not is_found(contract):
        raise Stop("search", Outcome.BROKEN, "the contract does not tell of the search")
    try:
        ledger = TrialLedger(repository)
        chain = ledger.read()
    except StratwrightError as error:
        raise Stop("ledger", Outcome.CANNOT_CHECK, error.message) from None
    own = ledger.own(chain, name)
    if own is None:
        detail = f"no entry of {len(chain.entries)} here is of this search"
        raise Stop("ledger", Outcome.NOT_VERIFIED, detail)
    if own.scope != scope:
        raise Stop("ledger", Outcome.BROKEN, "its entry is of other work or candles")
    if overtaken(own, chain):
        raise Stop("ledger", Outcome.BROKEN, "its entry leaves out tries that were there before")
    before = ledger.before(chain, scope, name)
    try:
        found = make_search(asked, data, policy_of(repository, parent), before)
    except StratwrightError as error:
        raise Stop("search", Outcome.CANNOT_CHECK, error.message) from None
    if found.search.content != content:
        optuna = found.search.told["optuna"]
        other = optuna is not None and f'"optuna": {json.dumps(optuna)}'.encode() not in content
        outcome = Outcome.CANNOT_CHECK if other else Outcome.BROKEN
        raise Stop("search", outcome, f"{FILE} comes out otherwise" + " by another Optuna" * other)
    if not _tells_of(contract, found.search):
        raise Stop("search", Outcome.BROKEN, "the contract has other values than the search found")
    if {*own.names} != found.tries:
        raise Stop("ledger", Outcome.BROKEN, "its entry names other sets than the search tries")
    return found


def judge_luck(searched: Searched) -> Verdict:
    """Judge whether the best set of a search may be luck, by the lines of the policy."""
    lines = searched.search.told["lines"]
    failed = [line for line in lines if not line["met"]]
    figure = f"{len(lines) - len(failed)} of {len(lines)} lines met" if lines else "nothing asked"
    if not failed:
        return Verdict(GATE, True, figure)
    reason = "; ".join(
        f"{line['name']} is {line['asked']:g}, the search has "
        + ("none" if line["found"] is None else f"{line['found']:.6g}")
        for line in failed
    )
    step = (
        "search less, give more history, or change the rules; the lines are `luck` in " + SETTINGS
    )
    return Verdict(GATE, False, figure, reason, "optimize", step, "found")
