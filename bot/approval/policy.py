"""Joins the host's floor and a repository's wishes into the policy that holds: the stricter."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.approval.record import Mode
from bot.settings import ApprovalPolicy, ApprovalRules, CapitalStep, Freeze

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# No file can ask for less: without a person nothing trades with money.
LEAST = ApprovalPolicy(live=ApprovalRules(people=1))


def tighten(floor: ApprovalPolicy, wish: ApprovalPolicy) -> ApprovalPolicy:
    """Joins two policies; whatever either of them asks for is asked for."""
    own = floor.self_approval if wish.self_approval is None else wish.self_approval
    allowed = {*(floor.self_approval or ())} & {*(own or ())}
    return ApprovalPolicy(
        paper=_rules(floor.paper, wish.paper),
        dry_run=_rules(floor.dry_run, wish.dry_run),
        live=_rules(floor.live, wish.live),
        freeze=tuple(dict.fromkeys((*floor.freeze, *wish.freeze))),
        self_approval=tuple(mode for mode in ("paper", "dry-run", "live") if mode in allowed),
    )


def is_looser(policy: ApprovalPolicy, than: ApprovalPolicy) -> bool:
    """Says whether a policy of a repository asks for less than another in anything."""
    parts = ((than.paper, policy.paper), (than.dry_run, policy.dry_run), (than.live, policy.live))
    everywhere = ("paper", "dry-run", "live")
    own, before = (
        {*(everywhere if each.self_approval is None else each.self_approval)}
        for each in (policy, than)
    )
    return (
        any(_rules(old, new) != _rules(new, new) for old, new in parts)
        or not own <= before
        or not {*than.freeze} <= {*policy.freeze}
    )


def rules_for(policy: ApprovalPolicy, mode: Mode) -> ApprovalRules:
    """Gives the part of a policy that is about one mode."""
    return {"paper": policy.paper, "dry-run": policy.dry_run, "live": policy.live}[mode]


def people_needed(rules: ApprovalRules, capital: str) -> int:
    """Counts how many people have to approve this much capital."""
    passed = (step.people for step in rules.steps if Decimal(capital) > Decimal(step.above))
    return max((rules.people, *passed))


def frozen(policy: ApprovalPolicy, now: int) -> str:
    """Gives the reason of the freeze that a moment falls into; empty if it falls into none."""
    for freeze in policy.freeze:
        local = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(freeze.zone))
        # A freeze that passes midnight may have begun yesterday.
        for begun in (local.date(), local.date() - timedelta(days=1)):
            if _covers(freeze, begun, local):
                return freeze.reason or f"{freeze.start} to {freeze.end} {freeze.zone}"
    return ""


def _covers(freeze: Freeze, begun: date, local: datetime) -> bool:
    if freeze.days and _DAYS[begun.weekday()] not in freeze.days:
        return False
    if freeze.first and begun < date.fromisoformat(freeze.first):
        return False
    if freeze.last and begun > date.fromisoformat(freeze.last):
        return False
    start, end = time.fromisoformat(freeze.start), time.fromisoformat(freeze.end)
    last = begun + timedelta(days=1) if end <= start else begun
    zone = local.tzinfo
    return datetime.combine(begun, start, zone) <= local < datetime.combine(last, end, zone)


def _rules(floor: ApprovalRules, wish: ApprovalRules) -> ApprovalRules:
    capitals = [Decimal(each) for each in (floor.capital, wish.capital) if each is not None]
    return ApprovalRules(
        people=max(floor.people, wish.people),
        steps=_steps(floor, wish),
        approvers=_both(floor.approvers, wish.approvers),
        brokers=_both(floor.brokers, wish.brokers),
        symbols=_both(floor.symbols, wish.symbols),
        capital=f"{min(capitals).normalize():f}" if capitals else None,
        run_days=min(floor.run_days, wish.run_days),
        paper_days=max(floor.paper_days, wish.paper_days),
        paper_trades=max(floor.paper_trades, wish.paper_trades),
    )


def _steps(floor: ApprovalRules, wish: ApprovalRules) -> tuple[CapitalStep, ...]:
    joined = {*floor.steps, *wish.steps}
    return tuple(sorted(joined, key=lambda step: (Decimal(step.above), step.people)))


def _both(floor: tuple[str, ...] | None, wish: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if floor is None or wish is None:
        given = wish if floor is None else floor
        return None if given is None else tuple(sorted({*given}))
    return tuple(sorted({*floor} & {*wish}))
