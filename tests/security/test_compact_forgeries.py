"""Forged evidence of a long backtest, of which Git keeps some rows: what is left out and told."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.forge.port import PullState, open_forge
from bot.git.proposal import BranchTaken, TagTaken
from bot.git.repository import open_repository
from bot.proof import compact, evidence
from sandbox_runner.port import open_sandbox
from tests.bot.git.worlds import World, quiet_environment
from tests.chance import EVERY_ATTACK
from tests.e2e.lines import checked, run
from tests.remembered import Remembering
from tests.security.delivered import deliver, plant, set_back
from tests.security.forger import Case, Forgery, git, write_tag

BRANCH = "ai/generated/dip/strategy"
CURVE, TRADES, EVENTS = "equity_curve.csv", "trades.csv", "events.log"
Lines = list[bytes]
Change = Callable[[Path, Case], object]


def _lines(name: str, change: Callable[[Lines], Lines]) -> Change:
    def forge(place: Path, case: Case) -> None:
        path = f"{case.folder}/{name}"
        content = case.files[path]
        assert content is not None
        changed = b"".join(change(content.splitlines(keepends=True)))
        assert changed != content
        case.files[path] = changed

    return forge


def _told(change: Callable[[dict[str, dict[str, int]]], object]) -> Change:
    return lambda place, case: case.change_json(
        "summary.json", lambda summary: change(summary["compact"])
    )


def _not_told(place: Path, case: Case) -> None:
    case.change_json("summary.json", lambda summary: summary.pop("compact"))


def _counted(name: str, more: int, change: Callable[[Lines], Lines]) -> Change:
    """Rows changed, and their number told as it is then."""

    def forge(place: Path, case: Case) -> None:
        _lines(name, change)(place, case)
        _told(lambda told: told[name].update(rows=told[name]["rows"] + more))(place, case)

    return forge


def _whole_curve(place: Path, case: Case) -> None:
    """Every hour has its row, and nothing is said to be left out."""
    candles = git(place, "cat-file", "blob", f"{case.parents[0]}:data/btc.csv").splitlines()[1:]
    rows = [line.split(b",")[0] + b",10000.0,10000.0,0.0\n" for line in candles]
    _lines(CURVE, lambda lines: lines[:1] + rows)(place, case)
    case.change_json("summary.json", lambda summary: summary["compact"].pop(CURVE))


def _no_fall(place: Path, case: Case) -> None:
    """The deepest row is gone, and the summary tells a smaller fall."""

    def shallow(lines: Lines) -> Lines:
        deepest = max(lines[1:], key=lambda line: float(line.split(b",")[3]))
        return [line for line in lines if line != deepest]

    _lines(CURVE, shallow)(place, case)
    _told(lambda told: told[CURVE].update(rows=told[CURVE]["rows"] - 1))(place, case)
    case.change_json("summary.json", lambda summary: summary.update(max_drawdown=0.0001))


def _page(place: Path, case: Case) -> None:
    """The page speaks of more rows than there are."""
    case.replace(f"{case.folder}/report.html", b"The evidence keeps ", b"The evidence keeps 9")


FORGERIES = (
    Forgery("a kept row less", _counted(CURVE, -1, lambda rows: rows[:5] + rows[6:])),
    Forgery("a kept row more", _counted(CURVE, 1, lambda rows: rows[:6] + rows[5:])),
    Forgery("a kept row of another height", _lines(CURVE, lambda rows: [
        *rows[:7], rows[7].replace(b"Z,", b"Z,1", 1), *rows[8:]])),
    Forgery("rows in another order", _lines(CURVE, lambda rows: [
        *rows[:3], rows[4], rows[3], *rows[5:]])),
    Forgery("rows with other line ends", _lines(CURVE, lambda rows: [
        row.replace(b"\n", b"\r\n") for row in rows])),
    Forgery("no deep fall", _no_fall),
    Forgery("the last row moved", _lines(CURVE, lambda rows: [*rows[:-1], rows[-1][:-2] + b"9\n"])),
    Forgery("a whole curve that is level", _whole_curve),
    Forgery("more rows told", _told(lambda told: told[CURVE].update(rows=told[CURVE]["rows"] + 1))),
    Forgery("a longer history told", _told(lambda told: told[CURVE].update(of=9_999_999))),
    Forgery("a shorter history told", _told(
        lambda told: told[CURVE].update(of=told[CURVE]["rows"]))),
    Forgery("nothing told of what is left out", _not_told),
    Forgery("a file told that is whole", _told(
        lambda told: told.update({"summary.json": {"rows": 1, "of": 2}}))),
    Forgery("a count that is no number", _told(lambda told: told[CURVE].update(of="many"))),
    Forgery("other trades at the end", _lines(TRADES, lambda rows: [*rows[:-1], rows[1]])),
    Forgery("trades of the middle", _counted(TRADES, 1, lambda rows: [
        *rows[:3], rows[2].replace(b"pos_2", b"pos_3"), *rows[3:]])),
    Forgery("the losing trades left out", _counted(TRADES, -1, lambda rows: rows[:2] + rows[3:])),
    Forgery("events of the middle", _counted(EVENTS, 1, lambda rows: [
        *rows[:3], rows[2], *rows[3:]])),
    Forgery("another first event", _lines(EVENTS, lambda rows: [rows[1], *rows[1:]])),
    Forgery("a page that counts otherwise", _page),
)  # fmt: skip
FIRST = FORGERIES[:: 1 if EVERY_ATTACK else 3]


def names(forgery: Forgery) -> str:
    return forgery.name.replace(" ", "-")


@pytest.fixture(scope="module")
def sandbox(memory: Path) -> Remembering:
    return Remembering(memory, open_sandbox())


@pytest.fixture(scope="module")
def delivered(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Remembering
) -> Iterator[tuple[World, str, Path]]:
    """An honest run whose files are kept in part, as those of a long one are."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in quiet_environment().items():
            patch.setenv(name, value)
        patch.setattr(compact, "MOST_ROWS", 100)
        patch.setattr(evidence, "MOST_TRADES", 4)
        patch.setattr(evidence, "MOST_EVENTS", 6)
        yield deliver(tmp_path_factory.mktemp("compact"), sandbox)


@pytest.fixture
def place(delivered: tuple[World, str, Path]) -> tuple[World, str]:
    world, tag, _ = delivered
    set_back(world, tag)
    return world, tag


def test_honest_evidence_in_part_holds(place: tuple[World, str], sandbox: Remembering) -> None:
    world, tag = place
    summary = git(world.work, "cat-file", "blob", f"{tag}:artifacts/dip/strategy/summary.json")
    assert json.loads(summary)["compact"].keys() == {CURVE, TRADES, EVENTS}
    assert checked(world.work, tag, sandbox).outcome == "holds"


@pytest.mark.parametrize("forgery", FORGERIES, ids=names)
def test_verify_says_that_it_is_broken(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    case, commit = forgery.make(world.work, tag)
    git(world.work, "update-ref", f"refs/tags/{tag}", write_tag(world.work, case, commit, tag))
    found = checked(world.work, tag, sandbox)
    wrong = [each for each in found.findings if each.outcome == found.outcome]
    assert (found.outcome, found.exit_code) == ("broken", 1)
    assert wrong[0].detail


@pytest.mark.parametrize("forgery", FIRST, ids=names)
def test_a_tag_that_is_first_stops_the_run(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    commit = plant(world, tag, forgery)
    with pytest.raises(TagTaken, match="is not what this contract gives: ") as stop:
        run(world, sandbox)
    assert commit[:12] in stop.value.message
    assert open_forge("local", open_repository(world.work)).pulls() == ()


@pytest.mark.parametrize("forgery", FIRST[:3], ids=names)
def test_a_second_candidate_is_not_regenerated_into_ours(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    first = run(world, sandbox)
    commit = plant(world, tag, forgery, f"{tag}.2")
    with pytest.raises(TagTaken) as stop:
        run(world, sandbox, regenerate=True)
    assert commit[:12] in stop.value.message
    assert world.refs()[f"there:refs/heads/{BRANCH}"] == first.commit


@pytest.mark.parametrize("forgery", FIRST[:3], ids=names)
def test_a_branch_that_is_first_is_left_alone(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    _, commit = forgery.make(world.work, tag)
    git(world.work, "push", "-q", str(world.remote), f"+{commit}:refs/heads/{BRANCH}")
    git(world.work, "update-ref", "-d", f"refs/tags/{tag}")
    with pytest.raises(BranchTaken):
        run(world, sandbox)
    assert world.refs()[f"there:refs/heads/{BRANCH}"] == commit


@pytest.mark.parametrize("forgery", FIRST[:3], ids=names)
def test_a_pull_request_that_is_first_shows_nothing_forged_afterwards(
    forgery: Forgery,
    place: tuple[World, str],
    delivered: tuple[World, str, Path],
    sandbox: Remembering,
) -> None:
    world, tag = place
    commit = plant(world, tag, forgery)
    git(world.remote, "update-ref", "-d", f"refs/tags/{tag}")
    pulls = world.work / ".git/stratwright/forge/pulls"
    shutil.copytree(delivered[2], pulls)
    record = json.loads((pulls / "1.json").read_text())
    record["draft"] |= {"head": commit, "body": "all rows are kept"}
    (pulls / "1.json").write_text(json.dumps(record))
    result = run(world, sandbox)
    shown = open_forge("local", open_repository(world.work)).get(result.pull_request or 0)
    assert (shown.state, shown.draft.head) == (PullState.OPEN, result.commit)
    assert result.commit != commit
    assert "all rows are kept" not in shown.draft.body
    assert checked(world.work, result.tag, sandbox).outcome == "holds"
