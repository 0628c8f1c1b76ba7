"""Turns a wish into a published record: checked, read again, signed, read again, written."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from bot.approval.chain import Approval, Countersignature
from bot.approval.checks import Facts, check_new, read_signatures
from bot.approval.claims import Claim
from bot.approval.desk import Desk, Look, verified_look
from bot.approval.reasons import ApprovalRefused, Refusal, refuse
from bot.approval.record import Limits, Mode, Product, Record, token_of
from bot.approval.subject import Subject
from bot.errors import InputError
from bot.git.remote import StaleView

_DAY_S, _HOUR_S = 86_400, 3_600
_ATTEMPTS = 3

Verify = Callable[[str, str], str]
"""Runs the line again for a tag and its commit; gives `holds`, or what is the matter."""


@dataclass(frozen=True)
class Wish:
    """What a person asks for, before anything is looked at.

    Attributes:
        approvers: everybody who is to sign; each of them signs the same bytes.
        replaces: the token of the approval that this one ends.
        older: whether a tag is meant that the branch has left behind, as in a rollback.
        requester: who asked for it, where that is not who made the tag.
        nonce: for a wish that may be asked for twice, and is granted once.
    """

    mode: Mode
    account: str
    capital: str
    max_order: str
    currency: str
    brokers: tuple[str, ...]
    approvers: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    history_bars: int = 0
    run_days: int = 7
    start_hours: int = 24
    reason: str = ""
    replaces: str = ""
    older: bool = False
    requester: str = ""
    nonce: str = ""


class Door(Protocol):
    """Where a person says yes."""

    def confirm(self, record: Record, facts: Facts) -> None:
        """Shows a record and has its digest typed; raises if it is not."""
        ...

    def sign(self, data: bytes) -> str:
        """Signs bytes with the person's key."""
        ...


def grant(desk: Desk, tag: str, wish: Wish, door: Door, verify: Verify, lock: str) -> Claim:
    """Makes, signs and publishes a new record.

    Args:
        desk: where the facts are.
        tag: what is approved.
        wish: how.
        door: the person.
        verify: computes the tag's evidence again.
        lock: the digest of the lock of the product that approves.

    Raises:
        ApprovalRefused: with every reason; nothing was published.
    """
    look = _verified(desk, tag, verify)
    try:
        record = draft(wish, look.facts, lock)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{where}: {first['msg']}", "See stratwright approve --help.") from None
    return _sign(desk, Claim(record), look, door)


def countersign(desk: Desk, tag: str, token: str, door: Door, verify: Verify) -> Claim:
    """Adds a signature to a record that waits for it.

    Raises:
        ApprovalRefused: with every reason; nothing was published.
    """
    look = _verified(desk, tag, verify)
    return _sign(desk, find(look.facts, tag, token), look, door)


def _verified(desk: Desk, tag: str, verify: Verify) -> Look:
    """Looks, has the very commit verified that was seen, and looks again."""
    before = desk.look(tag)
    if isinstance(before.facts.subject, Refusal):
        raise ApprovalRefused(before.facts.subject)
    return verified_look(desk, tag, verify(tag, before.facts.subject.commit), before)


def find(facts: Facts, tag: str, token: str) -> Claim:
    """Finds a record of the chain by its tag and token.

    Raises:
        ApprovalRefused: not-in-chain.
    """
    named = (each for each in facts.claims if (each.record.tag, each.record.token) == (tag, token))
    claim = next(named, None)
    if claim is None:
        raise refuse("not-in-chain", f"{token} for {tag}")
    return claim


def draft(wish: Wish, facts: Facts, lock: str) -> Record:
    """Writes the record of a wish, about the bytes that were looked at.

    Raises:
        ApprovalRefused: there is nothing to approve, or what it replaces is not there.
    """
    subject = facts.subject
    if isinstance(subject, Refusal):
        raise ApprovalRefused(subject)
    replaced = find_token(facts, wish.replaces, subject).digest if wish.replaces else ""
    others = sorted(subject.tips - {subject.commit})
    return Record(
        token=token_of(facts.now),
        issued_at=facts.now,
        nonce=wish.nonce or secrets.token_hex(16),
        repository=facts.repository,
        workflow=subject.task.workflow,
        task=subject.task.task,
        tag=subject.tag,
        commit=subject.commit,
        head=others[0] if wish.older and len(subject.tips) == 1 and others else subject.commit,
        contract=subject.contract,
        strategy=subject.strategy,
        evidence=subject.evidence,
        candles=subject.candles,
        product=Product(version=subject.version, digest=subject.product, lock=lock),
        environment=facts.host.file.environment,
        mode=wish.mode,
        host=facts.host.file.host,
        account=wish.account,
        limits=_limits(wish, subject),
        history_bars=wish.history_bars or subject.warmup,
        approvers=tuple(sorted({*wish.approvers})),
        author=subject.author,
        requester=wish.requester or subject.requester,
        reason=wish.reason,
        replaces=replaced,
        start_by=facts.now + min(wish.start_hours * _HOUR_S, _DAY_S),
        run_until=facts.now + max(wish.run_days, 1) * _DAY_S,
    )


def find_token(facts: Facts, token: str, subject: Subject) -> Record:
    """Finds the newest record of the subject's task that has a token; another may have it too.

    Raises:
        ApprovalRefused: not-in-chain.
    """
    for claim in reversed(facts.claims):
        if (claim.record.token, claim.record.scope) == (token, str(subject.task)):
            return claim.record
    raise refuse("not-in-chain", token)


def _limits(wish: Wish, subject: Subject) -> Limits:
    return Limits(
        capital=wish.capital,
        max_order=wish.max_order,
        currency=wish.currency,
        brokers=tuple(sorted({*wish.brokers})),
        symbols=tuple(sorted({*(wish.symbols or subject.symbols)})),
    )


def _sign(desk: Desk, claim: Claim, look: Look, door: Door) -> Claim:
    """Has a record confirmed and signed; before and after each, everything is read again."""
    record, verified = claim.record, look.facts.verified or ""
    _refuse(claim, look.facts)
    door.confirm(record, look.facts)
    look = verified_look(desk, record.tag, verified, look)
    _refuse(_newest(claim, look), look.facts)
    signature = door.sign(record.data)
    for attempt in range(1, _ATTEMPTS + 1):
        look = verified_look(desk, record.tag, verified, look)
        claim = _newest(claim, look)
        _refuse(claim, look.facts)
        try:
            return _publish(desk, claim, signature, look)
        except StaleView:
            # Somebody else wrote the next entry; what it says has to be read first.
            if attempt == _ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _newest(claim: Claim, look: Look) -> Claim:
    """Gives the claim as the chain has it now; a new one is not in it yet."""
    digest = claim.record.digest
    return next((each for each in look.facts.claims if each.record.digest == digest), claim)


def _refuse(claim: Claim, facts: Facts) -> None:
    refusals = check_new(claim.record, facts)
    refusals += claim.ended if claim.sequence else ()
    if refusals:
        raise ApprovalRefused(*dict.fromkeys(refusals))


def _publish(desk: Desk, claim: Claim, signature: str, look: Look) -> Claim:
    """Writes the entry, if the signature is one that counts and is not there already."""
    number, previous = look.chain.next
    signed = Claim(claim.record, (*claim.signatures, signature), claim.sequence or number)
    before, _ = read_signatures(claim, look.facts)
    after, refusals = read_signatures(signed, look.facts)
    if refusals:
        raise ApprovalRefused(*refusals)
    if claim.sequence and (after.people, after.machines) == (before.people, before.machines):
        raise refuse("replayed", "this key has signed it already")
    at = desk.now()
    if claim.sequence:
        of = claim.record.digest
        desk.write(
            look.chain,
            Countersignature(sequence=number, previous=previous, at=at, of=of, signature=signature),
        )
    else:
        entry = Approval(
            sequence=number, previous=previous, at=at, record=claim.record, signature=signature
        )
        desk.write(look.chain, entry)
    return signed
