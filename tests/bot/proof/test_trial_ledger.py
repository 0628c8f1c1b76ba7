"""What was tried is never forgotten: counted once, by whoever, in whatever order."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.errors import InputError, SafetyStop, WorldError
from bot.git.repository import open_repository
from bot.proof.trial_ledger import BRANCH, Opened, Scope, TrialLedger, Tried
from tests.bot.git.worlds import World, make_world, sh

HERE = Scope(
    workflow="dip", task="a", symbols=("BTC/USDT",), timeframe="1h", first=1_000, last=2_000
)


def ledger(world: World) -> TrialLedger:
    return TrialLedger(open_repository(world.work))


def names(*numbers: int) -> list[str]:
    return [f"{number:016x}" for number in numbers]


@pytest.mark.parametrize("remote", [True, False])
def test_sets_are_counted_once_and_only_where_workflow_and_candles_meet(
    tmp_path: Path, remote: bool
) -> None:
    kept = ledger(make_world(tmp_path, remote=remote))
    for scope, tried in (
        (HERE, (1, 2, 3)),
        (HERE, (3, 4)),
        (HERE.model_copy(update={"task": "b", "first": 1_900, "last": 9_000}), (5,)),
        (HERE.model_copy(update={"workflow": "other"}), (6,)),
        (HERE.model_copy(update={"first": 2_001, "last": 3_000}), (7,)),
        (HERE.model_copy(update={"symbols": ("ETH/USDT",)}), (8,)),
        (HERE.model_copy(update={"timeframe": "4h"}), (9,)),
    ):
        kept.note(kept.entry(scope, "sweep", names(*tried)), publish=False)
    # What waits here counts already.
    assert kept.before(kept.read(), HERE).tries == {*names(1, 2, 3, 4, 5)}
    chain = kept.publish()
    assert len(chain.entries) == 7
    assert kept.before(chain, HERE).tries == {*names(1, 2, 3, 4, 5)}
    assert kept.publish().seen == chain.seen


def test_an_opening_waits_for_the_next_run_and_is_counted_meanwhile(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    kept = ledger(world)
    kept.publish_waiting()
    assert sh(world.remote, "branch", "--list", BRANCH) == ""
    sealed = HERE.model_copy(update={"first": 2_001, "last": 3_000})
    kept.note(kept.opening(sealed, f"sha256:{'2' * 64}"), publish=False)
    assert kept.before(kept.read(), HERE).openings == 1
    for _ in range(2):
        kept.publish_waiting()
        assert sh(world.remote, "rev-list", "--count", BRANCH) == "1"
    chain = kept.read()
    assert kept.before(chain, HERE).openings == 1
    assert kept.before(chain, HERE.model_copy(update={"workflow": "x"})).openings == 0
    # The same days by other candles are the same days.
    assert kept.before(chain, HERE.model_copy(update={"timeframe": "4h"})).openings == 1


@pytest.mark.parametrize("kind", ["opening", "search"])
def test_what_was_published_by_a_run_that_died_then_is_not_counted_again(
    tmp_path: Path, kind: str
) -> None:
    world = make_world(tmp_path)
    kept, search = ledger(world), f"sha256:{'1' * 64}"
    if kind == "opening":
        entry: Opened | Tried = kept.opening(HERE, f"sha256:{'2' * 64}")
    else:
        entry = kept.entry(HERE, "run", names(1), search=search, after=0)
    kept.note(entry, publish=False)
    waiting = {p: p.read_bytes() for p in (kept.repository.folder / "trials").glob("*.json")}
    assert len(waiting) == 1
    kept.publish()
    for path, data in waiting.items():  # it died before it could take the file away
        path.write_bytes(data)
    chain = kept.publish()
    assert len(chain.entries) == 1
    assert not any(path.exists() for path in waiting)
    assert kept.before(chain, HERE).openings == (kind == "opening")


def test_an_entry_that_nobody_could_read_is_not_written(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    kept = ledger(world)
    entry = kept.entry(HERE, "sweep", names(1)).model_copy(update={"tries": "0" * 20_000_000})
    with pytest.raises(InputError, match="so many sets"):
        kept.note(entry, publish=True)
    assert kept.publish().entries == ()


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path / "a")
    sh(tmp_path, "clone", "-q", str(world.remote), "second")
    for key, value in (("user.name", "a"), ("user.email", "a@example.com")):
        sh(tmp_path / "second", "config", key, value)
    both = [ledger(world), ledger(World(tmp_path / "second", world.remote))]

    def write(number: int) -> None:
        one = both[number % 2]
        one.note(one.entry(HERE, "sweep", names(number)), publish=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(6)))
    for one in both:
        assert one.before(one.publish(), HERE).tries == {*names(*range(6))}


def test_a_search_that_was_overtaken_counts_and_has_to_run_again(tmp_path: Path) -> None:
    kept = ledger(make_world(tmp_path))
    search = f"sha256:{'1' * 64}"
    kept.note(kept.entry(HERE, "sweep", names(1)), publish=True)
    with pytest.raises(WorldError, match="somebody else"):
        kept.note(kept.entry(HERE, "run", names(2), search=search, after=0), publish=True)
    chain = kept.read()
    assert kept.own(chain, search) is None
    assert kept.before(chain, HERE).tries == {*names(1, 2)}
    kept.note(kept.entry(HERE, "run", names(2), search=search, after=2), publish=True)
    kept.note(kept.entry(HERE, "sweep", names(3)), publish=True)
    # Whoever asks later gets what the search itself had counted.
    assert kept.before(kept.read(), HERE, search).tries == {*names(1, 2)}


@pytest.mark.parametrize("how", ["gone", "shorter", "changed"])
def test_a_branch_that_does_not_go_on_from_what_was_seen_is_refused(
    tmp_path: Path, how: str
) -> None:
    world = make_world(tmp_path)
    kept = ledger(world)
    for number in (1, 2):
        kept.note(kept.entry(HERE, "sweep", names(number)), publish=True)
    work, ref = world.work, f"refs/heads/{BRANCH}"
    if how == "gone":
        new = ""
    elif how == "shorter":
        new = sh(work, "rev-parse", f"{BRANCH}~1")
    else:
        tree = sh(work, "rev-parse", f"{BRANCH}~1^{{tree}}")
        new = sh(work, "commit-tree", "-m", "other", tree)
    for place in (work, world.remote):
        if new:
            sh(place, "fetch", "-q", str(work), new) if place != work else None
            sh(place, "update-ref", ref, new)
        else:
            sh(place, "update-ref", "-d", ref)
    with pytest.raises(SafetyStop, match=BRANCH):
        kept.read()
