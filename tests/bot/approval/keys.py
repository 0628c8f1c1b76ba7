"""Keys of people and machines, as ssh-keygen makes and uses them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from bot.approval.signers import parse_key


@dataclass(frozen=True)
class Key:
    """A key whose seed is its name's: the same in every test."""

    name: str

    @property
    def private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.name.encode().ljust(32, b"\0")[:32])

    @property
    def line(self) -> str:
        public = self.private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        return public.decode()

    @property
    def blob(self) -> bytes:
        return parse_key(self.line)

    @property
    def pem(self) -> str:
        form = (Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        return self.private.private_bytes(*form).decode()

    def write(self, folder: Path) -> Path:
        """Write it as ssh-keygen does; gives the private file."""
        path = folder / self.name.replace("@", "-")
        path.write_text(self.pem)
        path.chmod(0o600)
        path.with_suffix(".pub").write_text(self.line + "\n")
        return path


def ssh_sign(path: Path, message: bytes, namespace: str) -> str:
    return subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", str(path), "-n", namespace],
        input=message,
        capture_output=True,
        check=True,
    ).stdout.decode()


def ssh_verifies(
    folder: Path,
    signature: str,
    message: bytes,
    *,
    allowed: str,
    who: str,
    namespace: str,
    at: str = "",
    revoked: Path | None = None,
) -> bool:
    (folder / "sig").write_text(signature)
    (folder / "allowed").write_text(allowed)
    command = ["ssh-keygen", "-Y", "verify", "-f", str(folder / "allowed"), "-I", who]
    command += ["-n", namespace, "-s", str(folder / "sig")]
    command += ["-r", str(revoked)] if revoked else []
    command += [f"-Overify-time={at}"] if at else []
    done = subprocess.run(command, input=message, capture_output=True, check=False)
    return done.returncode == 0
