"""A repository's policy can only tighten the host's."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.approval.host import Host, HostFile
from bot.approval.policy import frozen, is_looser, people_needed, tighten
from bot.approval.signers import Signers
from bot.errors import InputError
from bot.settings import ApprovalPolicy, ApprovalRules, CapitalStep, Freeze, parse_settings
from tests.chance import examples

names = st.none() | st.sets(st.sampled_from(["a", "b", "c"])).map(lambda s: tuple(sorted(s)))
steps = st.lists(
    st.builds(CapitalStep, above=st.sampled_from(["0", "10", "99.5"]), people=st.integers(1, 4)),
    max_size=2,
).map(tuple)
rules = st.builds(
    ApprovalRules,
    people=st.integers(0, 3),
    steps=steps,
    approvers=names,
    brokers=names,
    symbols=names,
    capital=st.none() | st.sampled_from(["1", "10.50", "10.5", "200"]),
    run_days=st.integers(1, 366),
    paper_days=st.integers(0, 9),
    paper_trades=st.integers(0, 9),
)
modes = st.none() | st.sets(st.sampled_from(["paper", "dry-run", "live"])).map(
    lambda s: tuple(sorted(s))
)
policies = st.builds(
    ApprovalPolicy,
    paper=rules,
    live=rules,
    freeze=st.lists(st.builds(Freeze, reason=st.sampled_from(["x", "y"])), max_size=2).map(tuple),
    self_approval=modes,
)


@given(policies, policies)
@examples(150)
def test_together_they_ask_for_everything_that_either_asks_for(
    floor: ApprovalPolicy, wish: ApprovalPolicy
) -> None:
    joined = tighten(floor, wish)
    for one, both in ((floor.live, joined.live), (wish.live, joined.live)):
        assert both.people >= one.people
        assert both.run_days <= one.run_days
        assert both.paper_days >= one.paper_days
        for capital in ("0", "50", "1000"):
            assert people_needed(both, capital) >= people_needed(one, capital)
        assert one.brokers is None or (
            both.brokers is not None and {*both.brokers} <= {*one.brokers}
        )
    assert {*joined.freeze} == {*floor.freeze, *wish.freeze}
    assert {*(joined.self_approval or ())} <= {*(floor.self_approval or ())}
    assert not is_looser(joined, floor) or joined.self_approval != floor.self_approval
    assert tighten(joined, wish) == joined


@given(policies)
@examples(60)
def test_a_policy_is_not_looser_than_itself_or_than_none(policy: ApprovalPolicy) -> None:
    assert not is_looser(policy, policy)
    assert not is_looser(policy, ApprovalPolicy())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("live: {people: 2}", "live: {people: 1}"),
        ("live: {approvers: [a]}", "live: {approvers: [a, b]}"),
        ("live: {approvers: [a]}", "live: {}"),
        ("live: {capital: '10'}", "live: {capital: '10.01'}"),
        ("paper: {run_days: 7}", "paper: {run_days: 8}"),
        ("dry_run: {paper_days: 7}", "dry_run: {paper_days: 6}"),
        ("live: {steps: [{above: '5', people: 2}]}", "live: {steps: []}"),
        ("freeze: [{days: [sat]}]", "freeze: []"),
        ("self_approval: []", "self_approval: [paper]"),
        ("self_approval: []", "live: {}"),
    ],
)
def test_what_asks_for_less_is_looser(old: str, new: str) -> None:
    before, after = (parse_settings(f"approval: {{{text}}}".encode()) for text in (old, new))
    assert is_looser(after.approval, before.approval)
    assert not is_looser(before.approval, after.approval)


def test_without_a_person_nothing_trades_with_money_whatever_a_file_says() -> None:
    host = Host(HostFile(host="h", policy=ApprovalPolicy()), Signers(()))
    assert (host.floor.live.people, host.floor.paper.people) == (1, 0)
    assert tighten(host.floor, ApprovalPolicy()).self_approval == ()


@pytest.mark.parametrize(
    ("freeze", "moment", "holds"),
    [
        ({"zone": "Europe/Berlin", "start": "22:00", "end": "06:00"}, "2026-11-17T04:59", True),
        ({"zone": "Europe/Berlin", "start": "22:00", "end": "06:00"}, "2026-11-17T05:00", False),
        # The clocks go back on 25 October: 02:30 comes twice, and both are frozen.
        ({"zone": "Europe/Berlin", "start": "02:00", "end": "03:00"}, "2026-10-25T00:30", True),
        ({"zone": "Europe/Berlin", "start": "02:00", "end": "03:00"}, "2026-10-25T01:30", True),
        ({"days": ("fri",), "start": "22:00", "end": "02:00"}, "2026-11-21T01:00", True),
        ({"days": ("sat",), "start": "22:00", "end": "02:00"}, "2026-11-21T01:00", False),
        ({"first": "2026-12-20", "last": "2027-01-02"}, "2026-12-31T12:00", True),
        ({"first": "2026-12-20", "last": "2027-01-02"}, "2027-01-03T00:00", False),
    ],
)
def test_a_freeze_goes_by_its_own_clock(
    freeze: dict[str, object], moment: str, holds: bool
) -> None:
    policy = ApprovalPolicy(freeze=(Freeze(**freeze),))  # type: ignore[arg-type]
    now = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp())
    assert bool(frozen(policy, now)) is holds


@pytest.mark.parametrize(
    "text",
    [
        "zone: Mars/Base",
        "start: 22:00",
        "start: '25:00'",
        "days: [sunday]",
        "from: '1'",
        "last: '2026-02-30'",
    ],
)
def test_a_freeze_that_is_not_understood_is_told(text: str) -> None:
    with pytest.raises(InputError, match="freeze"):
        parse_settings(f"approval: {{freeze: [{{{text}}}]}}".encode())
