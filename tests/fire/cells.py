"""A flow, one of its calls and what goes wrong there: a cell, tried and judged."""

import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bot.forge.reasons import Reason
from tests.doubles.github import GitHubServer
from tests.doubles.github.messages import GIT_ROUTE, GRAPHQL_ROUTE, Exchange, Request
from tests.fire.bench import Bench, Child, Kept, Ran
from tests.fire.flows import Event, Flow
from tests.fire.snapshot import Comments, comments, objects, plain, untrue

BEFORE_WRITE = ("plan", "announce", "generate", "gates")
FAULTS = (
    *("500", "502", "reset", "time-out before", "time-out after", "secondary limit"),
    *("422", "404", "stale", "away"),
)
KILLS = ("killed before", "killed after", "interrupted")
_HOLD_S = 0.02
_ADVICE = re.compile(r"\b(run (it )?again|run the whole|run:|give a token|ask for|open it)", re.I)
_CODE = re.compile(rf"\[({'|'.join(Reason)})\]")


@dataclass(frozen=True)
class Cell:
    """One thing that goes wrong: which call of which flow, and how."""

    flow: str
    call: int
    kind: str


@dataclass(frozen=True)
class Verdict:
    """What became of a cell; `why` is empty if it is right.

    Attributes:
        end: `at once` if the run ended as without the fault, else `next run`.
    """

    cell: Cell
    what: str
    end: str = ""
    why: str = ""


@dataclass
class Reference:
    """A flow without faults: the world before it, before its last job, and how it ends."""

    flow: Flow
    event: Event
    start: Kept
    middle: Kept
    calls: tuple[Exchange, ...]
    early: int
    objects: dict[str, Any]
    said: list[Comments]
    pages: str
    halfway: tuple[Any, ...]
    known: dict[str, str] = field(default_factory=dict)

    def cells(self, kinds: tuple[str, ...]) -> Iterator[Cell]:
        """Everything that can go wrong in this flow."""
        return cells_of(self.flow.name, self.calls, kinds)


def cells_of(flow: str, calls: tuple[Exchange, ...], kinds: tuple[str, ...]) -> Iterator[Cell]:
    """Everything that can go wrong at some calls."""
    writes = [n for n, call in enumerate(calls) if changes(call)]
    first = writes[0] if writes else len(calls)
    for number, call in enumerate(calls):
        for kind in kinds:
            if _applies(kind, call, number > first):
                yield Cell(flow, number, kind)


def changes(call: Exchange) -> bool:
    """Whether a call changes something."""
    if call.route == GIT_ROUTE:
        return call.method == "POST" and call.path.endswith("git-receive-pack")
    return call.method != "GET" and call.route != GRAPHQL_ROUTE


def _reads(call: Exchange) -> bool:
    return call.method == "GET" or call.route == GRAPHQL_ROUTE


def _applies(kind: str, call: Exchange, late: bool) -> bool:
    git = call.route == GIT_ROUTE
    if kind in ("time-out after", "killed after", "interrupted"):
        return changes(call)
    if kind == "422":
        return changes(call) and not git
    if kind == "404":  # of something that was just made
        return late and not git
    if kind == "stale":
        return late and not git and call.method == "GET"
    return True


def refer(bench: Bench, flow: Flow, empty: Kept) -> Reference:
    """Run a flow without faults, twice."""
    bench.go_back(empty)
    event = flow.prepare(bench)
    start = bench.keep()
    bench.go_back(start)
    early = bench.run(*event, stages=BEFORE_WRITE)
    middle, between = bench.keep(), halfway(bench)
    late = bench.run(*event, stages=("write",))
    assert max(early.code, late.code) == flow.code, late.log
    first, said = objects(bench.world), comments(bench.world)
    assert not untrue(bench.world, late.summary)
    again = bench.run(*event, run=flow.run, world=bench.another_clone(start))
    assert again.code == flow.code, again.log
    assert objects(bench.world) == first
    pages = plain(late.summary + again.summary, bench.world)
    return Reference(
        flow,
        event,
        start,
        middle,
        early.calls + late.calls,
        len(early.calls),
        first,
        [said, comments(bench.world)],
        pages,
        between,
    )


def halfway(bench: Bench) -> tuple[Any, ...]:
    """All that the last job of run 100 finds: GitHub, and what was handed over."""
    return objects(bench.world), comments(bench.world), bench.handed_over()


def try_cell(bench: Bench, reference: Reference, cell: Cell) -> Verdict:
    """Let it happen, run again without it, and compare."""
    what = what_of(reference.calls[cell.call])
    late = cell.call >= reference.early
    bench.go_back(reference.middle if late else reference.start)
    child = None
    if cell.kind in KILLS:
        child = Child(signal.SIGINT if cell.kind == "interrupted" else signal.SIGKILL)
    before = reference.calls[reference.early if late else 0 : cell.call]
    hit = inject(bench.hub, cell.kind, before, child)
    if late:
        ran = bench.run(*reference.event, stages=("write",), job=child)
    else:
        ran = bench.run(*reference.event, stages=BEFORE_WRITE, job=child)
        if not child and hit() and ran.code == 0 and halfway(bench) == reference.halfway:
            # From here on it is the clean run, and the end of that is known.
            return Verdict(cell, what, "at once", untrue(bench.world, ran.summary))
        ran = ran.then(bench.run(*reference.event, stages=("write",), job=child))
    bench.hub.faults.clear()
    if not hit():
        return Verdict(cell, what, "", "the call never came")
    end, why = _first_end(bench, reference, ran, killed=child is not None)
    return Verdict(cell, what, end, why or _second_end(bench, reference, child))


def inject(
    hub: GitHubServer, kind: str, before: tuple[Exchange, ...], child: Child | None
) -> Callable[[], bool]:
    """Let the call after these go wrong; gives what says whether it came."""
    if kind == "stale":  # such a fault is only asked about reads
        before = tuple(call for call in before if _reads(call))
    seen, call = [0], len(before)

    def match(request: Request) -> bool:
        seen[0] += 1
        mine = seen[0] - 1 == call
        if mine and child is not None:
            child.kill()
        return mine or (kind == "away" and seen[0] > call)

    add = hub.faults.add
    if kind in ("500", "502", "422", "404"):
        fault = add(match, "status", status=int(kind))
    elif kind == "away":
        fault = add(match, "status", status=502, times=10**6)
    elif kind == "secondary limit":
        fault = add(match, "secondary_limit", retry_after_s=3)
    elif kind == "stale":
        fault = add(match, "stale")
    elif kind.startswith("time-out"):
        fault = add(
            match,
            "timeout_after" if kind.endswith("after") else "timeout_before",
            seconds=_HOLD_S,
        )
    else:
        fault = add(match, "reset", after=kind == "killed after")
    return lambda: fault.hits > 0


def _first_end(bench: Bench, reference: Reference, ran: Ran, *, killed: bool) -> tuple[str, str]:
    """How the disturbed run ended: right, or with advice; and nothing untrue was told."""
    if lie := untrue(bench.world, ran.summary):
        return "", f"told untruly: {lie}"
    if killed:
        return "next run", ""
    if ran.code == reference.flow.code:
        wrong = differs(bench, reference)
        if not wrong:
            return "at once", ""
        if ran.code == 0:
            return "", f"exit 0, but {wrong}"
    if ran.code == 3:
        return "", f"a bug: {ran.log[-300:]}"
    if not _ADVICE.search(ran.log):
        return "", f"exit {ran.code} without advice: {ran.log[-300:]}"
    if not _CODE.search(ran.log):
        return "", f"exit {ran.code} without a reason's code: {ran.log[-300:]}"
    return "next run", ""


def _second_end(bench: Bench, reference: Reference, child: Child | None) -> str:
    """Run again; from a state that was met before, with a fresh clone, the end is known."""
    if child is not None:
        return _again(bench, reference, fresh=False)
    key = repr((objects(bench.world), sorted(comments(bench.world).items())))
    if key not in reference.known:
        reference.known[key] = _again(bench, reference, fresh=True)
    return reference.known[key]


def _again(bench: Bench, reference: Reference, *, fresh: bool) -> str:
    world = bench.another_clone(reference.start) if fresh else None
    again = bench.run(*reference.event, run=reference.flow.run, world=world)
    if again.code != reference.flow.code:
        return f"the next run ended with {again.code}: {again.log[-300:]}"
    lie = untrue(bench.world, again.summary)
    return lie or differs(bench, reference)


def differs(bench: Bench, reference: Reference) -> str:
    """What is not as after a clean run; empty if all is.

    Two wordings count: that of the first run, and that of a second which finds all there. A
    complaint on a commit is not taken away but edited: it then says what the run's page says.
    """
    now = objects(bench.world)
    for part, value in reference.objects.items():
        if now[part] != value:
            return f"{part}: {_difference(now[part], value)}"
    found = comments(bench.world)
    for place, texts in found.items():
        if len(texts) != 1:
            return f"{len(texts)} comments {place}"
        right = [said[place][0] for said in reference.said if place in said]
        if texts[0] not in right and not (
            place[1].startswith("status") and texts[0] in reference.pages
        ):
            return f"the comment {place} says {texts[0][:300]!r}"
    missing = [place for place in reference.said[0] if place not in found]
    return f"no comment {missing[0]}" if missing else ""


def _difference(now: object, then: object) -> str:
    if isinstance(now, dict) and isinstance(then, dict):
        odd = [key for key in {**now, **then} if now.get(key) != then.get(key)]
        return f"{odd[0]}: {now.get(odd[0])!r:.200} for {then.get(odd[0])!r:.200}"
    return f"{now!r:.300} for {then!r:.300}"


def what_of(call: Exchange) -> str:
    """A call in a few words."""
    path = re.sub(r"/[0-9a-f]{40}", "/SHA", call.path).removeprefix("/repos")
    return f"{call.method} {re.sub('^/acme/strategies(.git)?/', '', path)}"
