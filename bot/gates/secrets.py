"""The gate `secrets`: no key, token or password stands in a candidate's files."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from bot.gates.static.offence import Offence
from sandbox_runner.rules import LIMITS

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

_OFFENCE_LIMIT = 20
_LONGEST_LINE = 20_000
_SIZE_LIMIT = LIMITS["scanned_bytes"]
# Digests are long hex texts by nature; every other detector of the library is used.
_LEFT_OUT = {"Hex High Entropy String"}
_lock = threading.Lock()
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def find_secrets(path: str, content: bytes) -> list[Offence]:
    """List the lines that look like credentials; the credential itself is never repeated."""
    if len(content) > _SIZE_LIMIT:
        why = f"{len(content)} bytes are too many to be searched for credentials"
        return [Offence(0, 1, "size", why, "split the file")]
    offences = []
    text = content.decode("utf-8", errors="replace")
    with _lock:
        for number, line in enumerate(text.splitlines(), start=1):
            if len(line) > _LONGEST_LINE:
                why = f"a line of {len(line)} characters cannot be searched for credentials"
                offences.append(Offence(number, 1, "line", why, "break it into shorter lines"))
                continue
            offences += [_offence(number, kind) for kind in _kinds(path, line, number)]
            if len(offences) >= _OFFENCE_LIMIT:
                break
    return offences[:_OFFENCE_LIMIT]


def _offence(number: int, kind: str) -> Offence:
    instead = "remove it and revoke it; the live host takes credentials from its secrets provider"
    return Offence(number, 1, kind, "this line looks like a credential", instead)


def _kinds(path: str, line: str, number: int) -> list[str]:
    kinds = set()
    for detector in _detectors():
        for secret in detector.analyze_line(filename=path, line=line, line_number=number):
            if not _is_harmless(secret.secret_value or "", line, detector):
                kinds.add(str(detector.secret_type))
    return sorted(kinds)


def _is_harmless(value: str, line: str, detector: BasePlugin) -> bool:
    """Apply the library's own heuristics, except the comment that would silence it."""
    from detect_secrets.filters import heuristic

    return bool(
        heuristic.is_sequential_string(value)
        or heuristic.is_potential_uuid(value)
        or heuristic.is_likely_id_string(value, line, detector)
        or heuristic.is_templated_secret(value)
        or heuristic.is_prefixed_with_dollar_sign(value)
        or heuristic.is_indirect_reference(line)
        or heuristic.is_not_alphanumeric_string(value)
        or is_bitcoin_address(value)
    )


def is_bitcoin_address(value: str) -> bool:
    """Tell whether a text is an address, checksum and all: people put them up to be seen."""
    if not 26 <= len(value) <= 35 or value[0] not in "13" or set(value) - set(_BASE58):
        return False
    number = 0
    for character in value:
        number = number * 58 + _BASE58.index(character)
    if number >= 1 << 200:
        return False
    content = number.to_bytes(25, "big")
    digest = hashlib.sha256(hashlib.sha256(content[:21]).digest()).digest()
    return content[0] in (0, 5) and digest[:4] == content[21:]


@cache
def _detectors() -> tuple[BasePlugin, ...]:
    """Make the detectors; the import takes a fifth of a second, so it waits for the first use."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    classes: Mapping[str, type[BasePlugin]] = get_mapping_from_secret_type_to_class()
    return tuple(classes[kind]() for kind in sorted(classes) if kind not in _LEFT_OUT)
