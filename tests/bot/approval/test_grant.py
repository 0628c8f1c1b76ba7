"""A person's yes: published for the bytes that were shown, or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.approval.admission import admit, begin, state_of
from bot.approval.chain import BRANCH, Approval
from bot.approval.grant import countersign, draft, grant
from bot.approval.halting import Told, halt, tell
from bot.approval.host_state import HostState
from bot.approval.reasons import ApprovalRefused
from bot.approval.record import Mode
from bot.approval.sshsig import sign
from bot.bus.port import EventName
from bot.errors import InputError
from bot.git.identity import TaskName
from tests.bot.approval.keys import Key
from tests.bot.approval.worlds import (
    BOB,
    CAT,
    DEPLOY,
    LOCK,
    Floor,
    Person,
    make_floor,
    make_wish,
    propose,
)
from tests.bot.git.worlds import TASK, World, commit_file, sh

SCOPE = str(TASK)


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return make_floor(tmp_path)


def codes(floor: Floor, tag: str, mode: Mode = "paper") -> list[str]:
    found = admit(floor.desk().look(tag).facts, tag, mode)
    return sorted({refusal.code for refusal in found.refusals})


def refused(call: object, *arguments: object, **more: object) -> list[str]:
    with pytest.raises(ApprovalRefused) as caught:
        call(*arguments, **more)  # type: ignore[operator]
    return sorted({refusal.code for refusal in caught.value.refusals})


def test_what_a_person_signed_may_start_here_and_is_written_to_both_sides(floor: Floor) -> None:
    tag = propose(floor)
    claim = floor.approve(tag)
    assert codes(floor, tag) == []
    assert claim.record.commit == sh(floor.world.work, "rev-parse", f"{tag}^{{commit}}")
    refs = floor.world.refs()
    name = "refs/heads/stratwright/approvals"
    assert refs[f"here:{name}"] == refs[f"there:{name}"]
    assert begin(floor.desk(), tag, "paper").record == claim.record
    assert codes(floor, tag, "live") == ["wrong-mode"]


def test_it_works_without_a_remote(tmp_path: Path) -> None:
    floor = make_floor(tmp_path, remote=False)
    tag = propose(floor)
    floor.approve(tag)
    assert codes(floor, tag) == []


MOVES = [
    *(("tag", step) for step in ("verify", "confirm", "sign")),
    *((what, "confirm") for what in ("branch", "policy", "host", "environment")),
    *((what, "sign") for what in ("branch", "policy")),
]


def move(floor: Floor, tag: str, what: str) -> None:
    """Change one of the things that were looked at."""
    work, remote = floor.world.work, str(floor.world.remote)
    if what == "tag":
        other = sh(work, "commit-tree", f"{tag}^{{tree}}", "-p", f"{tag}^{{commit}}", "-m", "x")
        sh(work, "tag", "-f", "-a", "-m", "x", tag, other)
    elif what == "branch":
        other = sh(work, "commit-tree", f"{tag}^{{tree}}", "-p", f"{tag}^{{commit}}", "-m", "x")
        sh(work, "push", "-q", remote, f"{other}:refs/heads/{TASK.branch}")
    elif what == "policy":
        commit_file(work, "stratwright.yml", "approval: {paper: {people: 2}}\n")
        sh(work, "push", "-q", "origin", "main")
    elif what == "host":
        floor.host_file("policy: {paper: {capital: '10'}}\n")
    else:
        floor.host_file(environment="live")


@pytest.mark.parametrize(("what", "step"), MOVES)
def test_what_moves_before_the_signature_is_published_for_nobody(
    floor: Floor, what: str, step: str
) -> None:
    tag = propose(floor)

    def meanwhile(at: str) -> None:
        if at == step:
            move(floor, tag, what)

    def verify(*_: str) -> str:
        meanwhile("verify")
        return "holds"

    person = Person(BOB, meanwhile)
    found = refused(grant, floor.desk(), tag, make_wish(), person, verify, LOCK)
    assert found == ["moved-meanwhile"]
    assert floor.desk().chain().entries == ()


def test_the_tag_may_move_at_any_call_and_no_other_bytes_are_ever_approved(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.git.object_reader import ObjectReader

    honest = ObjectReader.find
    tag = propose(floor)
    good = sh(floor.world.work, "rev-parse", tag)
    refusals = 0
    for call in (*range(3, 400, 67), 10_000):
        sh(floor.world.work, "update-ref", f"refs/tags/{tag}", good)
        count = iter(range(10_000))

        def find(self: ObjectReader, name: str) -> object:
            if next(count) == call:  # noqa: B023 - used within this turn alone
                move(floor, tag, "tag")
            return honest(self, name)

        person = Person(BOB)
        monkeypatch.setattr(ObjectReader, "find", find)
        try:
            grant(floor.desk(), tag, make_wish(), person, lambda tag, commit: "holds", LOCK)
        except ApprovalRefused:
            refusals += 1
        monkeypatch.setattr(ObjectReader, "find", honest)
        for claim in floor.desk().look(tag).facts.claims:
            assert claim.record in person.shown
            assert claim.record.commit == sh(floor.world.work, "rev-parse", f"{good}^{{commit}}")
        if floor.desk().chain().entries:
            break
    assert refusals > 2
    assert len(floor.desk().chain().entries) == 1


def test_evidence_that_verify_does_not_rebuild_is_not_approved(floor: Floor) -> None:
    tag = propose(floor)
    for outcome in ("broken: seal", "cannot-check: candles", "not-verified"):
        person = Person(BOB)
        found = refused(grant, floor.desk(), tag, make_wish(), person, lambda _, o=outcome: o, LOCK)
        assert found == ["not-verified"]
        assert person.shown == []


@pytest.mark.parametrize(
    ("how", "code"),
    [({"green": False}, "gates-not-green"), ({"broken": True}, "other-bytes")],
)
def test_a_tag_that_is_not_sound_is_not_shown_to_anybody(
    floor: Floor, how: dict[str, bool], code: str
) -> None:
    assert refused(floor.approve, propose(floor, **how)) == [code]


def test_two_people_sign_the_same_bytes_before_it_is_in_force(floor: Floor) -> None:
    floor.host_file("policy: {paper: {people: 2}}\n")
    tag = propose(floor)
    assert refused(floor.approve, tag) == ["too-few-approvers"]
    claim = floor.approve(tag, approvers=(BOB.name, CAT.name))
    assert codes(floor, tag) == ["approver-missing", "too-few-approvers"]
    look = floor.desk().look(tag)
    assert "waiting for signatures" in state_of(look.facts.claims[0], look.facts)
    holds = lambda tag, commit: "holds"  # noqa: E731
    token = claim.record.token
    again = refused(countersign, floor.desk(), tag, token, Person(BOB), holds)
    assert again == ["replayed"]
    stranger = Person(Key("eve@example.com"))
    assert refused(countersign, floor.desk(), tag, token, stranger, holds) == ["unknown-signer"]
    countersign(floor.desk(), tag, token, Person(CAT), holds)
    assert codes(floor, tag) == []
    missing = refused(countersign, floor.desk(), tag, "human_verified_1", Person(CAT), holds)
    assert missing == ["not-in-chain"]


def test_the_author_cannot_approve_unless_the_hosts_owner_says_so(floor: Floor) -> None:
    alias = f"people: {{{BOB.name}: [Ada@Example.com]}}\n"
    floor.host_file(alias)
    tag = propose(floor)
    assert refused(floor.approve, tag) == ["self-approval"]
    floor.host_file(alias + "policy: {self_approval: [paper]}\n")
    floor.approve(tag)
    assert codes(floor, tag) == []


def test_one_approval_of_a_task_is_in_force_and_names_its_owner(floor: Floor) -> None:
    tag = propose(floor)
    first = floor.approve(tag, reason="first week")
    floor.clock.pass_by(minutes=5)
    with pytest.raises(ApprovalRefused, match=r"bob.*: first week"):
        floor.approve(tag, CAT)
    second = floor.approve(tag, CAT, replaces=first.record.token)
    assert codes(floor, tag) == []
    look = floor.desk().look(tag)
    assert state_of(look.facts.claims[0], look.facts).startswith("superseded")
    assert second.record.replaces == first.record.digest
    assert refused(floor.approve, tag, replaces="human_verified_1") == ["not-in-chain"]


def test_a_token_that_two_tasks_have_replaces_the_one_of_the_same_task(floor: Floor) -> None:
    other = TaskName("other", "strategy")
    first, tag = propose(floor, "other", task=other), propose(floor)
    theirs, mine = floor.approve(first), floor.approve(tag)
    assert theirs.record.token == mine.record.token
    floor.clock.pass_by(minutes=1)
    assert floor.approve(tag, replaces=mine.record.token).record.replaces == mine.record.digest
    assert codes(floor, first) == []


def test_the_environments_key_starts_paper_alone_and_live_never(floor: Floor) -> None:
    tag = propose(floor)
    floor.approve(tag, DEPLOY)
    assert codes(floor, tag) == []
    floor.clock.pass_by(days=8)
    floor.host_file(environment="live")
    assert refused(floor.approve, tag, DEPLOY, mode="live") == ["too-few-approvers"]
    both = (BOB.name, DEPLOY.name)
    floor.approve(tag, DEPLOY, mode="live", approvers=both)
    assert codes(floor, tag, "live") == ["approver-missing", "too-few-approvers"]


def test_a_wish_that_makes_no_sense_is_told(floor: Floor) -> None:
    tag = propose(floor)
    for wish in ({"capital": "1e3"}, {"capital": "-1"}, {"account": ""}, {"reason": "\x1b"}):
        with pytest.raises(InputError):
            floor.approve(tag, **wish)
    assert refused(floor.approve, tag, max_order="2000") == ["order-too-large"]
    assert refused(floor.approve, tag, account="other") == ["wrong-account"]
    assert refused(floor.approve, tag, symbols=("DOGE/USDT",)) == ["symbol-not-allowed"]
    with pytest.raises(InputError, match="not a tag of ours"):
        floor.approve("v1.0")


def test_an_older_tag_can_be_approved_if_it_is_meant(floor: Floor) -> None:
    old, new = propose(floor, "one"), propose(floor, "two")
    assert refused(floor.approve, old) == ["new-commit"]
    floor.approve(old, older=True)
    assert codes(floor, old) == []
    propose(floor, "three")
    assert codes(floor, old) == ["new-commit"]
    assert new != old


@pytest.mark.parametrize("step", ["confirm", "sign"])
def test_a_halt_that_another_machine_writes_meanwhile_voids_what_was_issued_before(
    floor: Floor, step: str
) -> None:
    tag = propose(floor)
    sh(floor.home, "clone", "-q", str(floor.world.remote), "far")
    far = Floor(World(floor.home / "far", floor.world.remote), floor.home, floor.clock)

    def meanwhile(at: str) -> None:
        if at == step:
            floor.clock.pass_by(seconds=5)
            elsewhere = replace(far.desk(), state=HostState(floor.home / "elsewhere"))
            assert halt(elsewhere, SCOPE, "dan", "odd fills")[2] == Told("branch")

    person = Person(BOB, meanwhile)
    found = refused(grant, floor.desk(), tag, make_wish(), person, lambda *_: "holds", LOCK)
    assert found == ["halted"]
    assert [entry.kind for entry in floor.desk().chain().entries] == ["halt"]


def test_a_halt_of_the_bus_is_remembered_by_the_host_in_a_new_clone(floor: Floor) -> None:
    tag = propose(floor)
    floor.approve(tag)
    floor.clock.pass_by(minutes=1)
    desk = floor.desk()
    tell(desk, EventName.HALTED, SCOPE, {"reason": "odd fills"})
    assert codes(floor, tag) == ["halted"]
    next(desk.repository.folder.rglob("approvals.jsonl")).unlink()
    assert codes(floor, tag) == ["halted"]


@pytest.mark.parametrize("noted", [True, False])
def test_a_branch_that_looks_like_the_default_one_has_no_policy(floor: Floor, noted: bool) -> None:
    work = floor.world.work
    commit_file(work, "stratwright.yml", "approval: {paper: {people: 2}}\n")
    # The default branch is called trunk now; somebody pushes another main, with less in it.
    sh(work, "push", "-q", "origin", "main:trunk")
    sh(floor.world.remote, "symbolic-ref", "HEAD", "refs/heads/trunk")
    if noted:
        sh(work, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert refused(floor.approve, propose(floor)) == ["too-few-approvers"]


def test_a_policy_behind_a_link_is_not_taken_for_none(floor: Floor) -> None:
    work, tag = floor.world.work, propose(floor)
    commit_file(work, "policy.yml", "approval: {paper: {people: 2}}\n")
    (work / "stratwright.yml").symlink_to("policy.yml")
    sh(work, "add", "stratwright.yml")
    sh(work, "commit", "-q", "-m", "link")
    sh(work, "push", "-q", "origin", "main")
    with pytest.raises(InputError, match="no plain file"):
        floor.approve(tag)


def test_a_policy_that_the_same_branch_loosens_is_no_policy(floor: Floor) -> None:
    work = floor.world.work
    commit_file(work, "stratwright.yml", "approval: {paper: {run_days: 30}}\n")
    sh(work, "push", "-q", "origin", "main")
    honest = propose(floor, "honest")
    sh(work, "checkout", "-q", "-b", "feature")
    commit_file(work, "stratwright.yml", "approval: {paper: {run_days: 300}}\n")
    sh(work, "push", "-q", "-u", "origin", "feature")
    loose = propose(floor, "loose")
    assert refused(floor.approve, loose) == ["policy-loosened"]
    # One that only became stricter on the default branch since makes no older tag unusable.
    sh(work, "checkout", "-q", "main")
    commit_file(work, "stratwright.yml", "approval: {paper: {run_days: 3}}\n")
    sh(work, "push", "-q", "origin", "main")
    assert refused(floor.approve, honest, older=True) == ["run-too-long"]
    floor.approve(honest, older=True, run_days=3)


def test_a_new_host_refuses_a_chain_without_the_entry_that_its_file_names(floor: Floor) -> None:
    tag = propose(floor)
    floor.approve(tag)
    chain = floor.desk().chain()
    floor.host_file(f"first_seen: {chain.digests[0]}\n")
    new = replace(floor.desk(), state=HostState(floor.home / "another"))
    assert new.look(tag).chain.digests == chain.digests
    # Somebody shortens the branch on both sides; this host has seen nothing yet.
    for folder in (floor.world.work, floor.world.remote):
        sh(folder, "update-ref", "-d", f"refs/heads/{BRANCH}")
    fresh = replace(floor.desk(), state=HostState(floor.home / "third"))
    with pytest.raises(ApprovalRefused, match="chain-rewound"):
        fresh.look(tag)


def test_what_is_verified_is_the_commit_that_was_looked_at(floor: Floor) -> None:
    tag, asked = propose(floor), []

    def verify(name: str, commit: str) -> str:
        asked.append((name, commit))
        return "holds"

    claim = grant(floor.desk(), tag, make_wish(), Person(BOB), verify, LOCK)
    assert asked == [(tag, claim.record.commit)]


def test_the_environments_key_alone_ends_no_deployment_with_money(floor: Floor) -> None:
    """Nor does it start one: a record that it alone signed takes no place."""
    floor.host_file("policy: {live: {people: 1}}\n", environment="live")
    tag = propose(floor)
    first = floor.approve(tag, mode="live")
    assert codes(floor, tag, "live") == []
    desk = floor.desk()
    other = floor.desk().look(tag).facts
    record = draft(make_wish(CAT, mode="live", replaces=first.record.token), other, LOCK)
    number, previous = desk.chain().next
    signature = sign(DEPLOY.private, record.data)
    entry = Approval(
        sequence=number, previous=previous, at=desk.now(), record=record, signature=signature
    )
    desk.write(desk.chain(), entry)
    assert codes(floor, tag, "live") == []
