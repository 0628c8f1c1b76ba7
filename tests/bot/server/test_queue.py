"""The queue against a model of it: nothing lost, nothing twice, each repository in order."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bot.errors import InputError, WorldError
from bot.forge.reasons import Reason
from bot.server.deliveries import Delivery
from bot.server.queue import KEEP_DAYS, LONGEST_WAIT_S, Added, Claim, Queue
from tests.bot.server.service import Service
from tests.chance import examples

HOUR = 3600.0


class Clock:
    """A wall clock that can be set."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Iterator[Queue]:
    made = Queue(tmp_path, clock)
    yield made
    made.close()


def delivery(name: str, repository: str = "acme/one", body: bytes = b"{}") -> Delivery:
    return Delivery(name, "push", repository, 7, body)


def taken(queue: Queue, owner: str = "w") -> Claim:
    claim = queue.claim(owner)
    assert claim is not None
    return claim


def test_a_delivery_comes_out_as_it_went_in(queue: Queue) -> None:
    given = delivery("a", body=bytes(range(256)))
    assert queue.add([given]) == [Added.ACCEPTED]
    claim = taken(queue)
    assert (claim.delivery, claim.attempts) == (given, 1)
    assert queue.claim("other") is None


def test_the_same_id_is_accepted_once_in_every_state(queue: Queue) -> None:
    assert queue.add([delivery("a"), delivery("a")]) == [Added.ACCEPTED, Added.DUPLICATE]
    claim = taken(queue)
    assert queue.add([delivery("a")]) == [Added.DUPLICATE]
    queue.finish(claim, "proposed")
    assert queue.add([delivery("a")]) == [Added.DUPLICATE]
    assert queue.claim("w") is None


def test_one_that_was_set_aside_can_be_delivered_again(queue: Queue) -> None:
    queue.add([delivery("a"), delivery("b")])
    queue.set_aside(taken(queue), Reason.BUG, "why")
    (row,) = queue.aside()
    assert (row.id, row.reason, row.detail, row.attempts) == ("a", "bug", "why", 1)
    assert queue.add([delivery("a")]) == [Added.ACCEPTED]
    assert queue.aside() == ()
    first = taken(queue)
    assert first.delivery.id == "b"
    queue.finish(first, "unchanged")
    again = taken(queue)
    assert (again.delivery.id, again.attempts) == ("a", 1)
    assert again.seq > first.seq


def test_an_older_delivery_that_waits_is_not_overtaken(queue: Queue, clock: Clock) -> None:
    queue.add([delivery("a"), delivery("b", "ACME/One"), delivery("c", "acme/two")])
    queue.retry(taken(queue), 60, Reason.WORLD_FAILED, "away")
    other = taken(queue)
    assert other.delivery.id == "c"
    assert queue.claim("w") is None
    clock.time += 61
    assert taken(queue).delivery.id == "a"
    assert queue.claim("w") is None


@pytest.mark.parametrize("hours", [-24 * 365, -3])
def test_a_clock_that_is_set_back_stops_nothing(queue: Queue, clock: Clock, hours: float) -> None:
    queue.add([delivery("a")])
    first = taken(queue)
    queue.retry(first, LONGEST_WAIT_S, Reason.WORLD_FAILED, "")
    clock.time += hours * HOUR
    assert taken(queue).delivery.id == "a"
    queue.add([delivery("b", "acme/two")])
    assert taken(queue).seq > first.seq
    assert queue.census().oldest_s >= 0


def test_a_clock_that_is_set_forward_takes_no_lease_away(queue: Queue, clock: Clock) -> None:
    queue.add([delivery("a")])
    claim = taken(queue)
    clock.time += 10 * 365 * 24 * HOUR
    assert queue.claim("other") is None
    assert queue.recover(lambda owner: True, 5) == []
    queue.finish(claim, "unchanged")


def test_a_lease_that_was_lost_writes_nothing(queue: Queue) -> None:
    queue.add([delivery("a")])
    claim = taken(queue)
    queue.recover(lambda owner: False, 5)
    newer = taken(queue, "x")
    with pytest.raises(WorldError, match="not leased to w"):
        queue.finish(claim, "proposed")
    queue.finish(newer, "proposed")
    assert newer.attempts == 2


def test_a_delivery_that_kills_its_workers_is_set_aside(queue: Queue) -> None:
    queue.add([delivery("a"), delivery("b")])
    for _ in range(4):
        assert taken(queue).delivery.id == "a"
        assert queue.recover(lambda owner: False, 4) == ["a"]
    assert [row.reason for row in queue.aside()] == ["worker-died"]
    assert taken(queue).delivery.id == "b"


def test_what_is_put_back_was_not_begun(queue: Queue) -> None:
    queue.add([delivery("a")])
    for _ in range(20):
        queue.release(taken(queue))
        taken(queue)
        queue.recover(lambda owner: False)
    assert taken(queue).attempts == 1


def test_many_at_once_accept_and_lease_each_once(tmp_path: Path) -> None:
    names = [f"d{n}" for n in range(40)]
    added: list[Added] = []
    claimed: list[str] = []

    def add() -> None:
        own = Queue(tmp_path)
        for name in names:
            added.extend(own.add([delivery(name, f"acme/{name}")]))
        own.close()

    def work(owner: str) -> None:
        own = Queue(tmp_path)
        while claim := own.claim(owner):
            claimed.append(claim.delivery.id)
            own.finish(claim, "unchanged")
        own.close()

    for kind in ([add] * 4, [lambda n=n: work(f"w{n}") for n in range(4)]):
        threads = [threading.Thread(target=each) for each in kind]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert added.count(Added.ACCEPTED) == len(names)
    assert sorted(claimed) == sorted(names)


def test_what_ended_long_ago_is_forgotten_and_nothing_else(queue: Queue, clock: Clock) -> None:
    queue.add([delivery("a", "acme/1"), delivery("b", "acme/2"), delivery("c", "acme/3")])
    queue.finish(taken(queue), "unchanged")
    clock.time += (KEEP_DAYS + 1) * 86_400
    queue.set_aside(taken(queue), Reason.BUG, "")
    assert queue.forget() == 1
    assert queue.add([delivery("a"), delivery("c")]) == [Added.ACCEPTED, Added.DUPLICATE]


def test_a_queue_of_another_version_or_no_queue_is_told(tmp_path: Path) -> None:
    Queue(tmp_path).close()
    db = sqlite3.connect(tmp_path / "queue.sqlite3")
    db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(InputError, match="version 9"):
        Queue(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/queue.sqlite3").write_bytes(b"no database at all, long enough" * 50)
    with pytest.raises(WorldError, match="cannot be opened"):
        Queue(tmp_path / "other")


def test_writes_reach_the_disk_before_they_return(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    (mode,) = queue._db.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = queue._db.execute("PRAGMA synchronous").fetchone()
    assert (mode, synchronous) == ("wal", 2)
    queue.close()
    assert oct(os.stat(tmp_path / "queue.sqlite3").st_mode)[-3:] != "777"


REPOSITORIES = st.sampled_from(["a/x", "A/X", "a/y", "b/z"])


class Model(RuleBasedStateMachine):
    """Any order of deliveries, work, failures and deaths, beside plain lists."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.queue = Queue(Path(self.folder.name), self.clock)
        self.order: list[tuple[str, str]] = []
        self.held: dict[str, Claim] = {}
        self.waiting: set[str] = set()
        self.ended: list[str] = []
        self.count = 0

    @rule(repository=REPOSITORIES)
    def arrive(self, repository: str) -> None:
        self.count += 1
        name = f"d{self.count}"
        assert self.queue.add([delivery(name, repository)]) == [Added.ACCEPTED]
        self.order.append((name, repository.casefold()))

    @rule()
    def arrive_again(self) -> None:
        known = [name for name, _ in self.order] + self.ended
        given = [delivery(name) for name in known]
        assert set(self.queue.add(given)) <= {Added.DUPLICATE}

    @rule()
    def work(self) -> None:
        claim = self.queue.claim("w")
        heads: dict[str, str] = {}
        for name, lane in self.order:
            heads.setdefault(lane, name)
        free = [
            name
            for name, _ in self.order
            if name in heads.values() and name not in self.held and name not in self.waiting
        ]
        assert (claim.delivery.id if claim else None) == (free[0] if free else None)
        if claim:
            self.held[claim.delivery.id] = claim

    @rule(data=st.data(), how=st.sampled_from(["finish", "aside", "retry", "release"]))
    def end(self, data: st.DataObject, how: str) -> None:
        if not self.held:
            return
        name = data.draw(st.sampled_from(sorted(self.held)))
        claim = self.held.pop(name)
        if how == "retry":
            self.queue.retry(claim, 100, Reason.WORLD_FAILED, "")
            self.waiting.add(name)
        elif how == "release":
            self.queue.release(claim)
        else:
            self.order = [each for each in self.order if each[0] != name]
            if how == "finish":
                self.queue.finish(claim, "unchanged")
                self.ended.append(name)
            else:
                self.queue.set_aside(claim, Reason.BUG, "")

    @rule()
    def all_die(self) -> None:
        assert sorted(self.queue.recover(lambda owner: False, 10**6)) == sorted(self.held)
        self.held.clear()

    @rule()
    def time_passes(self) -> None:
        self.clock.time += 101
        self.waiting.clear()

    @rule()
    def killed(self) -> None:
        """Another process opens the file; nothing was closed in order."""
        self.queue = Queue(Path(self.folder.name), self.clock)

    @invariant()
    def nothing_is_lost(self) -> None:
        census = self.queue.census()
        assert census.queued + census.leased == len(self.order)
        assert census.leased == len(self.held)
        assert census.tallies.get("done:unchanged", 0) == len(self.ended)

    def teardown(self) -> None:
        self.queue.close()
        self.folder.cleanup()


Model.TestCase.settings = examples(25, stateful_step_count=25)
TestModel = Model.TestCase


def test_a_queue_that_was_cut_off_or_scribbled_on_is_told_and_nothing_is_made_up(
    tmp_path: Path,
) -> None:
    queue = Queue(tmp_path)
    queue.add([delivery(f"id-{n:06}", body=b"x" * 5000) for n in range(40)])
    queue.close()
    file = tmp_path / "queue.sqlite3"
    whole = file.read_bytes()
    scribbled = whole[:4096] + b"\x00" * 40960 + whole[45056:]
    for broken in (b"", whole[:100], whole[:5000], scribbled, b"x" * len(whole)):
        file.write_bytes(broken)
        for side in ("-wal", "-shm"):
            (tmp_path / f"queue.sqlite3{side}").unlink(missing_ok=True)
        if not broken:
            assert Queue(tmp_path).claim("w") is None  # an empty file is an empty queue
            continue
        with pytest.raises(WorldError, match="cannot be opened") as error:
            Queue(tmp_path)
        assert "backup" in error.value.hint
        assert file.read_bytes() == broken


def test_damage_deep_in_the_file_is_found_before_anything_is_accepted(tmp_path: Path) -> None:
    queue = Queue(tmp_path)
    queue.add([delivery(f"id-{n:06}", body=b"x" * 5000) for n in range(200)])
    queue.examine()
    queue.close()
    file = tmp_path / "queue.sqlite3"
    whole = bytearray(file.read_bytes())
    pages = len(whole) // 4096
    found = 0
    for page in range(1, pages):
        broken = bytearray(whole)
        broken[page * 4096 : page * 4096 + 64] = b"\xff" * 64
        file.write_bytes(broken)
        try:
            again = Queue(tmp_path)
            again.examine()
        except WorldError as error:
            found += "backup" in error.hint
    # A body's own pages have no form to be checked against.
    assert found >= 20


def test_the_server_does_not_start_with_a_damaged_queue(service: Service) -> None:
    queue = Queue(service.state)
    queue.add([delivery(f"id-{n:06}", body=b"x" * 5000) for n in range(50)])
    queue.close()
    file = service.state / "queue.sqlite3"
    file.write_bytes(file.read_bytes()[: 4096 * 12])
    with pytest.raises(AssertionError, match=r"queue.*(damaged|cannot be opened)"):
        service.start()
    assert service.process is not None
    assert service.process.wait(30) == 4
