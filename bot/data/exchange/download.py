"""Turns pages of candles into one whole stretch of them: in order, each once, gaps counted."""

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple

from Backtest.times import iso, timeframe_ms
from bot.data.exchange.port import Candle, CandleSource, PassingTrouble
from bot.errors import InputError, WorldError

PAGE = 1000
ATTEMPTS = 5
FIRST_WAIT_S = 0.5  # then doubled

Say = Callable[[str], None]


class Stretch(NamedTuple):
    """Which candles: from `start` up to, not including, `end`, in UTC milliseconds."""

    symbol: str
    timeframe: str
    start: int
    end: int


class Patience(NamedTuple):
    """How to wait between attempts."""

    pause: Callable[[float], None] = time.sleep
    attempts: int = ATTEMPTS


def whole(stretch: Stretch, now_ms: int) -> Stretch:
    """The stretch without candles that are not finished yet.

    Raises:
        InputError: no candle of it is finished.
    """
    step = timeframe_ms(stretch.timeframe)
    end = min(stretch.end, now_ms // step * step)
    if end <= stretch.start:
        until = iso(stretch.end) if stretch.end <= now_ms else "now"
        hint = "The start has to be in the past and before the end."
        raise InputError(f"no candle is finished between {iso(stretch.start)} and {until}", hint)
    return stretch._replace(end=end)


def download(
    source: CandleSource,
    stretch: Stretch,
    say: Say,
    patience: Patience | None = None,
    count: Callable[[int], None] | None = None,
) -> list[Candle]:
    """All candles of a stretch, page by page; after each, `count` or else `say` is told of it.

    Raises:
        InputError: the exchange has no such market, or no candle in the stretch.
        WorldError: it cannot be reached, or tells two versions of one candle.
    """
    patience = patience or Patience()
    step = timeframe_ms(stretch.timeframe)
    ahead = 1 if stretch.timeframe.endswith("M") else step  # months are of different lengths
    found: dict[int, Candle] = {}
    cursor = stretch.start
    while cursor < stretch.end:
        page = _page(source, stretch, cursor, say, patience)
        news = [candle for candle in page if cursor <= candle.time < stretch.end]
        for candle in news:
            if found.setdefault(candle.time, candle) != candle:
                message = f"{source.name} told two candles for {iso(candle.time)}"
                raise WorldError(message, "Try again later; nothing was kept.")
        beyond = any(candle.time >= stretch.end for candle in page)
        if news:
            cursor = max(candle.time for candle in news) + ahead
            if count is not None:
                count(len(found))
            else:
                say(f"{source.name} {stretch.symbol} {stretch.timeframe}: {len(found)} candles")
        else:
            cursor = stretch.end if beyond else cursor + PAGE * step
    if not found:
        where = f"between {iso(stretch.start)} and {iso(stretch.end)}"
        raise InputError(f"{source.name} has no {stretch.symbol} candle {where}")
    return [found[moment] for moment in sorted(found)]


def _page(
    source: CandleSource, stretch: Stretch, cursor: int, say: Say, patience: Patience
) -> list[Candle]:
    """One page, asked for again while the trouble may pass."""
    wait_s = FIRST_WAIT_S
    for attempt in range(1, patience.attempts + 1):
        try:
            return source.page(stretch.symbol, stretch.timeframe, cursor, PAGE)
        except PassingTrouble as trouble:
            if attempt == patience.attempts:
                message = f"{source.name} cannot be reached: {trouble.reason}"
                hint = f"{attempt} attempts failed. Check the network and try again."
                raise WorldError(message, hint) from None
            pause_s = max(wait_s, trouble.wait_s)
            say(f"{source.name}: {trouble.reason}; again in {pause_s:g} s")
            patience.pause(pause_s)
            wait_s *= 2
    raise AssertionError("unreachable")


def gaps(times: list[int], timeframe: str) -> list[tuple[int, int]]:
    """The moments before holes, and how many candles each lacks; months have no even step."""
    if timeframe.endswith("M"):
        return []
    step = timeframe_ms(timeframe)
    pairs = itertools.pairwise(times)
    return [(one, (other - one) // step - 1) for one, other in pairs if other - one > step]


def gap_report(times: list[int], timeframe: str) -> str | None:
    """The holes in one line, or None."""
    found = gaps(times, timeframe)
    if not found:
        return None
    missing = sum(count for _, count in found)
    first = ", ".join(f"{count} after {iso(moment)}" for moment, count in found[:3])
    more = ", ..." if len(found) > 3 else ""
    return f"{missing} candles missing in {len(found)} gaps: {first}{more}"
