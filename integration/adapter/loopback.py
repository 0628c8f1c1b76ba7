"""Runs a Redis, an exchange and a Freqtrade of our own on this machine, to see the bridge work."""

import contextlib
import http.client
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bot.errors import WorldError
from integration.adapter.freqtrade_config import STRATEGIES, STRATEGY, make_config

HOUSE = Path(__file__).resolve().parents[2]
SYMBOL, TIMEFRAME, CAPITAL = "BTC/USDT", "5m", "0.05"
KEY, SECRET = "loopback-key", "loopback-secret"
_PAUSE_S = 0.1
_END_S = 20.0


class Loopback:
    """The parts, each started, killed and started again on demand; all end with `close`."""

    def __init__(self, folder: Path, freqtrade: Path) -> None:
        """Keeps where files go, and the environment that has Freqtrade."""
        self.folder = folder
        self.logs = folder / "decision_logs"
        self._freqtrade = freqtrade
        # A socket's path has 107 characters at most.
        self._short = Path(tempfile.mkdtemp(prefix="stratwright-"))
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self.address = ""
        self.patience_s = 300.0
        (folder / "user_data").mkdir(parents=True, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        """Gives the variables that the bridge reads."""
        return {
            "REDIS_URL": f"unix://{self._short}/redis.sock",
            "DEFAULT_SYMBOL": SYMBOL,
            "TIMEFRAME": TIMEFRAME,
            "MAX_CAPITAL_PCT": CAPITAL,
            "STRATWRIGHT_BINANCE_URL": self.address,
            "STRATWRIGHT_BRIDGE_LOGS": str(self.logs),
        }

    def start_redis(self) -> None:
        """Starts a Redis that writes everything to the disk, on a socket of its own."""
        program = shutil.which("redis-server")
        if program is None:
            raise WorldError("there is no redis-server", "apt-get install redis-server")
        self._start(
            "redis",
            *(program, "--port", "0", "--unixsocket", f"{self._short}/redis.sock"),
            *("--unixsocketperm", "700", "--save", "", "--appendonly", "yes"),
            *("--appendfsync", "always", "--dir", str(self._short), "--loglevel", "warning"),
        )
        self.wait(self._redis_answers, "redis", "Redis answers")

    def start_exchange(self, *more: str) -> None:
        """Starts the exchange, with a breakout on the last complete candle; its clock stands."""
        if not (HOUSE / "tests" / "doubles" / "exchange").is_dir():
            raise WorldError("the exchange is not here", "Run this in a checkout of stratwright.")
        log = self.folder / "exchange.txt"
        log.unlink(missing_ok=True)
        self._start("exchange", sys.executable, "-m", "tests.doubles.exchange", "--breakout", *more)
        self.wait(lambda: "\n" in _text(log), "exchange", "the exchange says where it is")
        self.address = _text(log).split("\n")[0].strip()

    def control(self, **wish: Any) -> dict[str, Any]:
        """Asks the exchange for something, and gives its state."""
        data = json.dumps(wish).encode()
        host = self.address.removeprefix("http://")
        with contextlib.closing(http.client.HTTPConnection(host, timeout=60)) as connection:
            connection.request("POST", "/_control", data)
            found: dict[str, Any] = json.load(connection.getresponse())
        return found

    def start_freqtrade(
        self,
        *,
        dry_run: bool = True,
        safe: bool = True,
        symbol: str = SYMBOL,
        strategy: Path = STRATEGIES / f"{STRATEGY}.py",
        **options: Any,
    ) -> None:
        """Starts Freqtrade with a strategy; `options` change the ccxt settings."""
        made = make_config(
            *(symbol, TIMEFRAME),
            address=self.address,
            dry_run=dry_run,
            key="" if dry_run else KEY,
            secret="" if dry_run else SECRET,
        )
        made["exchange"]["ccxt_config"] |= options
        config = self.folder / "config.json"
        config.write_text(json.dumps(made))
        python = str(self._freqtrade / "bin" / "python")
        own = [python, "-m", "integration.adapter.safe_freqtrade"]
        plain = [str(self._freqtrade / "bin" / "freqtrade")]
        self._start(
            "freqtrade",
            *(own if safe else plain),
            *("trade", "-c", str(config), "--userdir", str(self.folder / "user_data")),
            *("--strategy", strategy.stem, "--strategy-path", str(strategy.parent)),
            *("--db-url", f"sqlite:///{self.database}"),
        )

    @property
    def database(self) -> Path:
        """Tells where Freqtrade's trades are."""
        return self.folder / "trades.sqlite"

    def ask(self, words: str, *values: str) -> list[tuple[Any, ...]]:
        """Asks Freqtrade's database; nothing while it is not there yet."""
        if not self.database.exists():
            return []
        with contextlib.closing(
            sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        ) as found:
            try:
                return found.execute(words, values).fetchall()
            except sqlite3.OperationalError:
                return []

    def wait(self, until: Callable[[], Any], child: str, what: str) -> Any:
        """Waits until something is so; gives up when its program has ended.

        Raises:
            WorldError: with the end of the program's words.
        """
        last = time.monotonic() + self.patience_s
        while not (found := until()):
            if self._children[child].poll() is not None or time.monotonic() > last:
                words = _text(self.folder / f"{child}.txt")[-1500:]
                raise WorldError(f"waited for: {what}; {child} says:\n{words}", "See above.")
            time.sleep(_PAUSE_S)
        return found

    def end(self, child: str, *, kill: bool = False) -> None:
        """Stops a program, or kills it as a power cut would."""
        process = self._children.pop(child, None)
        while process and process.poll() is None:
            process.kill() if kill else process.terminate()
            # Python drops a signal that comes while it clears up: it is sent again.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)

    def close(self) -> None:
        """Ends everything."""
        for child in reversed([*self._children]):
            self.end(child, kill=child != "freqtrade")
        shutil.rmtree(self._short, ignore_errors=True)

    def _start(self, name: str, *command: str) -> None:
        variables = {**os.environ, **self.environment, "PYTHONPATH": str(HOUSE)}
        with (self.folder / f"{name}.txt").open("ab") as out:
            self._children[name] = subprocess.Popen(
                command,
                cwd=HOUSE if name == "exchange" else self.folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def _redis_answers(self) -> bool:
        from redis import Redis
        from redis.exceptions import RedisError

        try:
            with Redis(unix_socket_path=f"{self._short}/redis.sock") as client:
                return bool(client.ping())
        except RedisError:
            return False


@contextlib.contextmanager
def variables(values: dict[str, str]) -> Iterator[None]:
    """Sets variables of this process for a while."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
