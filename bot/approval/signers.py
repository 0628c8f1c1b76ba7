"""Reads OpenSSH's allowed_signers and revocations into who may sign, for what and when.

The files lie on the host that judges, never in the repository that is judged. Of OpenSSH's
format, patterns in principals and certificates are refused: a name means one person here.
"""

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.approval.reasons import ApprovalRefused, Refusal
from bot.approval.sshsig import APPROVAL, fingerprint, is_usable, verify
from bot.errors import MANUAL, InputError

_OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?', re.ASCII)
_TIME = re.compile(r"(\d{8})(\d{4}(?:\d{2})?)?(Z?)", re.ASCII)
_KRL = b"SSHKRL\n\0"
_KEYS, _SHA1, _SHA256 = 2, 3, 5


@dataclass(frozen=True)
class Signer:
    """One line of allowed_signers; times are seconds, both ends included."""

    principals: tuple[str, ...]
    key: bytes
    namespaces: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None

    def trouble(self, namespace: str, now: int) -> str:
        """Gives the code of what forbids it to sign now; empty if nothing does."""
        if self.namespaces and namespace not in self.namespaces:
            return "wrong-namespace"
        if self.after is not None and now < self.after:
            return "key-not-yet-valid"
        return "key-expired" if self.before is not None and now > self.before else ""


@dataclass(frozen=True)
class Signers:
    """Everybody who may sign, and the keys that were taken back (as keys or as digests)."""

    lines: tuple[Signer, ...]
    revoked: frozenset[bytes] = frozenset()

    def judge(
        self, armoured: str, message: bytes, now: int, namespace: str = APPROVAL
    ) -> tuple[frozenset[str], bytes] | Refusal:
        """Says whose signature it is, as principals and key, or why it does not count."""
        try:
            key = verify(armoured, message, namespace)
        except ApprovalRefused as error:
            return error.refusals[0]
        if self.is_revoked(key):
            return Refusal("revoked-key", fingerprint(key))
        lines = [line for line in self.lines if line.key == key]
        if not lines:
            return Refusal("unknown-signer", fingerprint(key))
        troubles = [line.trouble(namespace, now) for line in lines]
        if all(troubles):
            return Refusal(troubles[0], ", ".join(lines[0].principals))
        good = (line for line, trouble in zip(lines, troubles, strict=True) if not trouble)
        return frozenset(name for line in good for name in line.principals), key

    def is_revoked(self, key: bytes) -> bool:
        """Says whether a key was taken back."""
        sha1 = hashlib.sha1(key, usedforsecurity=False).digest()
        return bool({key, sha1, hashlib.sha256(key).digest()} & self.revoked)


def read_signers(allowed: bytes, revoked: bytes = b"", name: str = "allowed_signers") -> Signers:
    """Reads what the files say.

    Raises:
        InputError: something in them is not understood.
    """
    try:
        text = allowed.decode("ascii")
    except UnicodeDecodeError as error:
        message = f"{name} cannot be read: {error}"
        raise InputError(message, f"{MANUAL}/approval.md shows how to write the files.") from None
    lines = []
    # Lines end as OpenSSH ends them: nothing in a key's comment begins another line.
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            try:
                lines.append(parse_line(line))
            except ValueError as error:
                raise InputError(f"{name}:{number}: {error}", "See man ssh-keygen.") from None
    try:
        return Signers(tuple(lines), frozenset(parse_revoked(revoked)))
    except (ValueError, struct.error) as error:
        hint = "Make it again: ssh-keygen -k -f FILE."
        raise InputError(f"the list of revoked keys: {error}", hint) from None


def parse_line(line: str) -> Signer:
    """Reads `principals [options] type key [comment]`.

    Raises:
        ValueError: with what is not understood.
    """
    if not line.isprintable():
        raise ValueError("it has a tab or a control character")
    principals, _, rest = line.strip().partition(" ")
    names = tuple(principals.split(","))
    if any(not name or set(name) & set("*?!\"'") for name in names):
        raise ValueError(f"{principals!a} is not a list of plain names")
    rest = rest.strip()
    options: dict[str, str] = {}
    while not rest.startswith(("ssh-", "sk-ssh-", "ecdsa-", "sk-ecdsa-")):
        found = _OPTION.match(rest)
        if not found or found[1] in options:
            raise ValueError(f"{rest[:40]!a} is neither a key nor an option")
        options[found[1]] = found[2] or ""
        rest = rest[found.end() :].lstrip(", ")
    if unknown := sorted(set(options) - {"namespaces", "valid-after", "valid-before"}):
        raise ValueError(f"the option {unknown[0]} is not supported")
    spaces = tuple(filter(None, options.get("namespaces", "").split(",")))
    if any(set(space) & set("*?!") for space in spaces) or ("namespaces" in options and not spaces):
        raise ValueError("namespaces are written out, at least one, without patterns")
    ends = (_moment(options.get(name)) for name in ("valid-after", "valid-before"))
    return Signer(names, parse_key(rest), spaces, *ends)


def parse_key(text: str) -> bytes:
    """Reads a public key as `ssh-keygen` writes it into .pub files, and gives its blob.

    Raises:
        ValueError: it is no Ed25519 key.
    """
    kind, _, rest = text.strip().partition(" ")
    try:
        key = base64.b64decode(rest.split(" ")[0], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the key is not base64") from None
    if key[4 : 4 + len(kind)] != kind.encode() or not is_usable(key):
        raise ValueError(f"{kind[:40]!a} is no Ed25519 key")
    return key


def parse_revoked(data: bytes) -> Iterator[bytes]:
    """Reads a list of public keys, one a line, or a key revocation list of OpenSSH.

    Raises:
        ValueError: it is something else.
    """
    if not data.startswith(_KRL):
        for line in data.decode("ascii").splitlines():
            if line.strip() and not line.startswith("#"):
                yield parse_key(line)
        return
    # Magic, format, version, date, flags; then two texts: reserved and comment.
    rest = data[len(_KRL) + 4 + 8 + 8 + 8 :]
    if struct.unpack(">I", data[len(_KRL) : len(_KRL) + 4]) != (1,):
        raise ValueError("it is a revocation list of another format")
    for _ in ("reserved", "comment"):
        _, rest = _text(rest)
    while rest:
        kind, (section, rest) = rest[0], _text(rest[1:])
        if kind not in (_KEYS, _SHA1, _SHA256):
            raise ValueError("it revokes certificates or is signed, which is not supported")
        while section:
            item, section = _text(section)
            yield item


def _text(data: bytes) -> tuple[bytes, bytes]:
    (size,) = struct.unpack(">I", data[:4])
    if len(data) < 4 + size:
        raise ValueError("it is cut off")
    return data[4 : 4 + size], data[4 + size :]


def _moment(text: str | None) -> int | None:
    """Reads YYYYMMDD[HHMM[SS]][Z]; without the Z it is the machine's own time, as in OpenSSH."""
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError(f"{text!a} is no time: write YYYYMMDDHHMMZ")
    clock = (found[2] or "").ljust(6, "0")
    moment = datetime.strptime(found[1] + clock, "%Y%m%d%H%M%S")
    return int((moment.replace(tzinfo=UTC) if found[3] else moment).timestamp())
