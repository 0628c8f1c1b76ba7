"""Keeps ccxt on this machine: every address is checked when called, no redirect is followed."""

import re
from typing import Any

from bot.errors import SafetyStop

# Nothing that two readers could read differently: no name, no user, no backslash, no template.
_LOCAL = re.compile(
    r"(https?|wss?)://(127(\.(0|[1-9]\d{0,2})){3}|\[::1\])(:\d{1,5})?(/[\w./-]*)?(\?[^\s\\]*)?",
    re.ASCII,
)


def is_local(address: str) -> bool:
    """Says whether an address is on this machine, beyond doubt."""
    found = _LOCAL.fullmatch(address)
    return found is not None and all(int(part) < 256 for part in re.findall(r"\d+", found[2]))


def keep_to_loopback() -> None:
    """Lets every ccxt of this process call this machine only, whatever its settings say.

    An option can choose a part of the interface whose address the configuration does not name.
    """
    import aiohttp
    import ccxt
    import ccxt.async_support

    for kind, name in (
        (ccxt.Exchange, "fetch"),
        (ccxt.async_support.Exchange, "fetch"),
        (ccxt.async_support.Exchange, "client"),
    ):
        _guard(kind, name)
    request = aiohttp.ClientSession._request

    async def direct(self: Any, *args: Any, **named: Any) -> Any:
        return await request(self, *args, **(named | {"allow_redirects": False}))

    aiohttp.ClientSession._request = direct  # type: ignore[method-assign]


def _guard(kind: Any, name: str) -> None:
    call = getattr(kind, name)

    def guarded(self: Any, url: str, *args: Any, **named: Any) -> Any:
        if not is_local(url):
            place = url.partition("?")[0]
            raise SafetyStop(f"{place} is not on this machine", "Mend the configuration's urls.")
        if hasattr(self.session, "max_redirects"):
            self.session.max_redirects = 0
        return call(self, url, *args, **named)

    setattr(kind, name, guarded)
