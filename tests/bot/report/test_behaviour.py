from dataclasses import replace

from bot.report.behaviour import compare_trades
from tests.bot.report.stories import told

TRADES = tuple(told().trades)


def test_the_same_trades_are_no_change() -> None:
    change = compare_trades(TRADES, TRADES)
    assert change.is_none
    assert change.unchanged == len(TRADES)


def test_added_removed_and_changed_are_told_apart() -> None:
    later = replace(TRADES[3], exit_time=TRADES[3].exit_time + 1, pnl=TRADES[3].pnl + 1)
    change = compare_trades(TRADES[1:], (*TRADES[:3], later, *TRADES[4:-1]), "main")
    assert change.added == (TRADES[0],)
    assert change.removed == (TRADES[-1],)
    assert change.changed == ((TRADES[3], later),)
    assert change.unchanged == len(TRADES) - 3
    assert change.base == "main"


def test_both_directions_mirror_each_other() -> None:
    there, back = compare_trades(TRADES[:9], TRADES[4:]), compare_trades(TRADES[4:], TRADES[:9])
    assert (there.added, there.removed) == (back.removed, back.added)
    assert (there.pnl_before, there.pnl_after) == (back.pnl_after, back.pnl_before)


def test_parts_of_one_position_are_matched_in_order() -> None:
    half = replace(TRADES[0], volume=TRADES[0].volume / 2)
    change = compare_trades([half, half], [half])
    assert change.removed == (half,)
    assert change.unchanged == 1


def test_the_noise_of_additions_is_no_change() -> None:
    near = replace(TRADES[0], pnl=TRADES[0].pnl * (1 + 1e-13), position_id="other")
    assert compare_trades(TRADES[:1], [near]).is_none
