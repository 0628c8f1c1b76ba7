"""Turns the branch `stratwright/approvals` into entries in order, each bound to the one before.

One file an entry, `00000001.json` and on; each names the digest of the one before. What a host has
seen once, it never lets go of: a branch that does not go on from there is refused.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from bot.approval.reasons import ApprovalRefused, Refusal, refuse
from bot.approval.record import (
    MOST_BYTES,
    Closed,
    Digest,
    Person,
    Record,
    Second,
    Text,
    Word,
    canonical,
    digest_of,
    read_canonical,
)
from bot.git.side_branch import SideBranch

BRANCH = "stratwright/approvals"
EVERYTHING = "*"
_NAME = re.compile(r"[0-9]{8}\.json", re.ASCII)
_Signature = Annotated[str, Field(max_length=4000)]
Scope = Annotated[str, Field(pattern=r"^(?:\*|[a-z0-9-]{1,63}/[a-z0-9-]{1,63})$")]


class ChainEntry(Closed):
    """What every entry of a chain has."""

    sequence: Annotated[int, Field(ge=1, le=99_999_999)]
    previous: Digest | Literal[""]
    at: Second

    @property
    def data(self) -> bytes:
        """Gives the bytes that are written."""
        return canonical(self)


class Approval(ChainEntry):
    """A record with the first signature under it."""

    kind: Literal["approval"] = "approval"
    record: Record
    signature: _Signature


class Countersignature(ChainEntry):
    """One more signature under a record."""

    kind: Literal["signature"] = "signature"
    of: Digest
    signature: _Signature


class Halt(ChainEntry):
    """An order to stop; nobody has to sign it, as it can only stop."""

    kind: Literal["halt"] = "halt"
    scope: Scope
    by: Person
    reason: Text


class Rollback(ChainEntry):
    """A way back that was begun: from which tag, to which, and where the incident is told."""

    kind: Literal["rollback"] = "rollback"
    scope: Scope
    by: Person
    reason: Text
    left: Word
    back_to: Word | Literal[""]
    incident: Text


class Ran(ChainEntry):
    """What a host did under a record, signed with the host's key over all but the signature."""

    kind: Literal["ran"] = "ran"
    of: Digest
    since: Second
    until: Second
    trades: Annotated[int, Field(ge=0)]
    signature: _Signature


Entry = Approval | Countersignature | Halt | Rollback | Ran


class _AnyEntry(RootModel[Annotated[Entry, Field(discriminator="kind")]]):
    pass


@dataclass(frozen=True)
class Form:
    """Says what the entries of a chain may be, and how large."""

    read: type[RootModel[Any]]
    most_bytes: int = MOST_BYTES


APPROVALS = Form(_AnyEntry)


@dataclass(frozen=True)
class Seen:
    """The last entry that a host has seen."""

    commit: str
    sequence: int
    digest: str


@dataclass(frozen=True)
class Chain:
    """All entries, oldest first, with the digest of each."""

    tip: str = ""
    entries: tuple[Any, ...] = ()
    digests: tuple[str, ...] = ()

    @property
    def seen(self) -> Seen | None:
        """Gives what a host has to remember of it."""
        return Seen(self.tip, len(self.entries), self.digests[-1]) if self.entries else None

    @property
    def next(self) -> tuple[int, str]:
        """Gives the number of the next entry, and what it has to name as the one before."""
        return len(self.entries) + 1, self.digests[-1] if self.digests else ""


def read_chain(
    branch: SideBranch, seen: Seen | None, *, alone: bool = False, form: Form = APPROVALS
) -> Chain:
    """Reads the branch as it is now.

    Args:
        branch: the branch.
        seen: what this host saw last.
        alone: ask no remote.
        form: what its entries are.

    Raises:
        ApprovalRefused: chain-broken or chain-rewound.
        SafetyStop, WorldError: as the branch's tip.
    """
    tip = branch.tip(alone=alone)
    chain = link(branch.files(tip), tip, form) if tip else Chain()
    if seen is None:
        return chain
    rewound = Refusal("chain-rewound", f"entry {seen.sequence} of {seen.commit[:12]} is gone")
    if len(chain.digests) < seen.sequence or chain.digests[seen.sequence - 1] != seen.digest:
        raise ApprovalRefused(rewound)
    if not branch.descends(tip, seen.commit):
        raise ApprovalRefused(rewound)
    return chain


def link(files: dict[str, bytes], tip: str, form: Form = APPROVALS) -> Chain:
    """Puts the files of a tip in order and looks at every link.

    Raises:
        ApprovalRefused: chain-broken.
    """
    entries: list[Any] = []
    digests: list[str] = []
    for number, name in enumerate(sorted(files), 1):
        if not _NAME.fullmatch(name) or int(name[:8]) != number:
            raise refuse("chain-broken", f"{name[:40]!a} is not entry {number}")
        try:
            entry = read_canonical(files[name], form.read, form.most_bytes).root
        except ApprovalRefused as error:
            raise refuse("chain-broken", f"entry {number}: {error.refusals[0].detail}") from None
        if (entry.sequence, entry.previous) != (number, digests[-1] if digests else ""):
            raise refuse("chain-broken", f"entry {number} does not follow the one before")
        entries.append(entry)
        digests.append(digest_of(files[name]))
    return Chain(tip, tuple(entries), tuple(digests))


def append(branch: SideBranch, chain: Chain, entry: Any) -> Chain:
    """Writes the next entry.

    Raises:
        ApprovalRefused: the entry is not the next one.
        StaleView, WorldError: as the branch's append; nothing was published.
    """
    if (entry.sequence, entry.previous) != chain.next:
        raise refuse("chain-broken", "it is not the next entry")
    data = entry.data
    message = f"{entry.kind} {entry.sequence}"
    name = f"{entry.sequence:08}.json"
    tip = branch.append(name, data, message, chain.tip)
    return Chain(tip, (*chain.entries, entry), (*chain.digests, digest_of(data)))
