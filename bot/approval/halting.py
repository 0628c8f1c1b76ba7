"""Stops what runs: on this host, on the bus and on the branch, whichever of them can be reached."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.approval.chain import EVERYTHING, Halt
from bot.approval.desk import Desk
from bot.approval.host_state import HaltSeen
from bot.bus.port import Event, EventName, open_bus, timestamp
from bot.errors import StratwrightError
from bot.git.remote import StaleView

_ATTEMPTS = 5


@dataclass(frozen=True)
class Told:
    """One place that was told to stop, and what came in between, if something did."""

    place: str
    trouble: str = ""


def halt(desk: Desk, scope: str, by: str, reason: str) -> tuple[Told, ...]:
    """Orders a halt everywhere; what cannot be told is said, and keeps nothing from being told.

    Args:
        desk: host and repository; the host's file is not needed.
        scope: workflow/task, or * for everything.
        by: who.
        reason: why.
    """
    now = desk.now()
    # An order to stop is never refused for the letters that it is written in.
    by, reason = plain(by) or "somebody", plain(reason)
    ways: dict[str, Callable[[], object]] = {
        "host": lambda: desk.state.note_halt(HaltSeen(scope, now, "host", reason)),
        "bus": lambda: tell(desk, EventName.HALTED, scope, {"by": by, "reason": reason}),
        "branch": lambda: _branch(desk, scope, by, reason),
    }
    return tuple(_try(place, way) for place, way in ways.items())


def plain(text: str) -> str:
    """Writes words in the letters that an entry of the chain takes."""
    return ascii(text)[1:-1][:200].strip()


def tell(
    desk: Desk, name: EventName, scope: str, data: Mapping[str, object], correlation: str = ""
) -> None:
    """Publishes what happened to the bus."""
    workflow, _, task = scope.partition("/")
    at = timestamp(desk.clock.now())
    event = Event(name, correlation or "all", workflow, task or EVERYTHING, at, data)
    open_bus(desk.repository.folder, desk.repository.repository_id).publish(event)


def _try(place: str, way: Callable[[], object]) -> Told:
    try:
        way()
    except StratwrightError as error:
        return Told(place, f"{error.message}. {error.hint}".rstrip(". "))
    except (OSError, ValueError) as error:
        return Told(place, f"{type(error).__name__}: {error}")
    return Told(place)


def _branch(desk: Desk, scope: str, by: str, reason: str) -> None:
    """Writes the entry at the remote, or nowhere.

    Written here alone it would stand where somebody else writes the next one meanwhile: two
    histories, and a host that trusts neither. This host and its bus are told anyway.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            chain = desk.chain()
            number, previous = chain.next
            entry = Halt(
                sequence=number, previous=previous, at=desk.now(), scope=scope, by=by, reason=reason
            )
            desk.write(chain, entry)
            return
        except StaleView:
            if not left:
                raise
