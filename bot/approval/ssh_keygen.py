"""Lets ssh-keygen sign with a person's own key: a file, an agent's, or one on a security key."""

import shutil
import subprocess
from pathlib import Path

from bot.approval.reasons import refuse
from bot.approval.sshsig import APPROVAL
from bot.errors import WorldError

_TIMEOUT_S = 300.0


def sign_with(key: Path, data: bytes, namespace: str = APPROVAL) -> str:
    """Signs bytes; ssh-keygen asks for a passphrase or a touch at the terminal by itself.

    Args:
        key: the private key, or the public one if an agent holds the other half.
        data: what is signed.
        namespace: what for.

    Raises:
        ApprovalRefused: not-signed.
        WorldError: there is no ssh-keygen.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise WorldError("ssh-keygen was not found", "Install OpenSSH's client.")
    command = [program, "-q", "-Y", "sign", "-f", str(key), "-n", namespace]
    try:
        done = subprocess.run(  # noqa: S603 - a program of the system, no shell
            command, input=data, stdout=subprocess.PIPE, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise refuse("not-signed", f"nobody answered within {_TIMEOUT_S:g} s") from None
    if done.returncode:
        raise refuse("not-signed", f"ssh-keygen ended with {done.returncode}")
    return done.stdout.decode("ascii", "replace")
