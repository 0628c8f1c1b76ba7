"""Judges a claim: every reason why it does not count, from values alone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from bot.approval.claims import Claim, halted_by
from bot.approval.host import Host
from bot.approval.host_state import HaltSeen, Start
from bot.approval.policy import frozen, people_needed, rules_for
from bot.approval.reasons import Refusal
from bot.approval.record import Record, incoherent, run_days
from bot.approval.sshsig import HOST
from bot.approval.subject import Subject
from bot.settings import ApprovalPolicy

_SKEW_S = 60
_DAY_S = 86_400


@dataclass(frozen=True)
class Facts:
    """Everything that a claim is held against, read at one moment.

    Attributes:
        policy: the stricter of the host's floor and the default branch's policy.
        loosened: whether the tag's own commit has a looser policy than the default branch.
        latest: the latest second that this host has ever seen.
        claims: all of the chain. halts: from bus, file and this host's memory.
        starts: what was started here, by nonce.
        verified: what `verify` said of the tag; None where nobody asked it now.
        granted: whom a forge saw approving, where its environment's key attests them. People's own
            keys are not known there: what stands in the chain is taken to be signed.
        objections: what the forge itself shows against it.
    """

    now: int
    repository: str
    host: Host
    policy: ApprovalPolicy
    subject: Subject | Refusal
    loosened: bool = False
    latest: int = 0
    claims: tuple[Claim, ...] = ()
    halts: tuple[HaltSeen, ...] = ()
    starts: Mapping[str, Start] = field(default_factory=dict)
    verified: str | None = None
    granted: frozenset[str] | None = None
    objections: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Signed:
    """Who really signed a claim: people by principal with their keys, and machines."""

    people: Mapping[str, bytes]
    machines: frozenset[str]


def check(claim: Claim, facts: Facts) -> tuple[Refusal, ...]:
    """Gives every reason against starting, or going on with, what a claim allows."""
    signed, refusals = read_signatures(claim, facts)
    parts: tuple[Callable[[Claim, Facts], Iterator[Refusal]], ...] = (
        _form,
        _place,
        _bytes,
        _time,
        _amounts,
        _course,
    )
    for part in parts:
        refusals += part(claim, facts)
    refusals += _people(claim, facts, signed)
    refusals += _paper(claim, facts)
    return tuple(dict.fromkeys(refusals))


def check_new(record: Record, facts: Facts) -> tuple[Refusal, ...]:
    """Gives every reason against signing a new record; signatures are to come."""
    claim = Claim(record)
    waiting = {"no-signature", "too-few-approvers", "approver-missing", "not-in-chain"}
    refusals = [each for each in check(claim, facts) if each.code not in waiting]
    needed = people_needed(rules_for(facts.policy, record.mode), record.limits.capital)
    people = [name for name in record.approvers if name not in facts.host.file.machines]
    if (count := facts.host.count(people)) < needed:
        refusals.append(Refusal("too-few-approvers", f"{count} of {needed}"))
    refusals += [*_locked(record, facts), *facts.objections]
    if facts.granted is not None and not {*record.approvers} <= facts.granted:
        refusals.append(Refusal("moved-meanwhile", "an approval was taken back"))
    if facts.verified != "holds":
        refusals.append(Refusal("not-verified", facts.verified or "it was not verified"))
    return tuple(refusals)


def in_force(facts: Facts, scope: str, environment: str) -> Iterator[Claim]:
    """Finds the approvals of a task that could start or go on now, whatever their bytes.

    One that waits for more signatures counts, if one of its approvers has signed.
    """
    for claim in facts.claims:
        record = claim.record
        over = facts.now > record.run_until
        stale = facts.now > record.start_by and record.nonce not in facts.starts
        if (record.scope, record.environment) != (scope, environment) or over or stale:
            continue
        signed, _ = read_signatures(claim, facts)
        counts = facts.granted is not None or signed.people or signed.machines
        if counts and not [*_course(claim, facts)]:
            yield claim


def is_signed(claim: Claim, facts: Facts) -> bool:
    """Says whether everybody whom a record names has signed it, or the environment's key has.

    What was signed stays signed: neither a signature that somebody puts beside the others nor a
    key that expires or is taken back brings back what the record replaced. For money the
    environment's key alone ends nothing, as it starts nothing.
    """
    if facts.granted is not None:
        return True
    host = replace(facts.host, signers=replace(facts.host.signers, revoked=frozenset()))
    signed, _ = read_signatures(claim, replace(facts, host=host, now=claim.record.issued_at))
    people = {*claim.record.approvers} - {*facts.host.file.machines}
    attested = bool(signed.machines) and claim.record.mode != "live"
    return attested or (bool(people) and people <= {*signed.people})


def read_signatures(claim: Claim, facts: Facts) -> tuple[Signed, list[Refusal]]:
    """Finds whose the signatures are; keys have to be valid now, or were when it was started."""
    record, host = claim.record, facts.host
    start = facts.starts.get(record.nonce)
    when = start.at if start and start.digest == record.digest else facts.now
    refusals = [] if claim.signatures else [Refusal("no-signature")]
    people: dict[str, bytes] = {}
    machines: set[str] = set()
    for armoured in claim.signatures:
        found = host.signers.judge(armoured, record.data, when)
        if isinstance(found, Refusal):
            refusals.append(found)
            continue
        names, key = found
        named = sorted(names & {*record.approvers})
        # A machine's key speaks for no person, under whatever other name it is listed.
        if ours := names & {*host.file.machines}:
            machines |= ours
        elif named:
            people[named[0]] = key
        else:
            refusals.append(Refusal("signer-not-approver", ", ".join(sorted(names))))
    return Signed(people, frozenset(machines)), refusals


def _form(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    yield from incoherent(claim.record)
    if claim.sequence == 0:
        yield Refusal("not-in-chain")


def _place(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    record, file = claim.record, facts.host.file
    if record.repository != facts.repository:
        yield Refusal("wrong-repository", record.repository)
    if record.environment != file.environment:
        yield Refusal("wrong-environment", f"{record.environment}, here is {file.environment}")
    if record.host != file.host:
        yield Refusal("wrong-host", f"{record.host}, this is {file.host}")
    if record.account not in file.accounts:
        yield Refusal("wrong-account", record.account)


def _bytes(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    record, now = claim.record, facts.subject
    if isinstance(now, Refusal):
        yield now
        return
    if (record.tag, record.commit) != (now.tag, now.commit):
        yield Refusal("tag-moved", f"{now.tag} is at {now.commit[:12]}")
    strange = sorted(now.tips - {record.head})
    # What runs goes on; only a start needs the branch to be where it was.
    if strange and record.nonce not in facts.starts:
        yield Refusal("new-commit", f"{now.task.branch} is at {strange[0][:12]}")
    for name in ("contract", "strategy", "evidence", "candles"):
        if getattr(record, name) != getattr(now, name):
            yield Refusal("other-bytes", f"the {name} is another")
    if now.broken:
        yield Refusal("other-bytes", now.broken)
    if not now.green:
        yield Refusal("gates-not-green")
    if not {*record.limits.symbols} <= {*now.symbols}:
        yield Refusal("symbol-not-allowed", "the contract trades others")


def _time(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    record, now = claim.record, facts.now
    if record.issued_at > now + _SKEW_S:
        yield Refusal("from-the-future", record.token)
    if facts.latest > now + _SKEW_S:
        yield Refusal("clock-set-back", f"by {facts.latest - now} s")
    if now > record.start_by and record.nonce not in facts.starts:
        yield Refusal("start-expired", record.token)
    if now > record.run_until:
        yield Refusal("run-ended", record.token)
    if record.nonce not in facts.starts and (reason := frozen(facts.policy, now)):
        yield Refusal("frozen", reason)


def _amounts(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    record, rules = claim.record, rules_for(facts.policy, claim.record.mode)
    limits = record.limits
    if rules.brokers is not None and not {*limits.brokers} <= {*rules.brokers}:
        yield Refusal("broker-not-allowed", ", ".join(limits.brokers))
    if rules.symbols is not None and not {*limits.symbols} <= {*rules.symbols}:
        yield Refusal("symbol-not-allowed", ", ".join(limits.symbols))
    if rules.capital is not None and Decimal(limits.capital) > Decimal(rules.capital):
        yield Refusal("capital-too-high", f"{limits.capital}, at most {rules.capital}")
    if run_days(record) > rules.run_days:
        yield Refusal("run-too-long", f"at most {rules.run_days} days")
    if facts.loosened:
        yield Refusal("policy-loosened", "its commit asks for less than the default branch")


def _course(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    """Finds what happened since: the chain's own word, halts, a replacement, another use."""
    record = claim.record
    yield from claim.ended
    if halt := halted_by(record, facts.halts):
        yield halt
    start = facts.starts.get(record.nonce)
    if start and start.digest != record.digest:
        yield Refusal("replayed", "its nonce was used for another record here")
    place = (record.scope, record.environment)
    for other in facts.claims:
        later = other.sequence > claim.sequence > 0
        same = (other.record.scope, other.record.environment) == place
        # A host that started one knows what the lock of another machine could not.
        if later and (same or other.record.replaces == record.digest) and is_signed(other, facts):
            yield Refusal("superseded", f"by {other.record.token}")


def _people(claim: Claim, facts: Facts, signed: Signed) -> Iterator[Refusal]:
    record, host = claim.record, facts.host
    rules = rules_for(facts.policy, record.mode)
    # Whom GitHub saw approving, the environment's key attests; for money that is not enough.
    attested = bool(signed.machines) and record.mode != "live"
    people = [name for name in record.approvers if name not in host.file.machines]
    count = host.count(people if attested else signed.people)
    needed = people_needed(rules, record.limits.capital)
    if count < needed:
        yield Refusal("too-few-approvers", f"{count} of {needed}")
    missing = sorted({*people} - {*signed.people})
    if missing and not attested:
        yield Refusal("approver-missing", ", ".join(missing))
    if rules.approvers is not None and not {*people} <= {*rules.approvers}:
        strange = sorted({*people} - {*rules.approvers})
        yield Refusal("not-an-approver", ", ".join(strange))
    involved = {record.author.lower(), record.requester.lower()}
    if not isinstance(facts.subject, Refusal):
        involved |= {facts.subject.author.lower(), facts.subject.requester.lower()}
    if record.mode not in (facts.policy.self_approval or ()):
        for name in people:
            if host.names_of(name) & involved:
                yield Refusal("self-approval", name)


def _paper(claim: Claim, facts: Facts) -> Iterator[Refusal]:
    """Asks what the same bytes showed on paper before, counted from the chain."""
    record, rules = claim.record, rules_for(facts.policy, claim.record.mode)
    if record.mode == "paper" or not (rules.paper_days or rules.paper_trades):
        return
    days, trades = Decimal(0), 0
    for other in facts.claims:
        same = (other.record.strategy, other.record.contract) == (record.strategy, record.contract)
        if other.record.mode == "paper" and same:
            for run in other.runs:
                said = run.model_copy(update={"signature": ""})
                found = facts.host.signers.judge(run.signature, said.data, facts.now, HOST)
                if not isinstance(found, Refusal) and found[0] & {*facts.host.file.machines}:
                    days = max(days, Decimal(run.until - run.since) / _DAY_S)
                    trades = max(trades, run.trades)
    if days < rules.paper_days:
        yield Refusal("paper-too-short", f"{days:.1f} of {rules.paper_days} days")
    if trades < rules.paper_trades:
        yield Refusal("too-few-paper-trades", f"{trades} of {rules.paper_trades}")


def _locked(record: Record, facts: Facts) -> Iterator[Refusal]:
    """Keeps one deployment of a task at a time; the approval in force is the lock."""
    for claim in in_force(facts, record.scope, record.environment):
        if claim.record.digest not in (record.replaces, record.digest):
            owner, reason = ", ".join(claim.record.approvers), claim.record.reason
            yield Refusal("locked", f"{claim.record.token} by {owner}: {reason}".rstrip(": "))
