"""What arrives over HTTP to a delivery for the queue, or to the reason why it is none.

Pure: bytes and headers in, a value out. A stranger is refused before the body is read as anything
but bytes. Everything that needs no look at the repository is settled here, so that what nobody
asked for costs no disk and no call to GitHub.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.forge.github.payload import MOST_NUMBER, parse_event
from bot.forge.reasons import Ignored, Reason

# GitHub does not deliver larger ones.
MOST_BYTES = 25 * 1024 * 1024
_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})", re.ASCII)
_DELIVERY = re.compile(r"[0-9A-Za-z-]{8,64}", re.ASCII)
_EVENT = re.compile(r"[a-z][a-z0-9_]{1,49}", re.ASCII)
_STATUS = {
    Reason.UNSIGNED: 401,
    Reason.WRONG_SIGNATURE: 401,
    Reason.NO_HEADERS: 400,
    Reason.MALFORMED: 400,
    Reason.NOT_JSON: 415,
    Reason.TOO_LARGE: 413,
    Reason.TOO_SLOW: 408,
    Reason.BUSY: 503,
    Reason.NO_QUEUE: 503,
}


@dataclass(frozen=True)
class Envelope:
    """What the headers say; only the signature proves anything, and only about the body."""

    id: str
    event: str
    signature: str


@dataclass(frozen=True)
class Delivery:
    """An event that GitHub sent."""

    id: str  # the same when GitHub delivers it again
    event: str
    repository: str  # `owner/name` as GitHub spells it
    installation: int  # of the App in that repository; 0 where the event does not say
    body: bytes  # the bytes that were signed


def http_status(reason: Reason) -> int:
    """The status to answer with; 200 for an event that merely leads to nothing."""
    return _STATUS.get(reason, 200)


def read_headers(headers: Mapping[str, str]) -> Envelope | Ignored:
    """Look at a request before its body is read."""
    signature = headers.get("x-hub-signature-256", "")
    if not _SIGNATURE.fullmatch(signature):
        return Ignored(Reason.UNSIGNED)
    delivery, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
    if not _DELIVERY.fullmatch(delivery) or not _EVENT.fullmatch(event):
        return Ignored(Reason.NO_HEADERS)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return Ignored(Reason.NOT_JSON)
    length = headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 12 or int(length) > MOST_BYTES):
        return Ignored(Reason.TOO_LARGE)
    return Envelope(delivery, event, signature)


def sign(body: bytes, secret: bytes) -> str:
    """The signature that GitHub sends along."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


def is_signed(body: bytes, signature: str, secrets: Iterable[bytes]) -> bool:
    """Whether one of the secrets signed the body; takes the same time wherever it differs."""
    given = signature.encode("utf-8", "surrogateescape")
    # All are tried, so that the time does not tell which of them it was.
    same = [hmac.compare_digest(sign(body, secret).encode(), given) for secret in secrets]
    return any(same)


def read_delivery(envelope: Envelope, body: bytes) -> Delivery | Ignored:
    """Read a signed body.

    Which label counts is the repository's to say, so an issue without the default one is kept.
    """
    found = parse_event(envelope.event, body)
    if isinstance(found, Ignored) and found.reason is not Reason.NOT_OUR_LABEL:
        return found
    payload = json.loads(body)
    repository = _full_name(payload) if isinstance(found, Ignored) else found.repository
    if not repository:
        return Ignored(Reason.MALFORMED, "the repository has no name")
    return Delivery(envelope.id, envelope.event, repository, _installation(payload), body)


def _full_name(payload: Mapping[str, object]) -> str:
    """The repository of an issue that lacks the default label."""
    repository = payload.get("repository")
    name = repository.get("full_name") if isinstance(repository, dict) else None
    return name if isinstance(name, str) and is_full_name(name) else ""


def is_full_name(name: str) -> bool:
    """Whether it is `owner/name` and safe as two folders of a path."""
    parts = name.split("/")
    return len(parts) == 2 and all(
        re.fullmatch(r"[A-Za-z0-9._-]{1,100}", part, re.ASCII) and part not in (".", "..")
        for part in parts
    )


def _installation(payload: Mapping[str, object]) -> int:
    found = payload.get("installation")
    number = found.get("id") if isinstance(found, dict) else None
    return number if type(number) is int and 0 < number < MOST_NUMBER else 0
