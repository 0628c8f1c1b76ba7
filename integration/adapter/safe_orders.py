"""Makes ccxt's order call safe inside Freqtrade: no order twice, none without its trade.

An id of ours goes with every order; it is on the disk before the call. A lost answer is looked up
by that id. The exchange refuses what was signed longer ago than its receive window: an order that
is not there after that time never comes.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ccxt

from integration.adapter.intents import OPEN_FATE, Intent, Intents

# Where ccxt finds an order by our id; the others would need a look-up of their own.
EXCHANGES = ("binance",)
_WINDOW_MS = 10_000
_MARGIN_S = 1.0
_PAUSES_S = (0.3, 0.7, 1.0)
_PATIENCE = 60
_LOG = logging.getLogger(__name__)


class UnknownFate(Exception):
    """Nobody can say whether an order was taken; nothing may be sent until somebody can."""


class SafeOrders:
    """Stands between Freqtrade and ccxt's create_order.

    Args:
        intents: the file of intents.
        known: says whether Freqtrade's database has an order of this id.
    """

    def __init__(self, intents: Intents, known: Callable[[str], bool]) -> None:
        self.intents = intents
        self.known = known
        self._entry_tag: str | None = None

    @contextmanager
    def entering(self, tag: str | None) -> Iterator[None]:
        """Tells that the orders sent meanwhile open a trade, with this tag."""
        self._entry_tag = tag or ""
        try:
            yield
        finally:
            self._entry_tag = None

    def create(self, api: Any, place: Callable[..., Any], *order: Any, **named: Any) -> Any:
        """Places an order, or gives the one that is there already.

        Raises:
            ccxt.BaseError: the exchange refused it, or it never arrived.
            UnknownFate: nobody can say.
        """
        names = ("symbol", "type", "side", "amount", "price", "params")
        wish = {**dict(zip(names, order, strict=False)), **named}
        self.settle(api)
        place_of = (wish["symbol"], wish["side"], wish["type"])
        for intent, found in self.orphans(api):
            if (intent.symbol, intent.side, intent.type) == place_of:
                _LOG.warning("order %s of %s is there already: taken over", found["id"], place_of)
                # Freqtrade looks at a stop again only while it is open: it may be filled already.
                return found | {"status": "open", "filled": 0.0} if _is_stop(intent) else found
        entry = self._entry_tag is not None
        tag = self._entry_tag or ""
        intent = self.intents.write(wish["symbol"], wish["side"], wish["type"], tag, entry=entry)
        params = {**(wish.pop("params", None) or {}), "clientOrderId": intent.client}
        try:
            answer = place(api, **wish, params=params)
        except ccxt.OperationFailed as lost:
            if isinstance(lost, ccxt.DDoSProtection | ccxt.RateLimitExceeded):
                self.intents.settle(intent.client, "refused")
                raise  # turned away at the door
            _LOG.warning("no answer to order %s: %s; looking it up", intent.client, lost)
            found = self.look_up(api, intent)
            if found is None:
                raise
            return found
        except ccxt.BaseError:
            self.intents.settle(intent.client, "refused")
            raise
        self.intents.settle(intent.client, "placed", str(answer["id"]))
        return answer

    def settle(self, api: Any) -> None:
        """Finds out what became of every order whose fate is open."""
        for intent in self.intents.of_state(OPEN_FATE):
            self.look_up(api, intent)

    def orphans(self, api: Any) -> Iterator[tuple[Intent, Any]]:
        """Gives the orders at the exchange that Freqtrade's database does not know."""
        for intent in self.intents.of_state("placed"):
            if self.known(intent.order_id):
                self.intents.settle(intent.client, "known", intent.order_id)
                continue
            found = self._ask(api, intent)
            became = found and found["info"].get("actualOrderId")
            if not found or not (found["status"] == "open" or found["filled"] or became):
                self.intents.settle(intent.client, "over", intent.order_id)
                continue
            yield intent, found

    def look_up(self, api: Any, intent: Intent) -> Any:
        """Asks until the exchange says where an order is; None if it never arrived.

        Raises:
            UnknownFate: the exchange does not answer.
        """
        window = api.options.get("recvWindow", _WINDOW_MS) / 1000
        last_call = intent.created + window + _MARGIN_S
        for number in range(_PATIENCE):
            over = time.time() > last_call
            try:
                found = self._ask(api, intent)
            except ccxt.OperationFailed as error:
                _LOG.warning("order %s: no answer yet: %s", intent.client, error)
                time.sleep(_PAUSES_S[min(number, 2)])
                continue
            if found is not None:
                self.intents.settle(intent.client, "placed", str(found["id"]))
                _LOG.warning("order %s was taken: %s", intent.client, found["id"])
                return found
            if over:
                self.intents.settle(intent.client, "absent")
                _LOG.warning("order %s never arrived", intent.client)
                return None
            time.sleep(_PAUSES_S[min(number, 2)])
        raise UnknownFate(f"the fate of order {intent.client} of {intent.symbol} is not known")

    def _ask(self, api: Any, intent: Intent) -> Any:
        asked = {"clientOrderId": intent.client}
        if _is_stop(intent) and ":" in intent.symbol:
            asked["trigger"] = True  # type: ignore[assignment]
        try:
            found = api.fetch_order(None, intent.symbol, asked)
        except ccxt.OrderNotFound:
            return None
        if found["clientOrderId"] != intent.client:
            raise UnknownFate(f"the exchange showed another order than {intent.client}")
        return found


def _is_stop(intent: Intent) -> bool:
    return "stop" in intent.type.lower()


def install(safe: SafeOrders) -> None:
    """Puts it into ccxt, for every exchange where an order can be looked up."""
    for name in EXCHANGES:
        exchange = getattr(ccxt, name)
        place = exchange.create_order

        def create_order(self: Any, *order: Any, _place: Any = place, **named: Any) -> Any:
            return safe.create(self, _place, *order, **named)

        exchange.create_order = create_order
