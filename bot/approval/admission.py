"""Says whether this host may start, or go on with, what a tag holds; the live host asks it."""

from dataclasses import dataclass
from datetime import UTC, datetime

from bot.approval.checks import Facts, check
from bot.approval.claims import Claim
from bot.approval.desk import Desk
from bot.approval.halting import tell
from bot.approval.host_state import Start
from bot.approval.reasons import ApprovalRefused, Refusal
from bot.approval.record import Mode, Record
from bot.approval.subject import name_of
from bot.bus.port import EventName

_WORDS = {
    "revoked-key": "revoked",
    "halted": "halted",
    "superseded": "superseded",
    "run-ended": "expired",
    "start-expired": "expired",
    "approver-missing": "waiting for signatures",
    "too-few-approvers": "waiting for signatures",
}


@dataclass(frozen=True)
class Admission:
    """The answer about the newest approval of a tag in a mode.

    Attributes:
        claim: the approval; None if there is none.
        refusals: every reason against it; none means that it may start or go on.
        exits_only: it runs, and its time is over: positions may be closed, none opened.
    """

    claim: Claim | None
    refusals: tuple[Refusal, ...]
    exits_only: bool = False


def admit(facts: Facts, tag: str, mode: Mode) -> Admission:
    """Judges the approvals that a tag has for a mode: the newest that holds, else the newest.

    One that waits for signatures, or that nobody signed, takes nothing from the one in force.
    """
    given = [claim for claim in facts.claims if claim.record.tag == tag]
    claims = [claim for claim in given if claim.record.mode == mode]
    if not claims:
        others = ", ".join(sorted({claim.record.mode for claim in given}))
        found = Refusal("wrong-mode", others) if given else Refusal("not-in-chain", tag)
        return Admission(None, (found,))
    judged = [_judge(claim, facts) for claim in reversed(claims)]
    holds = (each for each in judged if not each.refusals)
    closing = (each for each in judged if each.exits_only)
    return next(holds, None) or next(closing, judged[0])


def _judge(claim: Claim, facts: Facts) -> Admission:
    refusals = check(claim, facts)
    over = {refusal.code for refusal in refusals} == {"run-ended"}
    return Admission(claim, refusals, over and claim.record.nonce in facts.starts)


def state_of(claim: Claim, facts: Facts) -> str:
    """Says in words where an approval stands: approved, waiting, expired, revoked, halted."""
    refusals = check(claim, facts)
    codes = {refusal.code for refusal in refusals}
    record = claim.record
    name = f"{record.mode} on {record.host}, {record.token}"
    if not refusals:
        until = datetime.fromtimestamp(record.run_until, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"approved for {name}, until {until}"
    for code, word in _WORDS.items():
        if code in codes:
            detail = next(each.detail for each in refusals if each.code == code)
            return f"{word}: {name} {f'({detail})' if detail else ''}".rstrip()
    return f"refused: {name} ({', '.join(sorted(codes))})"


def announce(desk: Desk, record: Record) -> tuple[Refusal, ...]:
    """Tells the bus that a record was signed, and that it is in force; gives why it is not."""
    facts = desk.look(record.tag).facts
    claim = next((c for c in facts.claims if c.record.digest == record.digest), Claim(record))
    refusals = check(claim, facts)
    correlation = name_of(record.tag)[1]
    tell(desk, EventName.APPROVAL_GRANTED, record.scope, told(record), correlation)
    if not refusals:
        tell(desk, EventName.DEPLOYED, record.scope, told(record), correlation)
    return refusals


def told(record: Record) -> dict[str, object]:
    """Gives what programs are told of a record."""
    return {
        "approval_token": record.token,
        "tag": record.tag,
        "commit": record.commit,
        "mode": record.mode,
        "host": record.host,
        "record": record.digest,
        "approvers": list(record.approvers),
    }


def begin(desk: Desk, tag: str, mode: Mode) -> Claim:
    """Uses an approval: it is checked, and noted as started on this host.

    Raises:
        ApprovalRefused: with every reason.
    """
    admission = admit(desk.look(tag).facts, tag, mode)
    if admission.claim is None or admission.refusals:
        raise ApprovalRefused(*admission.refusals)
    record = admission.claim.record
    desk.state.note_start(Start(record.nonce, record.digest, desk.now()))
    return admission.claim
