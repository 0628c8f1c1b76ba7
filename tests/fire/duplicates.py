"""The same thing asked for more than once: in a row, at once, and by runs that overtake another."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.forge.reasons import Reason
from tests.bot.server.service import make_service
from tests.bot.workflow.hub import issue, push
from tests.fire.bench import Bench, Kept, WiredWorld
from tests.fire.cells import Reference, differs, refer
from tests.fire.flows import CHANGED, FLOWS, FORM, PATH, Event
from tests.fire.snapshot import comments, objects, untrue

ROUNDS, AT_ONCE = 4, 5
Attempt = Callable[[Bench, Kept], str]


@dataclass(frozen=True)
class Case:
    """One way to be asked twice; `attempt` gives what is wrong, or nothing."""

    name: str
    attempt: Attempt


def flow(name: str) -> Callable[[Bench, Kept], Reference]:
    chosen = next(each for each in FLOWS if each.name == name)
    return lambda bench, empty: refer(bench, chosen, empty)


def often(name: str, rounds: int = ROUNDS, at_once: int = AT_ONCE) -> Attempt:
    """An event many times, some of them at the same moment."""

    def attempt(bench: Bench, empty: Kept) -> str:
        reference = flow(name)(bench, empty)
        bench.go_back(reference.start)
        for each in range(rounds):
            first = 100 + each * at_once
            numbers = list(range(first, first + at_once))
            if reference.flow.run == 100:  # other runs would be other requests
                numbers = [100] * at_once
            runs = [
                (*reference.event, number, own_clone(bench, reference.start)) for number in numbers
            ]
            codes = bench.at_once(runs)
            if reference.flow.code not in codes or 3 in codes:
                return f"exit codes {codes}: {logs(runs)}"
        return untrue(bench.world, "") or differs(bench, reference)

    return attempt


def two_writers(bench: Bench, empty: Kept) -> str:
    """Two runners that come to the last job of one task at the same moment."""
    reference = flow("good contract pushed")(bench, empty)
    bench.go_back(reference.middle)
    one, other = (own_clone(bench, reference.middle) for _ in range(2))
    runs = [(*reference.event, 100, one), (*reference.event, 100, other)]
    codes = bench.at_once(runs, ("write",))
    if 0 not in codes or 3 in codes:
        return f"exit codes {codes}: {logs(runs)}"
    return untrue(bench.world, "") or differs(bench, reference)


def opened_and_labelled(bench: Bench, empty: Kept) -> str:
    """An issue with a label at its creation fires two events."""
    reference = flow("form filed")(bench, empty)
    bench.go_back(reference.start)
    runs = [
        ("issues", issue(1, FORM, action), 100 + each, own_clone(bench, reference.start))
        for each, action in enumerate(("opened", "labeled"))
    ]
    codes = bench.at_once(runs)
    if 0 not in codes or 3 in codes:
        return f"exit codes {codes}: {logs(runs)}"
    return untrue(bench.world, "") or differs(bench, reference)


def late_push(bench: Bench, empty: Kept) -> str:
    """An old run comes to its last job when a newer push was carried out."""
    reference = flow("good contract pushed")(bench, empty)
    bench.go_back(reference.middle)
    before, after = bench.world.commit({PATH: CHANGED})
    newer: Event = "push", push(before, after)
    ran = bench.run(*newer, run=101)
    if ran.code:
        return ran.log[-300:]
    return unchanged_by(bench, reference.event)


def late_form(bench: Bench, empty: Kept) -> str:
    """An old run of an issue comes to its last job when a newer one has told its end."""
    reference = flow("form filed")(bench, empty)
    bench.go_back(reference.middle)
    ran = bench.run(*reference.event, run=101)
    if ran.code:
        return ran.log[-300:]
    return unchanged_by(bench, reference.event)


def redelivered(bench: Bench, empty: Kept) -> str:
    """The same delivery id at the server again, at once and after it was killed or stopped."""
    bench.go_back(empty)
    service = make_service(bench.world.bare.parent / "serve", bench.hub, bench.world)
    service.arguments = ("--workers", "0")
    event: Event = "push", push("a" * 40, "b" * 40)
    try:
        service.start()
        first = [service.deliver(*event, "redelivered-1").status for _ in range(20)]
        if first != [202] + [200] * 19:
            return f"answered {first}"
        for end in (service.kill, service.stop):
            end()
            service.start()
            again = service.deliver(*event, "redelivered-1")
            if (again.status, again.reason) != (200, Reason.DUPLICATE):
                return f"answered {again.status} after a new start"
        depth = service.figure("queue_depth")
        return "" if depth == 1 else f"{depth:g} deliveries in the queue"
    finally:
        service.close()


def unchanged_by(bench: Bench, event: Event) -> str:
    """Let run 100 write now; gives what it changed."""
    then = (objects(bench.world), comments(bench.world))
    bodies = [each.body for each in bench.world.hosted.record.comments.values()]
    bench.run(*event, run=100, stages=("write",))
    now = (objects(bench.world), comments(bench.world))
    if bodies != [each.body for each in bench.world.hosted.record.comments.values()]:
        return "a comment of the newer run was edited"
    return "" if now == then else "the older run changed something"


def own_clone(bench: Bench, kept: Kept) -> WiredWorld:
    """A clone with the files of its run beside it."""
    return bench.another_clone(kept)


def logs(runs: list[tuple[str, dict[str, object], int, WiredWorld]]) -> str:
    paths = [world.clone.parent / f"log-{run}" for _, _, run, world in runs]
    return " | ".join(path.read_text()[-200:] for path in paths if path.exists())


CASES = (
    *(Case(f"{each.name}: 20 times, 5 at once", often(each.name)) for each in FLOWS),
    Case("two runners at the last job", two_writers),
    Case("opened and labeled together", opened_and_labelled),
    Case("redelivered with the same delivery id", redelivered),
    Case("an old run of a push ends last", late_push),
    Case("an old run of a form ends last", late_form),
)
