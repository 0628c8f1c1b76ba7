"""Starts the exchange as a program, drives it, and opens ccxt clients on it."""

import contextlib
import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.doubles.exchange.server import KEY, SECRET

HOUSE = Path(__file__).parents[3]


class Running:
    """An exchange in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.doubles.exchange", *arguments],
            cwd=HOUSE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._child.stdout is not None
        self.address = self._child.stdout.readline().strip()

    def control(self, **wish: Any) -> dict[str, Any]:
        """Asks for something, and gives the state."""
        data = json.dumps(wish).encode()
        host = self.address.removeprefix("http://")
        with contextlib.closing(http.client.HTTPConnection(host, timeout=60)) as connection:
            connection.request("POST", "/_control", data)
            found: dict[str, Any] = json.load(connection.getresponse())
        return found

    def settings(self, kind: str = "spot", **more: Any) -> dict[str, Any]:
        """Gives the settings that bring ccxt here."""
        web = self.address.replace("http", "ws")
        api: dict[str, Any] = dict.fromkeys(("public", "private"), f"{self.address}/api/v3")
        api |= {"v1": f"{self.address}/api/v1", "sapi": f"{self.address}/sapi/v1"}
        for name in ("fapiPublic", "fapiPrivate"):
            for version in ("", "V2", "V3"):
                path = f"/fapi/{version.lower() or 'v1'}"
                api[name + version] = self.address + path
        api["ws"] = {"spot": f"{web}/ws", "margin": f"{web}/ws", "linear": f"{web}/fut/ws"}
        api["ws"] |= {"future": f"{web}/fut/ws"}
        api["ws"]["ws-api"] = {"spot": f"{web}/ws-api/v3", "linear": f"{web}/fut/ws-api/v1"}
        types = {"types": ["spot" if kind == "spot" else "linear"]}
        options = {"defaultType": kind, "fetchMarkets": types, "fetchCurrencies": False}
        found = {"apiKey": KEY, "secret": SECRET, "enableRateLimit": False, "urls": {"api": api}}
        return found | {"options": options | {"fetchMargins": False}} | more

    def close(self) -> None:
        """Ends it."""
        self._child.terminate()
        self._child.wait()
        assert self._child.stdout is not None
        self._child.stdout.close()
