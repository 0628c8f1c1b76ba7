"""Turns a wrapped private SSH key into signatures; the key itself is shown nowhere."""

from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
)
from pydantic import SecretStr

from bot.approval.reasons import refuse
from bot.approval.signers import parse_key
from bot.approval.sshsig import sign


@dataclass(frozen=True)
class EnvironmentKey:
    """The key that only jobs of an environment meet; it signs for what people approved there."""

    secret: SecretStr

    def sign(self, data: bytes) -> str:
        """Sign bytes as an approval."""
        return sign(self._private, data)

    @property
    def public(self) -> bytes:
        """Give the public half's blob."""
        form = (Encoding.OpenSSH, PublicFormat.OpenSSH)
        return parse_key(self._private.public_key().public_bytes(*form).decode())

    def check(self) -> None:
        """Read the key.

        Raises:
            ApprovalRefused: no-key.
        """
        self._private  # noqa: B018 - raises if it is none

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        text = self.secret.get_secret_value().strip() + "\n"
        try:
            found = load_ssh_private_key(text.encode(), None)
        except (ValueError, TypeError):
            raise refuse("no-key", "it is not a private SSH key without a passphrase") from None
        if not isinstance(found, Ed25519PrivateKey):
            raise refuse("no-key", "it is not an Ed25519 key")
        return found
