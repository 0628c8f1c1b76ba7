"""Turns an order request, the dict that strategies write, into a checked order."""

import math
from collections.abc import Mapping
from typing import NamedTuple, SupportsFloat

from Backtest.fills import STEP_ERROR, Step, round_down, round_up
from Backtest.sim_errors import OrderError, nearest
from Backtest.sim_settings import SimSettings
from Backtest.times import MINUTE_MS
from Backtest.trading_types import OrderRequest

ACTIONS = {"BUY": 1, "SELL": -1}
TYPES = ("MARKET", "LIMIT", "STOP")
REQUEST_KEYS = tuple(OrderRequest.__annotations__)
KNOWN_KEYS = frozenset(REQUEST_KEYS)


class Trail(NamedTuple):
    """Holds a trailing stop: how far behind, from which profit on, and whether it waits for it."""

    step: Step
    activate_at: float | None = None
    only_after_activation: bool = False


class Protection(NamedTuple):
    """Holds an entry's levels; steps are anchored at the fill, sl and tp are prices."""

    sl: float | None = None
    tp: float | None = None
    stop: Step | None = None
    target: Step | None = None
    trail: Trail | None = None
    roi: tuple[tuple[int, float], ...] = ()
    hold_roi: bool = False


class Order(NamedTuple):
    """Holds an entry that waits for its bar."""

    order_id: str
    position_id: str
    symbol: str
    sign: int
    volume: float
    type: str
    price: float | None
    comment: str
    protection: Protection
    first_bar: int


def read_order(
    request: Mapping[str, object],
    settings: SimSettings,
    order_id: str,
    position_id: str,
) -> Order:
    """Check a request and make an order of it; `first_bar` is set by the broker.

    Raises:
        OrderError: a key is unknown, missing or out of its range.
    """
    for key in request:
        if key not in KNOWN_KEYS:
            raise OrderError(f"an order has no key {key!r}", nearest(str(key), REQUEST_KEYS))
    action = request.get("action", "")
    sign = ACTIONS.get(action) if isinstance(action, str) else None
    if sign is None:
        raise OrderError(f"action is {request.get('action')!r}", "Allowed: BUY, SELL")
    kind = request.get("type", "MARKET")
    if kind not in TYPES:
        raise OrderError(f"type is {kind!r}", f"Allowed: {', '.join(TYPES)}")
    return Order(
        order_id=order_id,
        position_id=position_id,
        symbol=_symbol(request, settings),
        sign=sign,
        volume=_volume(request, settings.lot),
        type=kind,
        price=_waiting_price(request, kind, sign, settings.tick),
        comment=str(request.get("comment") or ""),
        protection=read_protection(request),
        first_bar=0,
    )


def read_protection(request: Mapping[str, object]) -> Protection:
    """Read stop, target, trail and ROI of a request."""
    return Protection(
        sl=_beaten_price(request, "sl", "stop"),
        tp=_beaten_price(request, "tp", "target"),
        stop=_step(request, "stop", below=1.0),
        target=_step(request, "target", below=math.inf),
        trail=_trail(request.get("trail")),
        roi=_roi(request.get("roi")),
        hold_roi=request.get("hold_roi", False) is True,
    )


def read_size(size: object) -> tuple[str, float, float]:
    """Read a size: its form, its amount, and the cap, which is infinite where there is none.

    Raises:
        OrderError: it is malformed.
    """
    wished = dict(size) if isinstance(size, Mapping) else {}
    cap = wished.pop("cap", math.inf) if "risk" in wished else math.inf
    if len(wished) != 1:
        raise OrderError(f"size is {size!r}", "Give one of: equity, units, risk")
    ((form, amount),) = wished.items()
    for number in (amount, cap):
        if not isinstance(number, (int, float)) or isinstance(number, bool) or not number > 0.0:
            raise OrderError(f"size is {size!r}", "Give a number above 0")
    return str(form), float(amount), float(cap)


def positive(value: object, name: str) -> float:
    """Read a finite number above zero.

    Raises:
        OrderError: it is something else.
    """
    number = _number(value, name)
    if number <= 0.0:
        raise OrderError(f"{name} is {value!r}", "Give a finite number above 0")
    return number


def _number(value: object, name: str) -> float:
    """Read a finite number; a bool or text is none."""
    if type(value) is float and math.isfinite(value):
        return value
    try:
        number = math.nan
        if isinstance(value, SupportsFloat) and not isinstance(value, bool):
            number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OrderError(f"{name} is {repr(value)[:60]}", "Give a finite number")
    return number


def _symbol(request: Mapping[str, object], settings: SimSettings) -> str:
    """Read the symbol; with one symbol in the settings it may be left out."""
    symbol = request.get("symbol")
    if symbol is None and settings.symbols is not None and len(settings.symbols) == 1:
        return settings.symbols[0]
    if not isinstance(symbol, str) or not symbol:
        raise OrderError(f"symbol is {symbol!r}", "Give the symbol's name, for example BTC/USDT")
    if settings.symbols is not None and symbol not in settings.symbols:
        raise OrderError(f"symbol {symbol!r} is not traded here", nearest(symbol, settings.symbols))
    return symbol


def _volume(request: Mapping[str, object], lot: float | None) -> float:
    """Read the volume; one that is no multiple of the lot is refused, never rounded silently."""
    volume = positive(request.get("volume"), "volume")
    if lot is None:
        return volume
    whole = round_down(volume, lot)
    if whole <= 0.0 or abs(whole - volume) > lot * 1e-6 + volume * STEP_ERROR:
        raise OrderError(f"volume {volume!r} is no multiple of the lot {lot!r}", "Round it down")
    return whole


def _waiting_price(
    request: Mapping[str, object], kind: str, sign: int, tick: float | None
) -> float | None:
    """Read the price of a LIMIT or STOP; a limit moves to the tick that is no worse for it."""
    if kind == "MARKET":
        return None
    if request.get("price") is None:
        raise OrderError(f"a {kind} order needs a price", "Add 'price'")
    price = positive(request["price"], "price")
    if tick is None or kind == "STOP":
        return price
    on_tick = (round_down if sign > 0 else round_up)(price, tick)
    if on_tick <= 0.0:
        raise OrderError(f"price {price!r} is below one tick of {tick!r}", "Give a higher price")
    return on_tick


def _beaten_price(request: Mapping[str, object], key: str, anchor: str) -> float | None:
    """Read a level; below zero it can never be reached, which is no fault if the anchor counts."""
    value = request.get(key)
    if value is not None and request.get(anchor) is not None and _number(value, key) <= 0.0:
        return None
    return _optional_price(request, key)


def _optional_price(request: Mapping[str, object], key: str) -> float | None:
    value = request.get(key)
    return None if value is None else positive(value, key)


def _step(request: Mapping[str, object], key: str, below: float) -> Step | None:
    """Read {"fraction": f} or {"distance": d}."""
    value = request.get(key)
    if value is None:
        return None
    if type(value) is dict and len(value) == 1:  # what strategies write, order after order
        ((form, size),) = value.items()
        if type(size) is float and 0.0 < size < below and form == "fraction":
            return Step(size, True)
    if not isinstance(value, Mapping) or len(value) != 1 or not set(value) <= STEP_KEYS:
        raise OrderError(f"{key} is {value!r}", "Give {'fraction': number} or {'distance': number}")
    return _sized_step(value, key, below)


STEP_KEYS = {"fraction", "distance"}
TRAIL_KEYS = {*STEP_KEYS, "activate_at", "only_after_activation"}


def _sized_step(value: Mapping[str, object], key: str, below: float) -> Step:
    (form,) = STEP_KEYS & set(value)
    size = positive(value[form], f"{key}.{form}")
    if form == "fraction" and size >= below:
        raise OrderError(f"{key}.fraction is {size!r}", f"Did you mean {size / 100:g}?")
    return Step(size, form == "fraction")


def _trail(value: object) -> Trail | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not set(value) <= TRAIL_KEYS:
        raise OrderError(f"trail is {value!r}", f"Allowed keys: {', '.join(sorted(TRAIL_KEYS))}")
    if len(STEP_KEYS & set(value)) != 1:
        raise OrderError(f"trail is {value!r}", "Give either 'fraction' or 'distance'")
    activate_at = value.get("activate_at")
    waits = value.get("only_after_activation", False)
    if not isinstance(waits, bool):
        raise OrderError(f"trail.only_after_activation is {waits!r}", "Allowed: True, False")
    if activate_at is None and waits:
        raise OrderError("trail.only_after_activation needs activate_at", "Add 'activate_at'")
    return Trail(
        step=_sized_step(value, "trail", below=1.0),
        activate_at=None if activate_at is None else positive(activate_at, "trail.activate_at"),
        only_after_activation=waits,
    )


def _roi(value: object) -> tuple[tuple[int, float], ...]:
    """Read {minutes: profit} as milliseconds and profits, sorted; text keys are accepted."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise OrderError(f"roi is {value!r}", "Give {minutes: profit}")
    steps: dict[int, float] = {}
    for key, profit in value.items():
        minutes = str(key)
        if isinstance(key, bool) or not (minutes.isascii() and minutes.isdigit()):
            raise OrderError(f"roi has the key {key!r}", "Give whole minutes, 0 or more")
        steps[int(minutes) * MINUTE_MS] = _number(profit, f"roi[{key}]")
    return tuple(sorted(steps.items()))
