"""Turns the entries of a chain into claims: each record with its signatures and what ended it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bot.approval.chain import Approval, Chain, Countersignature, Halt, Ran, Rollback
from bot.approval.host_state import HaltSeen
from bot.approval.reasons import Refusal
from bot.approval.record import Record


@dataclass(frozen=True)
class Claim:
    """A record as the chain has it.

    Attributes:
        sequence: the entry's number; 0 for a record that is not published yet.
        signatures: as they were written, the first one first.
        ended: what in the chain itself ends it.
        runs: what hosts say they did under it.
    """

    record: Record
    signatures: tuple[str, ...] = ()
    sequence: int = 0
    ended: tuple[Refusal, ...] = ()
    runs: tuple[Ran, ...] = ()


def read_claims(chain: Chain) -> tuple[Claim, ...]:
    """Gives every record of a chain, oldest first; a record stands in it once."""
    found: dict[str, Claim] = {}
    nonces: dict[str, int] = {}
    for entry in chain.entries:
        if isinstance(entry, Approval):
            digest = entry.record.digest
            if digest in found:
                continue
            first = nonces.setdefault(entry.record.nonce, entry.sequence)
            claim = Claim(entry.record, (entry.signature,), entry.sequence)
            used = Refusal("replayed", f"entry {first} has the same nonce")
            found[digest] = claim if first == entry.sequence else replace(claim, ended=(used,))
        elif isinstance(entry, Countersignature) and entry.of in found:
            claim = found[entry.of]
            found[entry.of] = replace(claim, signatures=(*claim.signatures, entry.signature))
        elif isinstance(entry, Ran) and entry.of in found:
            found[entry.of] = replace(found[entry.of], runs=(*found[entry.of].runs, entry))
        elif isinstance(entry, Halt | Rollback):
            _end(found, entry)
    return tuple(found.values())


def _end(found: dict[str, Claim], entry: Halt | Rollback) -> None:
    halt = HaltSeen(entry.scope, entry.at, "branch", entry.reason)
    for digest, claim in found.items():
        if halt.covers(claim.record.scope) and not claim.ended:
            told = Refusal("halted", f"by {entry.by} in entry {entry.sequence}: {entry.reason}")
            found[digest] = replace(claim, ended=(told,))


def chain_halts(chain: Chain, now: int) -> Iterator[HaltSeen]:
    """Gives the chain's halts until now: they void what was issued before, published or not yet.

    One that is dated later ends what stands before it in the chain, and nothing that comes.
    """
    for entry in chain.entries:
        if isinstance(entry, Halt | Rollback) and entry.at <= now:
            yield HaltSeen(entry.scope, entry.at, f"{entry.by} in entry {entry.sequence}")


def halted_by(record: Record, halts: Iterable[HaltSeen]) -> Refusal | None:
    """Finds the halt that voids a record: one of its task, at or after the second of issue."""
    for halt in halts:
        if halt.covers(record.scope) and halt.at >= record.issued_at:
            return Refusal("halted", f"by {halt.source}: {halt.reason}".rstrip(": "))
    return None
