"""The bus as Redis Streams: one append-only stream for each channel of a repository."""

import ipaddress
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from bot.bus.port import Event, Told, check_channel, read_event
from bot.errors import InputError, WorldError

if TYPE_CHECKING:
    from redis import Redis

VARIABLE = "REDIS_URL"
_PAUSE_S = 0.2
_PAGE = 500
_SOCKET_S = 5.0
_HINT = "As in redis://:PASSWORD@127.0.0.1:6379/0, rediss://:PASSWORD@HOST/0 or unix:///PATH."


class RedisBus:
    """Events of a repository in Redis; any number of machines may publish and read."""

    def __init__(self, url: str, repository: str) -> None:
        self._redis = connect(url)
        self._where = place_of(url)
        self._repository = repository

    def publish(self, event: Event) -> None:
        """Append an event to its channel's stream.

        Raises:
            WorldError: Redis did not answer; the event may or may not be there.
        """
        with told(self._where):
            self._redis.xadd(self.key(event.channel), {"event": event.to_json()})

    def read(self, channel: str, on_bad: Told = None) -> Iterator[Event]:
        """Give all events of a channel, oldest first."""
        key, last = self.key(channel), "-"
        while rows := self._page(key, last):
            for entry, text in rows:
                last = f"({entry}"
                yield from read_event(f"{key}, entry {entry}", text, on_bad)

    def follow(
        self,
        channel: str,
        stop: Callable[[float], bool],
        on_bad: Told = None,
        *,
        from_start: bool = True,
    ) -> Iterator[Event]:
        """Give events as they come, until stop says so; a Redis that went away is waited for."""
        key, last, away = self.key(channel), "-", False
        if not from_start:
            with told(self._where):
                newest: Any = self._redis.xrevrange(key, count=1)
            last = f"({newest[0][0]}" if newest else "-"
        while True:
            try:
                while rows := self._page(key, last):
                    for entry, text in rows:
                        last = f"({entry}"
                        yield from read_event(f"{key}, entry {entry}", text, on_bad)
                away = False
            except WorldError as error:
                if on_bad and not away:
                    on_bad(f"{error.message}; waiting for it")
                away = True
            if stop(_PAUSE_S):
                return

    def key(self, channel: str) -> str:
        """The stream of a channel.

        Raises:
            InputError: if there is no such channel.
        """
        check_channel(channel)
        return f"stratwright:{self._repository}:{channel}"

    def _page(self, key: str, last: str) -> list[tuple[str, str]]:
        with told(self._where):
            rows: Any = self._redis.xrange(key, min=last, count=_PAGE)
        return [(entry, fields.get("event", "")) for entry, fields in rows]


def connect(url: str) -> "Redis":
    """Open a client that never repeats a command by itself; nothing is sent yet.

    Raises:
        InputError: the address is none, or would send events over a network without TLS and a
            password.
        WorldError: the package redis is not installed.
    """
    check_address(url)
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        hint = "Install the extra: pip install '.[redis]' in a checkout"
        raise WorldError(
            f"{VARIABLE} is set, and the package redis is not installed", hint
        ) from None
    return Redis.from_url(
        url,
        decode_responses=True,
        encoding_errors="replace",
        socket_timeout=_SOCKET_S,
        socket_connect_timeout=_SOCKET_S,
        retry=Retry(NoBackoff(), 0),
    )


def check_address(url: str) -> None:
    """Refuse an address that others could listen to, or write to without a password.

    Raises:
        InputError: with what is allowed.
    """
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise InputError(f"{VARIABLE} is not an address", _HINT) from None
    if parts.scheme == "unix" and unquote(parts.path).startswith("/"):
        return
    if parts.scheme not in ("redis", "rediss") or not host:
        raise InputError(f"{VARIABLE} is not an address of Redis", _HINT)
    if (
        "ssl_cert_reqs=none" in parts.query.lower()
        or "ssl_check_hostname=false" in parts.query.lower()
    ):
        raise InputError(f"{VARIABLE} turns the check of certificates off", _HINT)
    if _is_loopback(host):
        return
    if parts.scheme != "rediss":
        raise InputError(f"{VARIABLE} names {host}, beyond this machine, without TLS", _HINT)
    if not parts.password:
        raise InputError(f"{VARIABLE} names {host}, beyond this machine, without a password", _HINT)


def place_of(url: str) -> str:
    """Name the place without its password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn what Redis says into our own errors."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        message = f"Redis at {where} did not do it: {type(error).__name__}: {error}"
        raise WorldError(message, f"Start Redis, or mend {VARIABLE}.") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
