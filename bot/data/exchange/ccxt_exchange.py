"""Asks any exchange that ccxt knows for candles; ccxt is imported only here."""

import json
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bot.contract.document.problems import nearest
from bot.data.exchange.port import Candle, PassingTrouble
from bot.errors import InputError, WorldError

URL_VARIABLE = "STRATWRIGHT_EXCHANGE_URL"
LONGEST_WAIT_S = 60.0
Answer = TypeVar("Answer")


def open_exchange(name: str, *, futures: bool = False) -> "CcxtExchange":
    """Open an exchange by its ccxt id, without keys.

    `STRATWRIGHT_EXCHANGE_URL` puts a mirror in the place of the exchange's own address.

    Raises:
        InputError: ccxt does not know the exchange, or it tells no candles.
        WorldError: ccxt is not installed.
    """
    try:
        import ccxt
    except ImportError:
        hint = "Install it: pip install 'ccxt>=4.5.90,<5'"
        raise WorldError("candles of an exchange need the package ccxt", hint) from None
    if name not in ccxt.exchanges:
        near = nearest(name, ccxt.exchanges)
        hint = f"Did you mean {near}?" if near else "See ccxt's list of exchanges."
        raise InputError(f"ccxt knows no exchange {name!r}", hint)
    kinds = ["linear"] if futures else ["spot"]
    options = {"fetchMarkets": {"types": kinds}, "fetchCurrencies": False, "fetchMargins": False}
    vendor = getattr(ccxt, name)({"enableRateLimit": True, "timeout": 20_000, "options": options})
    if not vendor.has.get("fetchOHLCV"):
        raise InputError(f"{name} tells no candles", "Name another exchange.")
    mirror = os.environ.get(URL_VARIABLE)
    if mirror:
        vendor.urls["api"] = _moved(vendor.urls["api"], mirror.rstrip("/"))
        vendor.enableRateLimit = False
    return CcxtExchange(name, vendor)


def _moved(addresses: Any, base: str) -> Any:
    """Every address of an exchange's API with another host."""
    if isinstance(addresses, dict):
        return {kind: _moved(address, base) for kind, address in addresses.items()}
    return base + urlsplit(addresses).path


class CcxtExchange:
    """One exchange. What ccxt raises leaves here as our own errors."""

    def __init__(self, name: str, vendor: Any) -> None:
        """Keep the vendor's object."""
        self.name = name
        self._vendor = vendor
        self._is_loaded = False

    def page(self, symbol: str, timeframe: str, since_ms: int, limit: int) -> list[Candle]:
        """Up to `limit` candles from a moment on."""
        self._check(symbol, timeframe)
        rows = self._asked(
            lambda: self._vendor.fetch_ohlcv(symbol, timeframe, since_ms, limit), "candles"
        )
        self._refuse_cut_off()
        return [_candle(row) for row in rows]

    def _refuse_cut_off(self) -> None:
        """ccxt takes an answer that is no JSON for an empty page, which would become a gap."""
        text = self._vendor.last_http_response
        try:
            json.loads(text or "null")
        except ValueError:
            raise PassingTrouble("its answer was cut off") from None

    def _check(self, symbol: str, timeframe: str) -> None:
        """Learn the exchange's markets once; refuse what it has not."""
        vendor = self._vendor
        if vendor.timeframes and timeframe not in vendor.timeframes:
            allowed = " ".join(vendor.timeframes)
            raise InputError(f"{self.name} has no {timeframe} candles", f"It has: {allowed}.")
        if not self._is_loaded:
            self._asked(vendor.load_markets, "markets")
            self._is_loaded = True
        if symbol not in vendor.markets:
            near = nearest(symbol, tuple(vendor.markets))
            hint = f"Did you mean {near}?" if near else "See the exchange's list of markets."
            raise InputError(f"{self.name} has no market {symbol}", hint)

    def _asked(self, call: Callable[[], Answer], what: str) -> Answer:
        """Ask, and say in our words what went wrong."""
        import ccxt

        try:
            return call()
        except ccxt.BadSymbol as error:
            raise InputError(f"{self.name}: {_short(error)}") from None
        except (ccxt.OperationFailed, ccxt.BadResponse) as error:
            raise PassingTrouble(_short(error), self._asked_to_wait()) from None
        except ccxt.BaseError as error:
            raise WorldError(f"{self.name} refused to tell {what}: {_short(error)}") from None
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            # ccxt trips over an answer that was cut off; it does not say so in its own errors.
            raise PassingTrouble(f"its answer was unreadable ({error!s:.80})") from None

    def _asked_to_wait(self) -> float:
        headers = self._vendor.last_response_headers or {}
        told = next((v for k, v in headers.items() if k.lower() == "retry-after"), "0")
        try:
            return min(float(told), LONGEST_WAIT_S)
        except ValueError:
            return 0.0


def _candle(row: Any) -> Candle:
    """A row of ccxt's, or trouble if it is none: a cut-off answer can look like rows."""
    try:
        moment, *numbers = row
        found = Candle(int(moment), *(float(number) for number in numbers[:5]))
    except (TypeError, ValueError):
        raise PassingTrouble(f"a candle was unreadable ({row!r:.80})") from None
    if not all(math.isfinite(number) for number in found[1:]):
        raise PassingTrouble(f"a candle was unreadable ({row!r:.80})")
    return found


def _short(error: Exception) -> str:
    """The first line of a vendor's message, without the tail of a whole response."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]
