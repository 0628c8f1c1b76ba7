"""What we sign and refuse is what ssh-keygen signs and refuses."""

import hashlib
import struct
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.approval.reasons import ApprovalRefused
from bot.approval.ssh_keygen import sign_with
from bot.approval.sshsig import (
    APPROVAL,
    _armour,
    _blob,
    _covered,
    _text,
    fingerprint,
    sign,
    verify,
)
from tests.bot.approval.keys import Key, ssh_sign, ssh_verifies
from tests.chance import examples

ADA = Key("ada@example.com")
MESSAGE = b'{"a":1}'
GOOD = sign(ADA.private, MESSAGE)


def touched(key: Key, message: bytes, flags: int = 1) -> tuple[str, str]:
    """What a security key with this secret would answer: its public line and a signature."""
    kind, application = b"sk-ssh-ed25519@openssh.com", b"ssh:"
    public = key.private.public_key().public_bytes_raw()
    blob = _text(kind) + _text(public) + _text(application)
    state = struct.pack(">BI", flags, 7)
    inner = hashlib.sha256(_covered(message, APPROVAL.encode())).digest()
    value = key.private.sign(hashlib.sha256(application).digest() + state + inner)
    body = _text(blob) + _text(APPROVAL.encode()) + _text(b"") + _text(b"sha512")
    body += _text(_text(kind) + _text(value) + state)
    line = f"{kind.decode()} {b64encode(blob).decode()}"
    return line, _armour(b"SSHSIG" + struct.pack(">I", 1) + body)


def code_of(signature: str, message: bytes = MESSAGE, namespace: str = APPROVAL) -> str:
    with pytest.raises(ApprovalRefused) as caught:
        verify(signature, message, namespace)
    return caught.value.refusals[0].code


def test_both_sign_the_same_bytes_and_accept_each_other(tmp_path: Path) -> None:
    theirs = ssh_sign(ADA.write(tmp_path), MESSAGE, APPROVAL)
    assert theirs == GOOD
    assert verify(theirs, MESSAGE) == ADA.blob
    allowed = f'ada namespaces="{APPROVAL}" {ADA.line}\n'
    assert ssh_verifies(tmp_path, GOOD, MESSAGE, allowed=allowed, who="ada", namespace=APPROVAL)


def test_both_refuse_other_bytes_and_other_purposes(tmp_path: Path) -> None:
    allowed = f"ada {ADA.line}\n"
    other = ssh_sign(ADA.write(tmp_path), MESSAGE, "git")
    for signature, message, code in (
        (GOOD, MESSAGE + b" ", "bad-signature"),
        (other, MESSAGE, "wrong-namespace"),
    ):
        assert code_of(signature, message) == code
        assert not ssh_verifies(
            tmp_path, signature, message, allowed=allowed, who="ada", namespace=APPROVAL
        )


def test_a_security_key_counts_if_it_was_touched(tmp_path: Path) -> None:
    line, signature = touched(ADA, MESSAGE)
    verify(signature, MESSAGE)
    assert ssh_verifies(
        tmp_path, signature, MESSAGE, allowed=f"ada {line}\n", who="ada", namespace=APPROVAL
    )
    verify(touched(ADA, MESSAGE, flags=5)[1], MESSAGE)  # touched, and its owner known to it
    for flags in (0, 4):
        assert code_of(touched(ADA, MESSAGE, flags)[1]) == "bad-signature"
    assert code_of(signature, b"other") == "bad-signature"


@pytest.mark.parametrize("back", [1, 5, 4, 2])
def test_flags_and_counter_of_a_security_key_are_signed_too(tmp_path: Path, back: int) -> None:
    """The last five bytes of its signature: the flags, and a counter of four."""
    line, signature = touched(ADA, MESSAGE)
    blob = bytearray(_blob(signature))
    blob[-back] ^= 2
    other = _armour(bytes(blob))
    assert code_of(other) == "bad-signature"
    allowed = f"ada {line}\n"
    given = {"allowed": allowed, "who": "ada", "namespace": APPROVAL}
    assert not ssh_verifies(tmp_path, other, MESSAGE, **given)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An agent that holds Ada's key; its variables."""
    socket = str(tmp_path / "agent")
    running = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        while not Path(socket).exists():
            assert running.poll() is None
        yield {"SSH_AUTH_SOCK": socket}
    finally:
        running.terminate()
        running.wait()


def test_an_agent_signs_with_a_key_that_is_in_no_file(
    tmp_path: Path, agent: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ADA.write(tmp_path)
    public = path.with_suffix(".pub")
    for name, value in agent.items():
        monkeypatch.setenv(name, value)
    subprocess.run(["ssh-add", "-q", str(path)], check=True)
    path.unlink()
    assert sign_with(public, MESSAGE) == GOOD
    subprocess.run(["ssh-add", "-q", "-D"], check=True, capture_output=True)
    with pytest.raises(ApprovalRefused, match="not-signed"):
        sign_with(public, MESSAGE)


def test_other_algorithms_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ecdsa"
    command = ["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(path)]
    subprocess.run(command, check=True)
    assert code_of(ssh_sign(path, MESSAGE, APPROVAL)) == "wrong-algorithm"
    weak = subprocess.run(
        ["ssh-keygen", "-qYsign", "-Ohashalg=sha256", "-f", ADA.write(tmp_path), "-n", APPROVAL],
        input=MESSAGE,
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert code_of(weak) == "wrong-algorithm"


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 127))
@examples(300)
def test_any_changed_byte_of_a_signature_is_refused(place: int, change: int) -> None:
    data = bytearray(GOOD.encode())
    data[place] ^= change
    assert code_of(data.decode("latin-1")) in (
        "bad-signature",
        "wrong-namespace",
        "wrong-algorithm",
    )


@given(st.integers(0, len(GOOD)))
@examples(60)
def test_a_signature_that_is_cut_off_or_longer_is_refused(place: int) -> None:
    assert place == len(GOOD) or code_of(GOOD[:place]) == "bad-signature"
    assert code_of(GOOD + GOOD[:place] + " ") == "bad-signature"


def test_a_key_is_named_as_ssh_names_it(tmp_path: Path) -> None:
    shown = subprocess.run(
        ["ssh-keygen", "-l", "-f", ADA.write(tmp_path)], capture_output=True, text=True, check=True
    )
    assert fingerprint(ADA.blob) in shown.stdout
