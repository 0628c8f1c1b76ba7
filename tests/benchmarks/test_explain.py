"""The replay of fill rules gives our engine's trades, and nothing foreign passes as explained."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.engine.explain import OURS, PEER_RULES, compare, work_of
from benchmarks.engine.fill_rules import Rules, Work, play_one, replay
from benchmarks.engine.ours import WORKS
from benchmarks.engine.race_candles import CALM, WILD, Nature, write_candles
from benchmarks.engine.worker import load


def columns(folder: Path, bars: int, nature: Nature) -> Any:
    return load(str(write_candles(folder / "candles", bars, nature)))


def rows(c: Any, rules: Rules, name: str) -> list[Any]:
    return [tuple(trade)[1:] for trade in replay(c, work_of(name, c), rules)]


@pytest.mark.parametrize("name", ["dip", "cross"])
@pytest.mark.parametrize("nature", [CALM, WILD])
def test_our_rules_replayed_are_our_engine(tmp_path: Path, name: str, nature: Nature) -> None:
    c = columns(tmp_path, 6_000, nature)
    ours = [tuple(trade) for trade in WORKS[name](c)()()]
    expected = [tuple(pytest.approx(x, rel=1e-12) for x in row) for row in rows(c, OURS, name)]
    assert len(ours) > 3
    assert ours == expected


@pytest.mark.parametrize("peer", PEER_RULES)
def test_a_peers_own_rules_leave_nothing_unexplained(tmp_path: Path, peer: str) -> None:
    c = columns(tmp_path, 6_000, WILD)
    work = work_of("dip", c)
    ours, theirs = rows(c, OURS, "dip"), rows(c, PEER_RULES[peer], "dip")
    found = compare(c, work, PEER_RULES[peer], ours, theirs)
    assert found.unexplained == []
    assert found.same < found.theirs or found.theirs < found.ours
    assert found.reasons


def test_a_foreign_trade_is_not_explained(tmp_path: Path) -> None:
    c = columns(tmp_path, 6_000, WILD)
    ours = rows(c, OURS, "dip")
    entry_bar, exit_bar, entry, left = ours[5]
    for odd in (
        (entry_bar, exit_bar, entry, left * 1.001),
        (entry_bar, exit_bar + 1, entry, left),
        (entry_bar + 1, exit_bar + 1, entry, left),
    ):
        theirs = [*ours[:5], odd, *ours[6:]]
        assert compare(c, work_of("dip", c), OURS, ours, theirs).unexplained
    assert compare(c, work_of("dip", c), OURS, ours, ours[:5] + ours[6:]).unexplained
    assert not compare(c, work_of("dip", c), OURS, ours, ours).unexplained


def bars(*prices: tuple[float, float, float, float]) -> Any:
    names = ("open", "high", "low", "close")
    return {name: np.array([row[place] for row in prices]) for place, name in enumerate(names)}


FLAT = (100.0, 100.0, 100.0, 100.0)


@pytest.mark.parametrize(
    ("bar", "rules", "left"),
    [
        ((90, 96, 88, 91), Rules(), 90),
        ((90, 96, 88, 91), Rules(stop_gap="level"), 95),
        ((90, 96, 88, 91), Rules(stop_gap="level_if_traded"), 95),
        ((90, 94, 88, 91), Rules(stop_gap="level_if_traded"), 90),
        ((100, 106, 94, 101), Rules(), 95),
        ((100, 106, 94, 101), Rules(both="target"), 105),
        ((100, 106, 94, 99), Rules(both="colour"), 105),
        ((100, 106, 94, 101), Rules(both="colour"), 95),
        ((110, 112, 109, 111), Rules(), 110),
        ((110, 112, 109, 111), Rules(target_gap="level"), 105),
        ((110, 112, 109, 111), Rules(target_gap="low"), 109),
        ((110, 112, 94, 96), Rules(), 110),
        ((110, 112, 94, 96), Rules(target_at_open=False), 95),
    ],
)
def test_each_switch_is_the_rule_it_names(bar: Any, rules: Rules, left: float) -> None:
    c = bars(FLAT, FLAT, bar, FLAT)
    enter = np.array([True, False, False, False])
    work = Work(enter, np.zeros(4, bool), 0.05, 0.05)
    trade = play_one(c, work, rules, 0)
    assert trade is not None
    assert trade.exit == pytest.approx(left)
    assert (trade.entry_bar, trade.exit_bar) == (1, 2)
