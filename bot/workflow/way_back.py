"""Takes the six steps back from a deployment that went wrong, on whatever forge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bot.approval.chain import Rollback
from bot.approval.claims import read_claims
from bot.approval.desk import Desk
from bot.approval.halting import plain, tell
from bot.approval.rolling_back import WayBack, approve_command, find_way_back, incident_text
from bot.approval.subject import name_of
from bot.bus.port import EventName, timestamp


@dataclass(frozen=True)
class Step:
    """One of the six steps, and what came out of it."""

    name: str
    done: bool
    detail: str


@dataclass(frozen=True)
class Journey:
    """A way back, and how its steps are taken here.

    Attributes:
        scope: the task; by: who orders it; reason: what happened.
        stop: halts, and gives what could not be told.
        report: writes the incident once for a key, and gives its address.
        verify: computes a tag's evidence again, for its commit.
    """

    desk: Desk
    scope: str
    by: str
    reason: str
    stop: Callable[[], tuple[str, ...]]
    report: Callable[[str, str], str]
    verify: Callable[[str, str], str]


def walk(journey: Journey) -> Iterator[Step]:
    """Stop, report, name the tag before, make a todo, test it again, ask for an approval."""
    troubles = journey.stop()
    yield Step("stop", not troubles, "; ".join(troubles) or "host, bus and branch are told")
    way = find_way(journey.desk, journey.scope)
    if way is None:
        detail = "nothing of it was ever approved for this host's environment"
        yield Step("incident report", False, detail)
        return
    incident = _report(journey, way)
    yield Step("incident report", True, incident)
    left, back = way.left.record, way.back_to
    nothing = "nothing else was approved before; it stays halted"
    yield Step("previous tag", back is not None, back.record.tag if back else nothing)
    data = {"mend": [journey.reason], "tag": left.tag, "incident": incident}
    tell(journey.desk, EventName.TODO_CREATED, left.scope, data, name_of(left.tag)[1])
    yield Step("branch todo", True, f"{left.tag}: {journey.reason}")
    if back is None:
        return
    outcome = journey.verify(back.record.tag, back.record.commit)
    yield Step("test again", outcome == "holds", f"{back.record.tag}: {outcome}")
    if outcome == "holds":
        _write(journey, way, incident)
        yield Step("new approval", True, f"needed, by a person: {approve_command(back)}")


def find_way(desk: Desk, scope: str) -> WayBack | None:
    """Find what a task would be rolled back from and to; None if nothing of it was approved."""
    tags = [claim.record.tag for claim in read_claims(desk.chain()) if claim.record.scope == scope]
    return find_way_back(desk.look(tags[-1]).facts, scope) if tags else None


def _report(journey: Journey, way: WayBack) -> str:
    record = way.left.record
    at = timestamp(journey.desk.clock.now())
    check = f"`stratwright verify {record.tag}`"
    text = incident_text(way, journey.by, journey.reason, at, check)
    return journey.report(text, record.digest[-12:])


def _write(journey: Journey, way: WayBack, incident: str) -> None:
    """Write the entry once: a rollback that is asked for again has one."""
    desk, left, back = journey.desk, way.left.record, way.back_to
    chain = desk.chain()
    number, previous = chain.next
    back_to = back.record.tag if back else ""
    reason = plain(journey.reason)
    entry = Rollback(
        sequence=number,
        previous=previous,
        at=desk.now(),
        scope=left.scope,
        by=plain(journey.by),
        reason=reason,
        left=left.tag,
        back_to=back_to,
        incident=incident[-300:] if incident.isascii() else "",
    )
    before = [e for e in chain.entries if isinstance(e, Rollback) and e.scope == left.scope]
    if not any(
        (e.left, e.reason, e.incident) == (left.tag, reason, entry.incident) for e in before
    ):
        desk.write(chain, entry)
    data = {"left": left.tag, "back_to": back_to, "by": journey.by, "reason": journey.reason}
    tell(desk, EventName.ROLLED_BACK, left.scope, data, name_of(left.tag)[1])
