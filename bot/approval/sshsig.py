"""Signs and verifies as `ssh-keygen -Y` does: SSHSIG, Ed25519 alone, plain or on a security key.

The algorithms are fixed here; nothing in a signature chooses them. A signature has one spelling:
the same signature written in another way is refused.
"""

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from bot.approval.reasons import refuse

APPROVAL = "stratwright-approval@v1"
HOST = "stratwright-host@v1"
_PLAIN = b"ssh-ed25519"
_TOKEN = b"sk-ssh-ed25519@openssh.com"
_MAGIC = b"SSHSIG"
_HASH = b"sha512"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_LINE = 70
_MOST = 4_000
_TOUCHED = 1


@dataclass(frozen=True)
class Signed:
    """What a signature says of itself: by which key, for what, and over the digest of what."""

    key: bytes
    namespace: bytes
    kind: bytes
    value: bytes
    flags: int = 0
    counter: int = 0


def sign(private: Ed25519PrivateKey, message: bytes, namespace: str = APPROVAL) -> str:
    """Signs a message as `ssh-keygen -Y sign -n NAMESPACE` does."""
    public = private.public_key().public_bytes_raw()
    value = private.sign(_covered(message, namespace.encode()))
    key = _text(_PLAIN) + _text(public)
    body = _text(key) + _text(namespace.encode()) + _text(b"") + _text(_HASH)
    blob = _MAGIC + struct.pack(">I", 1) + body + _text(_text(_PLAIN) + _text(value))
    return _armour(blob)


def verify(armoured: str, message: bytes, namespace: str = APPROVAL) -> bytes:
    """Verifies a signature over a message and gives the key's blob; whose key it is, is not said.

    Raises:
        ApprovalRefused: bad-signature, wrong-namespace or wrong-algorithm.
    """
    signed = parse(armoured)
    if signed.namespace != namespace.encode():
        raise refuse("wrong-namespace", f"it is for {signed.namespace[:80]!r}")
    covered = _covered(message, signed.namespace)
    kind, rest = _take(signed.key)
    public, rest = _take(rest)
    if kind == _TOKEN:
        application, rest = _take(rest)
        if not signed.flags & _TOUCHED:
            raise refuse("bad-signature", "the security key was not touched")
        state = struct.pack(">BI", signed.flags, signed.counter)
        covered = _sha256(application) + state + _sha256(covered)
    if rest or kind != signed.kind:
        raise refuse("bad-signature", "key and signature are not of one kind")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signed.value, covered)
    except (InvalidSignature, ValueError):
        raise refuse("bad-signature", "it is not over these bytes") from None
    return signed.key


def parse(armoured: str) -> Signed:
    """Reads a signature; nothing of it is believed yet.

    Raises:
        ApprovalRefused: bad-signature or wrong-algorithm.
    """
    blob = _blob(armoured)
    if not blob.startswith(_MAGIC + struct.pack(">I", 1)):
        raise refuse("bad-signature", "it is no SSHSIG of version 1")
    key, rest = _take(blob[len(_MAGIC) + 4 :])
    namespace, rest = _take(rest)
    reserved, rest = _take(rest)
    hashed, rest = _take(rest)
    signature, rest = _take(rest)
    kind, inner = _take(signature)
    if kind not in (_PLAIN, _TOKEN) or hashed != _HASH:
        raise refuse("wrong-algorithm", f"{kind[:60]!r} with {hashed[:20]!r}")
    value, inner = _take(inner)
    flags, counter = struct.unpack(">BI", inner) if kind == _TOKEN and len(inner) == 5 else (0, 0)
    if rest or reserved or len(inner) != (5 if kind == _TOKEN else 0):
        raise refuse("bad-signature", "there is more in it than a signature")
    return Signed(key, namespace, kind, value, flags, counter)


def fingerprint(key: bytes) -> str:
    """Names a key as `ssh-keygen -l` does."""
    return "SHA256:" + base64.b64encode(_sha256(key)).decode().rstrip("=")


def is_usable(key: bytes) -> bool:
    """Says whether a key's blob is Ed25519, plain or on a security key."""
    return key.startswith((_text(_PLAIN), _text(_TOKEN)))


def _covered(message: bytes, namespace: bytes) -> bytes:
    """Gives the bytes that the key itself signs."""
    digest = hashlib.sha512(message).digest()
    return _MAGIC + _text(namespace) + _text(b"") + _text(_HASH) + _text(digest)


def _armour(blob: bytes) -> str:
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return "\n".join([_BEGIN, *lines, _END, ""])


def _blob(armoured: str) -> bytes:
    lines = armoured.split("\n")
    try:
        blob = base64.b64decode("".join(lines[1:-2]), validate=True)
    except (binascii.Error, ValueError):
        raise refuse("bad-signature", "it is not base64") from None
    if len(armoured) > _MOST or _armour(blob) != armoured:
        raise refuse("bad-signature", "it is not written as ssh-keygen writes it")
    return blob


def _take(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 or len(data) - 4 < size:
        raise refuse("bad-signature", "it is cut off")
    return data[4 : 4 + size], data[4 + size :]


def _text(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
