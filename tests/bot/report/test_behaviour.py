import csv
import io
from collections.abc import Sequence
from dataclasses import replace

import pytest

from Backtest.metrics.report_files import trades_csv
from Backtest.positions import Trade
from bot.report.behaviour import compare_trades
from bot.report.wording import change_lines
from tests.bot.report.stories import told, version

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


def test_a_trade_entered_elsewhere_while_the_old_one_was_open_has_moved() -> None:
    first = TRADES[0]
    late = replace(first, entry_time=first.entry_time + 1)
    after = replace(first, entry_time=first.exit_time + 1, exit_time=first.exit_time + 2)
    assert compare_trades([first], [late]).moved == ((first, late),)
    assert compare_trades([first], [late, after]).added == (after,)
    change = compare_trades([first], [after])
    assert (change.added, change.removed, change.moved) == ((after,), (first,), ())
    other = replace(late, side="short")
    assert compare_trades([first], [other]).moved == ()


def test_a_trade_of_another_size_alone_is_no_other_trade() -> None:
    larger = [replace(trade, volume=trade.volume * 2, pnl=trade.pnl * 2) for trade in TRADES]
    change = compare_trades(TRADES, larger)
    assert len(change.resized) == len(TRADES)
    assert not change.marked
    assert not change.is_none


def test_the_lines_for_a_terminal_name_every_trade_that_differs() -> None:
    change = compare_trades(TRADES[1:], TRADES[:-1], "main")
    sentence, *rows = change_lines(change)
    assert "1 trade added, 1 gone, 0 moved" in sentence
    assert [row.split()[0] for row in rows] == ["added", "gone"]
    assert change_lines(change, most=1)[-1] == "... and 1 more row"


VERSIONS = [
    *(("oversold_dip", "parameters.oversold.default", n) for n in (25, 28, 30, 31, 32, 33, 34, 36)),
    *(("oversold_dip", "parameters.rsi_period.default", n) for n in (10, 13, 15, 20)),
    *(("oversold_dip", "risk.stop_loss", n) for n in (0.01, 0.03)),
    *(("oversold_dip", "risk.size.equity", n) for n in (0.05, 0.2)),
    ("oversold_dip", "rules.exit_long", "rsi > 60"),
    *(("channel_breakout", "parameters.breakout_bars.default", n) for n in (24, 40, 47, 49, 72)),
    *(("channel_breakout", "parameters.giveback_bars.default", n) for n in (12, 23, 36)),
    ("channel_breakout", "risk.trailing_stop", 0.02),
    *(("trend_follow", "parameters.fast_days.default", n) for n in (15, 19, 30)),
    *(("trend_follow", "risk.stop_loss", n) for n in (0.03, 0.2)),
]


def rows_of(trades: Sequence[Trade]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(trades_csv(trades))))


def near(one: dict[str, str], other: dict[str, str], *columns: str) -> bool:
    return all(
        abs(float(one[name]) - float(other[name])) <= 1e-9 * max(1.0, abs(float(one[name])))
        for name in columns
    )


def most_pairs(old: list[dict[str, str]], new: list[dict[str, str]]) -> int:
    """How many pairs at most overlap in time, each row once: by augmenting paths."""
    taken: dict[int, int] = {}

    def place(one: int, seen: set[int]) -> bool:
        for other, row in enumerate(new):
            if other in seen or (row["symbol"], row["side"]) != (
                old[one]["symbol"],
                old[one]["side"],
            ):
                continue
            if max(row["entry_time"], old[one]["entry_time"]) <= min(
                row["exit_time"], old[one]["exit_time"]
            ):
                seen.add(other)
                if other not in taken or place(taken[other], seen):
                    taken[other] = one
                    return True
        return False

    return sum(place(one, set()) for one in range(len(old)))


@pytest.mark.parametrize(("name", "path", "value"), VERSIONS)
def test_versions_of_a_contract_differ_as_their_files_of_trades_do(
    name: str, path: str, value: object
) -> None:
    before, after = version(name, path, value)[0], tuple(told(name).trades)
    change = compare_trades(before, after)
    old, new = rows_of(before), rows_of(after)
    keys = ("symbol", "side", "entry_time")
    by_entry = {tuple(row[key] for key in keys): row for row in old}
    same = resized = changed = 0
    come = []
    for row in new:
        known = by_entry.pop(tuple(row[key] for key in keys), None)
        if known is None:
            come.append(row)
        elif any(row[key] != known[key] for key in ("exit_time", "rule_out", "forced")) or not near(
            row, known, "entry_price", "exit_price"
        ):
            changed += 1
        elif near(row, known, "volume", "pnl"):
            same += 1
        else:
            resized += 1
    gone = list(by_entry.values())
    moved = most_pairs(gone, come)
    assert (change.unchanged, len(change.resized), len(change.changed)) == (same, resized, changed)
    assert (len(change.moved), len(change.removed), len(change.added)) == (
        moved,
        len(gone) - moved,
        len(come) - moved,
    )
    listed = {(row["entry_time"], row["exit_time"]) for row in (*gone, *come)}
    shown = rows_of([*change.removed, *change.added, *(t for pair in change.moved for t in pair)])
    assert {(row["entry_time"], row["exit_time"]) for row in shown} == listed


def test_the_versions_are_thirty_and_every_kind_of_change_is_among_them() -> None:
    changes = [compare_trades(version(*each)[0], told(each[0]).trades) for each in VERSIONS[::4]]
    assert len(VERSIONS) == 31
    for kind in ("added", "removed", "moved", "changed", "resized", "unchanged"):
        assert any(getattr(change, kind) for change in changes), kind
