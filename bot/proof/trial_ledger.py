"""Keeps every set that was ever tried, and every opening of sealed candles, in a branch of its own.

The branch only grows and its entries are chained, as those of approvals are. What is tried without
a remote at hand waits in Git's own folder, is counted there, and is published by the next `run`.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import Field, RootModel, ValidationError

from adapters.clock import Clock
from bot.approval.chain import Chain, ChainEntry, Form, Seen, append, read_chain
from bot.approval.reasons import ApprovalRefused
from bot.approval.record import Closed, Digest, Text, Word, canonical, digest_of
from bot.clock import MACHINE_CLOCK
from bot.contract.model import Contract
from bot.errors import InputError, SafetyStop, WorldError
from bot.files import write_files
from bot.git.remote import StaleView
from bot.git.repository import Repository
from bot.sweep.search import Before

BRANCH = "stratwright/trials"
_ATTEMPTS = 20
_NAME = 16  # hexadecimal digits of a try
_PLACE_BYTES = 1_000  # more than an entry's place in the chain takes
Milliseconds = Annotated[int, Field(ge=-(10**15), le=10**15)]


class Scope(Closed):
    """Says what was tried, or opened: the work, and the candles."""

    workflow: Word
    task: Word
    symbols: Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000)]
    timeframe: Word
    first: Milliseconds
    last: Milliseconds

    def meets(self, other: "Scope", *, later: bool = False) -> bool:
        """Say whether another is of the same workflow, on candles that both have.

        `later`: or on such that come after this one's, of whatever timeframe.
        """
        return (
            self.workflow == other.workflow
            and (later or self.timeframe == other.timeframe)
            and bool({*self.symbols} & {*other.symbols})
            and self.first <= other.last
            and (later or other.first <= self.last)
        )


class Tried(ChainEntry):
    """The sets of one search, each by the digits of its name, without a space between."""

    kind: Literal["tried"] = "tried"
    scope: Scope
    command: Literal["run", "optimize", "sweep"]
    search: Digest | Literal[""]  # whose answer is in evidence, the search's own name
    after: Annotated[int, Field(ge=0)]  # the last entry that it counted
    tries: Annotated[str, Field(pattern=r"^(?:[0-9a-f]{16})+$")]

    @property
    def names(self) -> Iterator[str]:
        """Gives the names of the sets."""
        return (self.tries[at : at + _NAME] for at in range(0, len(self.tries), _NAME))


class Opened(ChainEntry):
    """Sealed candles that somebody looked at."""

    kind: Literal["opened"] = "opened"
    scope: Scope
    contract: Digest


class _Any(RootModel[Annotated[Tried | Opened, Field(discriminator="kind")]]):
    pass


_FORM = Form(_Any, 20_000_000)


@dataclass(frozen=True)
class TrialLedger:
    """Reads and writes the ledger of a repository."""

    repository: Repository
    clock: Clock = MACHINE_CLOCK

    def read(self, *, alone: bool = False) -> Chain:
        """Read all entries; a branch that does not go on from what was seen here is refused.

        Raises:
            SafetyStop: the branch was rewritten, or is no chain.
            WorldError: the remote does not answer.
        """
        for left in reversed(range(_ATTEMPTS)):
            try:
                branch = self.repository.side_branch(BRANCH)
                chain = read_chain(branch, self._seen(), alone=alone, form=_FORM)
                break
            except StaleView:  # another process here fetches it at the same moment
                if not left:
                    raise
            except ApprovalRefused as error:
                raise _rewritten(str(error.refusals[0])) from None
        if chain.seen is not None:
            write_files(self.repository.folder, {"trials_seen.json": json.dumps(vars(chain.seen))})
        return chain

    def note(self, entry: Tried | Opened, *, publish: bool) -> None:
        """Write an entry; one that is not published waits here, unless there is no remote.

        Raises:
            InputError: it is larger than anybody would read.
            SafetyStop, WorldError: as `read`.
        """
        if len(entry.data) > _FORM.most_bytes - _PLACE_BYTES:
            message = "the ledger takes no entry of so many sets: nobody could read it any more"
            raise InputError(message, "Ask for fewer trials or folds.")
        name = f"{self.clock.now().timestamp():020.6f}-{uuid4().hex}.json"
        write_files(self._waiting, {name: canonical(entry)})
        if publish or not self.repository.has_remote:
            self.publish()

    def publish(self) -> Chain:
        """Put everything that waits here into the branch, and give all of it.

        Raises:
            SafetyStop, WorldError: as `read`.
        """
        chain, late = self.read(), False
        branch = self.repository.side_branch(BRANCH)
        for path, waiting in self._outbox():
            for _ in range(_ATTEMPTS):
                if _has(chain, waiting):
                    break  # whoever wrote it died, or another one writes what waits here too
                sequence, previous = chain.next
                entry = waiting.model_copy(update={"sequence": sequence, "previous": previous})
                if isinstance(entry, Tried) and entry.search and overtaken(entry, chain):
                    # It counts as tried; what it says of its own worth does not hold any more.
                    entry, late = entry.model_copy(update={"search": ""}), True
                with suppress(StaleView):
                    chain = append(branch, chain, entry)
                    break
                chain = self.read()
            else:
                raise WorldError(f"{BRANCH} grows too quickly", "Run again.")
            path.unlink(missing_ok=True)
        if late:
            message = "somebody else tried sets of this workflow while the search was made"
            raise WorldError(message, "Run again: they count.")
        return self.read(alone=True)

    def publish_waiting(self) -> None:
        """Publish what waits here, if anything does.

        Raises:
            SafetyStop, WorldError: as `read`.
        """
        if self._waiting.is_dir() and any(self._waiting.glob("*.json")):
            self.publish()

    def before(self, chain: Chain, scope: Scope, search: str = "") -> Before:
        """Count what was tried before a search: before its own entry, if it has one."""
        own = self.own(chain, search)
        after = own.after if own is not None else len(chain.entries)
        entries = [*chain.entries[:after], *([] if search else self._waiting_entries())]
        return replace(
            counted(entries, scope),
            sequence=after,
            digest=chain.digests[after - 1] if after else "",
        )

    def own(self, chain: Chain, search: str) -> Tried | None:
        """Find the entry of a search; one that counted what came after it is none."""
        if not search:
            return None
        tried = (entry for entry in chain.entries if isinstance(entry, Tried))
        return next((e for e in tried if e.search == search and e.after < e.sequence), None)

    def entry(self, scope: Scope, command: str, names: Iterable[str], **more: Any) -> Tried:
        """Make the entry of some sets; its place in the chain is given when it is published."""
        known: dict[str, Any] = {"sequence": 1, "previous": "", "at": self._now()}
        tries = "".join(sorted({*names}))
        given = {"search": "", "after": 0, **more}
        return Tried(**known, scope=scope, command=command, tries=tries, **given)  # type: ignore[arg-type]

    def opening(self, scope: Scope, contract: str) -> Opened:
        """Make the entry of an opening."""
        return Opened(sequence=1, previous="", at=self._now(), scope=scope, contract=contract)

    def _now(self) -> int:
        return int(self.clock.now().timestamp())

    @property
    def _waiting(self) -> Path:
        return self.repository.folder / "trials"

    def _outbox(self) -> Iterator[tuple[Path, Any]]:
        if not self._waiting.is_dir():
            return
        for path in sorted(self._waiting.glob("*.json")):
            try:
                yield path, _Any.model_validate_json(path.read_bytes()).root
            except FileNotFoundError:
                continue  # somebody else published it
            except (OSError, ValidationError):
                hint = "Move the file away, and find out who wrote it."
                raise SafetyStop(f"{path} is no entry of the ledger", hint) from None

    def _waiting_entries(self) -> list[Any]:
        return [entry for _, entry in self._outbox()]

    def _seen(self) -> Seen | None:
        try:
            return Seen(**json.loads((self.repository.folder / "trials_seen.json").read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            raise _rewritten("what was seen of it cannot be read (trials_seen.json)") from None


def counted(entries: Iterable[Any], scope: Scope) -> Before:
    """Count the sets that were tried, and the openings, of one workflow on the same candles."""
    near = [entry for entry in entries if counts(entry, scope)]
    tries = frozenset(name for entry in near if isinstance(entry, Tried) for name in entry.names)
    return Before(tries=tries, openings=sum(isinstance(entry, Opened) for entry in near))


def counts(entry: Tried | Opened, scope: Scope) -> bool:
    """Say whether an entry counts for some candles; sealed ones come after what is searched."""
    return scope.meets(entry.scope, later=isinstance(entry, Opened))


def overtaken(entry: Tried, chain: Chain) -> bool:
    """Say whether something that counts was written between what a search counted and itself."""
    between = chain.entries[entry.after : entry.sequence - 1]
    return any(counts(each, entry.scope) for each in between)


def _has(chain: Chain, waiting: Tried | Opened) -> bool:
    """Say whether an entry that waits was published, in whatever place."""
    place = {"sequence": waiting.sequence, "previous": waiting.previous}
    same = (each for each in chain.entries if each.at == waiting.at)
    return any(each.model_copy(update=place) == waiting for each in same)


def _rewritten(detail: str) -> SafetyStop:
    hint = "Somebody rewrote it. Restore the branch from a good clone: tries are never forgotten."
    return SafetyStop(f"{BRANCH}: {detail}", hint)


def scope_of(contract: Contract, first: int, last: int) -> Scope:
    """Name a contract's work and candles; times are milliseconds of UTC."""
    market = contract.market
    return Scope(
        workflow=contract.workflow,
        task=contract.task,
        symbols=market.symbols,
        timeframe=market.timeframe,
        first=first,
        last=last,
    )


def search_name(contract: Contract, searched: str, data_digest: str) -> str:
    """Name a search by what decides it."""
    parts = (contract.workflow, contract.task, searched, data_digest)
    return digest_of("\0".join(parts).encode())
