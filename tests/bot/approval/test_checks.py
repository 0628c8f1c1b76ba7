"""Every forged, stale, replayed, misplaced or self-made approval is refused with its own code."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.approval.admission import admit
from bot.approval.chain import Ran
from bot.approval.checks import Facts, check, check_new, in_force
from bot.approval.claims import Claim
from bot.approval.host import Host, HostFile
from bot.approval.host_state import HaltSeen, Start
from bot.approval.policy import tighten
from bot.approval.reasons import ADVICE, Refusal
from bot.approval.record import Limits, Product, Record, digest_of, token_of
from bot.approval.signers import Signer, Signers
from bot.approval.sshsig import HOST, sign
from bot.approval.subject import Subject
from bot.git.identity import TaskName
from bot.settings import ApprovalPolicy, ApprovalRules, CapitalStep, Freeze
from tests.bot.approval.keys import Key

BOB, CAT, DEPLOY, EVE = (Key(f"{name}@example.com") for name in ("bob", "cat", "deploy", "eve"))
NOW = int(datetime(2026, 11, 17, 12, tzinfo=UTC).timestamp())
DAY = 86_400
COMMIT, OTHER = "a" * 40, "b" * 40
TAG = "ai/oversold-dip/strategy/corr_0123456789ab"


def some(text: str) -> str:
    return digest_of(text.encode())


RECORD = Record(
    token=token_of(NOW - 60),
    issued_at=NOW - 60,
    nonce="0" * 32,
    repository="ada/quant",
    workflow="oversold-dip",
    task="strategy",
    tag=TAG,
    commit=COMMIT,
    head=COMMIT,
    contract=some("contract"),
    strategy=some("strategy"),
    evidence=some("evidence"),
    candles=some("candles"),
    product=Product(version="0.1.0", digest=some("product"), lock=some("lock")),
    environment="live",
    mode="live",
    host="trader-1",
    account="main",
    limits=Limits(
        capital="1000",
        max_order="100",
        currency="USDT",
        brokers=("binance",),
        symbols=("BTC/USDT",),
    ),
    history_bars=200,
    approvers=(BOB.name,),
    author="ada@example.com",
    requester="dan@example.com",
    reason="",
    start_by=NOW + 3600,
    run_until=NOW + 7 * DAY,
)
SUBJECT = Subject(
    tag=TAG,
    task=TaskName("oversold-dip", "strategy"),
    correlation_id="corr_0123456789ab",
    commit=COMMIT,
    tips=frozenset({COMMIT}),
    contract=RECORD.contract,
    strategy=RECORD.strategy,
    evidence=RECORD.evidence,
    candles=RECORD.candles,
    version="0.1.0",
    product=some("product"),
    symbols=("BTC/USDT", "ETH/USDT"),
    warmup=200,
    author=RECORD.author,
    requester=RECORD.requester,
    broken="",
    green=True,
)
FILE = HostFile(host="trader-1", environment="live", accounts=("main",), machines=(DEPLOY.name,))
LINES = tuple(Signer((key.name,), key.blob) for key in (BOB, CAT, DEPLOY))


def host(file: HostFile = FILE, lines: tuple[Signer, ...] = LINES, *revoked: Key) -> Host:
    return Host(file, Signers(lines, frozenset(key.blob for key in revoked)))


FACTS = Facts(
    now=NOW,
    repository="ada/quant",
    host=host(),
    policy=host().floor,
    subject=SUBJECT,
    verified="holds",
)


@dataclass(frozen=True)
class Case:
    """A record as somebody signed it, and the world that it meets."""

    record: Record = RECORD
    signers: tuple[Key, ...] = (BOB,)
    facts: Facts = FACTS
    change: Callable[[Claim], Claim] = lambda claim: claim

    def codes(self) -> set[str]:
        signatures = tuple(sign(key.private, self.record.data) for key in self.signers)
        claim = self.change(Claim(self.record, signatures, 1))
        return {refusal.code for refusal in check(claim, self.facts)}


def said(**values: object) -> Case:
    """A record that its approver signed with other words in it."""
    return Case(RECORD.model_copy(update=values))


def limited(**values: object) -> Case:
    return said(limits=RECORD.limits.model_copy(update=values))


def met(signers: tuple[Key, ...] = (BOB,), **facts: object) -> Case:
    return Case(signers=signers, facts=replace(FACTS, **facts))  # type: ignore[arg-type]


def found(**values: object) -> Case:
    return met(subject=replace(SUBJECT, **values))  # type: ignore[arg-type]


def asked(**rules: object) -> Case:
    policy = ApprovalPolicy(live=ApprovalRules(**rules))  # type: ignore[arg-type]
    return met(policy=tighten(FACTS.policy, policy))


def forged(change: Callable[[Claim], Claim]) -> Case:
    return Case(change=change)


def resigned(**values: object) -> Case:
    """The approver's signature under words that were changed afterwards."""
    return forged(lambda claim: replace(claim, record=RECORD.model_copy(update=values)))


def named(**file: object) -> Case:
    given = FILE.model_copy(update=file)
    return met(host=replace(FACTS.host, file=given))


def earlier(**values: object) -> tuple[Claim, ...]:
    record = RECORD.model_copy(update={"nonce": "1" * 32, **values})
    return (Claim(record, (sign(BOB.private, record.data),), 1),)


def frozen_by(**freeze: object) -> Case:
    policy = ApprovalPolicy(freeze=(Freeze(**freeze),))  # type: ignore[arg-type]
    return met(policy=tighten(FACTS.policy, policy))


def key_line(key: Key, **values: object) -> Case:
    line = Signer((key.name,), key.blob, **values)  # type: ignore[arg-type]
    return met(host=host(FILE, (line,)))


ARABIC = RECORD.token[:-1] + chr(0x660)
CAT_TOO = RECORD.model_copy(update={"approvers": (BOB.name, CAT.name)})
REPLACING = RECORD.model_copy(update={"nonce": "2" * 32, "replaces": RECORD.digest})
REPLACING_BY_CAT = REPLACING.model_copy(update={"approvers": (CAT.name,)})
LATER = tuple(replace(claim, sequence=2) for claim in earlier(commit=OTHER))

CASES: dict[str, tuple[Case, str]] = {
    # The record's own words.
    "token of another second": (said(token=token_of(NOW - 61)), "bad-token"),
    "token with a leading zero": (said(token=token_of(123456789)), "bad-token"),
    "token with digits of another script": (said(token=ARABIC), "bad-token"),
    "token with a line end": (said(token=RECORD.token + "\n"), "bad-token"),
    "token in capitals": (said(token=RECORD.token.upper()), "bad-token"),
    "start later than a day": (said(start_by=NOW + 2 * DAY), "bad-window"),
    "start before issue": (said(start_by=NOW - 61), "bad-window"),
    "end before the start": (said(run_until=NOW + 10), "bad-window"),
    "tag of another task": (said(tag="ai/other/strategy/corr_0123456789ab"), "malformed"),
    "approver named twice": (said(approvers=(BOB.name, BOB.name)), "malformed"),
    "lists out of order": (limited(symbols=("ETH/USDT", "BTC/USDT")), "malformed"),
    "order above the capital": (limited(max_order="1000.01"), "order-too-large"),
    "live in the environment paper": (said(environment="paper"), "wrong-environment"),
    "paper in the environment live": (said(mode="paper"), "wrong-environment"),
    # Signatures.
    "no signature": (Case(signers=()), "no-signature"),
    "signature by a stranger": (Case(signers=(EVE,)), "unknown-signer"),
    "signature of another namespace": (
        forged(lambda c: replace(c, signatures=(sign(BOB.private, RECORD.data, "git"),))),
        "wrong-namespace",
    ),
    "signature of another record": (
        forged(lambda c: replace(c, signatures=(sign(BOB.private, b"{}"),))),
        "bad-signature",
    ),
    "signature that is text": (forged(lambda c: replace(c, signatures=("yes",))), "bad-signature"),
    "signature cut off": (
        forged(lambda c: replace(c, signatures=(c.signatures[0][:-40],))),
        "bad-signature",
    ),
    "a good signature and a bad one": (
        forged(lambda c: replace(c, signatures=(*c.signatures, "no"))),
        "bad-signature",
    ),
    "capital raised after signing": (
        resigned(limits=RECORD.limits.model_copy(update={"capital": "9999"})),
        "bad-signature",
    ),
    "commit changed after signing": (resigned(commit=OTHER), "bad-signature"),
    "mode changed after signing": (resigned(mode="dry-run"), "bad-signature"),
    "expiry moved after signing": (resigned(run_until=NOW + 8 * DAY), "bad-signature"),
    "approver added after signing": (resigned(approvers=CAT_TOO.approvers), "bad-signature"),
    "nonce changed after signing": (resigned(nonce="f" * 32), "bad-signature"),
    "revoked key": (met(host=host(FILE, LINES, BOB)), "revoked-key"),
    "key not yet valid": (key_line(BOB, after=NOW + 1), "key-not-yet-valid"),
    "key that has expired": (key_line(BOB, before=NOW - 1), "key-expired"),
    "key for other purposes": (key_line(BOB, namespaces=("git",)), "wrong-namespace"),
    "signed by somebody it does not name": (Case(signers=(BOB, CAT)), "signer-not-approver"),
    "key listed under another name": (
        met(host=host(FILE, (Signer(("mallory",), BOB.blob),))),
        "signer-not-approver",
    ),
    # People.
    "approver is the author": (said(author="Bob@Example.com"), "self-approval"),
    "approver is the requester": (said(requester=BOB.name), "self-approval"),
    "approver is the author by an alias": (
        named(people={BOB.name: ("ada@example.com",)}),
        "self-approval",
    ),
    "approver is another name of the author": (
        named(people={"ada@example.com": (BOB.name,)}),
        "self-approval",
    ),
    "approver and author are other names of one person": (
        named(people={"x": (BOB.name,), "y": ("X", "ada@example.com")}),
        "self-approval",
    ),
    "approver's key is listed under the author's name too": (
        met(host=host(FILE, (Signer((BOB.name, "ada@example.com"), BOB.blob),))),
        "self-approval",
    ),
    "approver wrote the contract, whatever the record says": (
        found(author=BOB.name),
        "self-approval",
    ),
    "approver asked for it, whatever the record says": (found(requester=BOB.name), "self-approval"),
    "one of two signed": (Case(CAT_TOO), "approver-missing"),
    "fewer people than asked": (asked(people=2), "too-few-approvers"),
    "fewer people than so much capital asks": (
        asked(steps=(CapitalStep(above="999.99", people=2),)),
        "too-few-approvers",
    ),
    "one key under two names": (
        Case(
            CAT_TOO,
            (BOB,),
            replace(
                FACTS,
                host=host(FILE, (Signer((BOB.name, CAT.name), BOB.blob),)),
                policy=tighten(FACTS.policy, ApprovalPolicy(live=ApprovalRules(people=2))),
            ),
        ),
        "too-few-approvers",
    ),
    "one person with two names and two keys": (
        Case(
            CAT_TOO,
            (BOB, CAT),
            replace(
                FACTS,
                host=host(FILE.model_copy(update={"people": {"bob": (BOB.name, CAT.name)}})),
                policy=tighten(FACTS.policy, ApprovalPolicy(live=ApprovalRules(people=2))),
            ),
        ),
        "too-few-approvers",
    ),
    "one key under two names, on two lines": (
        Case(
            CAT_TOO,
            (BOB, CAT),
            replace(
                FACTS,
                host=host(FILE, (*LINES, Signer((CAT.name,), BOB.blob))),
                policy=tighten(FACTS.policy, ApprovalPolicy(live=ApprovalRules(people=2))),
            ),
        ),
        "too-few-approvers",
    ),
    "somebody whom the policy does not name": (asked(approvers=(CAT.name,)), "not-an-approver"),
    "the environment's key alone, for money": (
        Case(RECORD.model_copy(update={"approvers": (DEPLOY.name,)}), (DEPLOY,)),
        "too-few-approvers",
    ),
    "the environment's key for a person, for money": (
        Case(RECORD, (DEPLOY,)),
        "approver-missing",
    ),
    "the environment's key, listed under a person's name too": (
        Case(
            RECORD,
            (DEPLOY,),
            replace(FACTS, host=host(FILE, (*LINES, Signer((BOB.name,), DEPLOY.blob)))),
        ),
        "approver-missing",
    ),
    # Bytes.
    "no such tag": (met(subject=Refusal("no-tag")), "no-tag"),
    "evidence that cannot be read": (met(subject=Refusal("other-bytes")), "other-bytes"),
    "tag moved to another commit": (found(commit=OTHER), "tag-moved"),
    "commit pushed to the branch": (found(tips=frozenset({COMMIT, OTHER})), "new-commit"),
    "branch force-pushed": (found(tips=frozenset({OTHER})), "new-commit"),
    "another contract": (found(contract=some("x")), "other-bytes"),
    "another strategy": (found(strategy=some("x")), "other-bytes"),
    "other evidence": (found(evidence=some("x")), "other-bytes"),
    "other candles": (found(candles=some("x")), "other-bytes"),
    "a file that is not the sealed one": (found(broken="tests/test_x.py"), "other-bytes"),
    "a gate said no": (found(green=False), "gates-not-green"),
    "symbol that the contract does not trade": (limited(symbols=("X/Y",)), "symbol-not-allowed"),
    # Place.
    "another repository": (met(repository="eve/quant"), "wrong-repository"),
    "a fork of it": (met(repository="eve/quant-fork"), "wrong-repository"),
    "another host": (named(host="trader-2"), "wrong-host"),
    "another account": (said(account="savings"), "wrong-account"),
    "an account that the host does not have": (named(accounts=()), "wrong-account"),
    "a host of another environment": (named(environment="paper"), "wrong-environment"),
    "a broker that is not listed": (asked(brokers=("kraken",)), "broker-not-allowed"),
    "a symbol that is not listed": (asked(symbols=("ETH/USDT",)), "symbol-not-allowed"),
    "more capital than allowed": (asked(capital="999.99"), "capital-too-high"),
    # Time.
    "issued in the future": (met(now=NOW - 3600), "from-the-future"),
    "the host's clock was set back": (met(latest=NOW + 61), "clock-set-back"),
    "start too late": (met(now=NOW + 3601), "start-expired"),
    "run is over": (met(now=NOW + 7 * DAY + 1), "run-ended"),
    "longer than allowed": (asked(run_days=6), "run-too-long"),
    "frozen by the hour": (frozen_by(start="11:00", end="13:00"), "frozen"),
    "frozen in another zone": (
        frozen_by(zone="Asia/Tokyo", start="20:30", end="21:30"),
        "frozen",
    ),
    "frozen over midnight": (frozen_by(start="22:00", end="13:00"), "frozen"),
    "frozen on a weekday": (frozen_by(days=("tue",)), "frozen"),
    "frozen between dates": (frozen_by(first="2026-11-01", last="2026-11-30"), "frozen"),
    # Policy and chain.
    "policy loosened by the same commit": (met(loosened=True), "policy-loosened"),
    "no day on paper": (asked(paper_days=1), "paper-too-short"),
    "no trade on paper": (asked(paper_trades=1), "too-few-paper-trades"),
    "not published": (forged(lambda c: replace(c, sequence=0)), "not-in-chain"),
    "nonce used in the chain": (
        forged(lambda c: replace(c, ended=(Refusal("replayed"),))),
        "replayed",
    ),
    "nonce used on this host for another record": (
        met(starts={RECORD.nonce: Start(RECORD.nonce, some("x"), NOW)}),
        "replayed",
    ),
    "halted on the branch": (forged(lambda c: replace(c, ended=(Refusal("halted"),))), "halted"),
    "halted on the bus": (met(halts=(HaltSeen(RECORD.scope, NOW, "bus"),)), "halted"),
    "everything halted by a file": (met(halts=(HaltSeen("*", NOW, "file"),)), "halted"),
    "halted in the second of issue": (
        met(halts=(HaltSeen("*", RECORD.issued_at, "bus"),)),
        "halted",
    ),
    "replaced by a later one": (
        met(claims=(Claim(REPLACING, (sign(BOB.private, REPLACING.data),), 2),)),
        "superseded",
    ),
    "replaced, and somebody put a bad signature under what replaced it": (
        met(claims=(Claim(REPLACING, (sign(BOB.private, REPLACING.data), "no"), 2),)),
        "superseded",
    ),
    "replaced, and the key of what replaced it has expired": (
        met(
            claims=(Claim(REPLACING_BY_CAT, (sign(CAT.private, REPLACING_BY_CAT.data),), 2),),
            host=host(FILE, (LINES[0], Signer((CAT.name,), CAT.blob, (), None, NOW - 1))),
        ),
        "superseded",
    ),
    "replaced, and the key of what replaced it was taken back": (
        met(
            claims=(Claim(REPLACING_BY_CAT, (sign(CAT.private, REPLACING_BY_CAT.data),), 2),),
            host=host(FILE, LINES, CAT),
        ),
        "superseded",
    ),
    "a later one of the task, where no lock could know that it runs": (
        met(starts={RECORD.nonce: Start(RECORD.nonce, RECORD.digest, NOW)}, claims=LATER),
        "superseded",
    ),
}


def test_there_are_more_than_sixty_and_every_code_has_advice() -> None:
    assert len(CASES) >= 60
    assert {code for _, code in CASES.values()} <= set(ADVICE)


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_its_code(name: str) -> None:
    case, code = CASES[name]
    assert code in case.codes()


RUNNING = {RECORD.nonce: Start(RECORD.nonce, RECORD.digest, NOW)}
HONEST: dict[str, Case] = {
    "one person": Case(),
    "two people": Case(CAT_TOO, (BOB, CAT), asked(people=2).facts),
    "a person and the environment's key": Case(signers=(DEPLOY, BOB)),
    "a halt of another task": met(halts=(HaltSeen("other/task", NOW, "bus"),)),
    "a halt before issue": met(halts=(HaltSeen("*", NOW - 61, "bus"),)),
    "a freeze on another day": frozen_by(days=("wed",)),
    "a freeze that begins later": frozen_by(start="12:01", end="13:00"),
    "the branch is gone": found(tips=frozenset()),
    "another product runs here": found(product=some("newer"), version="0.2.0"),
    "a rotated key": met(
        host=host(FILE, (Signer((BOB.name,), EVE.blob), Signer((BOB.name,), BOB.blob)))
    ),
    "a replacement that nobody signed": met(claims=(Claim(REPLACING, (), 2),)),
    "a replacement that names machines alone, unsigned": met(
        claims=(Claim(REPLACING.model_copy(update={"approvers": (DEPLOY.name,)}), ("no",), 2),)
    ),
    "it runs, and a commit came": met(
        starts=RUNNING, subject=replace(SUBJECT, tips=frozenset({OTHER}))
    ),
    "it runs, and its key has expired": met(
        starts=RUNNING,
        now=NOW + DAY,
        host=host(FILE, (Signer((BOB.name,), BOB.blob, (), None, NOW + 1),)),
    ),
    "the author where the host's owner allows it": met(
        policy=FACTS.policy.model_copy(update={"self_approval": ("live",)}),
        subject=replace(SUBJECT, author=BOB.name),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_one_passes(name: str) -> None:
    assert HONEST[name].codes() == set()


def test_a_revoked_key_stops_what_runs() -> None:
    case = met(starts=RUNNING, host=host(FILE, LINES, BOB))
    assert "revoked-key" in case.codes()


def test_one_that_waits_takes_nothing_from_the_one_in_force() -> None:
    honest = Claim(RECORD, (sign(BOB.private, RECORD.data),), 1)
    waiting = REPLACING.model_copy(update={"approvers": CAT_TOO.approvers})
    junk = Claim(waiting.model_copy(update={"nonce": "3" * 32}), ("no",), 3)
    one = Claim(waiting, (sign(BOB.private, waiting.data),), 2)
    both = replace(one, signatures=(*one.signatures, sign(CAT.private, waiting.data)))
    for claims, chosen in (((honest, one, junk), honest), ((honest, both, junk), both)):
        found = admit(replace(FACTS, claims=claims), TAG, "live")
        assert (found.claim, found.refusals) == (chosen, ())
    found = admit(replace(FACTS, claims=(one, junk)), TAG, "live")
    assert found.claim == junk
    assert found.refusals
    late = replace(FACTS, claims=(honest, junk), starts=RUNNING, now=RECORD.run_until + 1)
    assert admit(late, TAG, "live").exits_only


def test_days_on_paper_count_if_the_host_signed_for_them() -> None:
    (before,) = earlier(mode="paper", environment="paper")
    plain = Ran(
        sequence=2,
        previous=some("x"),
        at=NOW,
        of=before.record.digest,
        since=NOW - 10 * DAY,
        until=NOW,
        trades=30,
        signature="",
    )
    rules = asked(paper_days=10, paper_trades=30)
    for key, space, codes in (
        (DEPLOY, HOST, set()),
        (DEPLOY, "git", {"paper-too-short", "too-few-paper-trades"}),
        (BOB, HOST, {"paper-too-short", "too-few-paper-trades"}),
        (EVE, HOST, {"paper-too-short", "too-few-paper-trades"}),
    ):
        run = plain.model_copy(update={"signature": sign(key.private, plain.data, space)})
        facts = replace(rules.facts, claims=(replace(before, runs=(run,)),))
        assert Case(facts=facts).codes() == codes


def test_an_approval_in_force_is_a_lock_with_an_owner() -> None:
    (before,) = earlier(reason="first week")
    facts = replace(FACTS, claims=(before,))
    refusals = check_new(RECORD, facts)
    assert [each.code for each in refusals] == ["locked"]
    assert "bob@example.com: first week" in refusals[0].detail
    assert check_new(RECORD.model_copy(update={"replaces": before.record.digest}), facts) == ()
    for over in (
        replace(facts, now=before.record.start_by + 1),
        replace(facts, halts=(HaltSeen("*", NOW, "bus"),)),
        replace(facts, claims=(replace(before, signatures=()),)),
    ):
        assert [*in_force(over, RECORD.scope, "live")] == []


def test_nothing_new_is_signed_without_verification() -> None:
    assert check_new(RECORD, FACTS) == ()
    for outcome in (None, "broken", "not-verified", "cannot-check", "holds "):
        refusals = check_new(RECORD, replace(FACTS, verified=outcome))
        assert [each.code for each in refusals] == ["not-verified"]


def test_the_page_lists_every_code_with_its_advice() -> None:
    page = (Path(__file__).parents[3] / "docs/approval.md").read_text("utf-8")
    for code, advice in ADVICE.items():
        assert f"| `{code}` | {advice} |" in page
