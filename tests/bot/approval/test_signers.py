"""Who may sign, when and for what: the same answers as ssh-keygen's."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.approval.reasons import Refusal
from bot.approval.signers import parse_line, read_signers
from bot.approval.sshsig import APPROVAL, sign
from bot.errors import InputError
from tests.bot.approval.keys import Key, ssh_verifies

ADA, BOB = Key("ada@example.com"), Key("bob@example.com")
MESSAGE = b"{}"
NOON = int(datetime(2026, 11, 17, 12, tzinfo=UTC).timestamp())
RANGE = 'valid-after="20261101Z",valid-before="20261130120000Z"'


def judged(folder: Path, allowed: str, now: int, revoked: Path | None = None) -> str:
    """Our word about ada's signature: her name, or the code; ssh-keygen has to agree."""
    signature = sign(ADA.private, MESSAGE)
    taken_back = revoked.read_bytes() if revoked else b""
    found = read_signers(allowed.encode(), taken_back).judge(signature, MESSAGE, now)
    code = found.code if isinstance(found, Refusal) else ""
    at = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M%SZ")
    agreed = ssh_verifies(
        folder,
        signature,
        MESSAGE,
        allowed=allowed,
        who="ada",
        namespace=APPROVAL,
        at=at,
        revoked=revoked,
    )
    assert agreed is (code == "")
    return code or ",".join(sorted(found[0] if not isinstance(found, Refusal) else ()))


@pytest.mark.parametrize(
    ("allowed", "day", "code"),
    [
        (f"ada {ADA.line}", 17, "ada"),
        (f'ada,ada@home namespaces="{APPROVAL}" {ADA.line} laptop', 17, "ada,ada@home"),
        (f'ada {RANGE},namespaces="git,{APPROVAL}" {ADA.line}', 17, "ada"),
        (f'ada namespaces="git" {ADA.line}', 17, "wrong-namespace"),
        (f"ada {RANGE} {ADA.line}", -20, "key-not-yet-valid"),
        (f"ada {RANGE} {ADA.line}", 31, "key-expired"),
        (f"ada {RANGE} {ADA.line}", 30, "ada"),
        (f"ada {BOB.line}", 17, "unknown-signer"),
        (f"ada {BOB.line}\n# both for a week\nada {ADA.line}\n", 17, "ada"),
    ],
)
def test_we_say_what_ssh_keygen_says(tmp_path: Path, allowed: str, day: int, code: str) -> None:
    assert judged(tmp_path, allowed + "\n", NOON + (day - 17) * 86_400) == code


@pytest.mark.parametrize(
    ("day", "old", "new"),
    [(9, "ada", "key-not-yet-valid"), (17, "ada", "ada"), (25, "key-expired", "ada")],
)
def test_a_key_is_changed_for_another_while_both_count(
    tmp_path: Path, day: int, old: str, new: str
) -> None:
    """Ada's key is the old one of two here, then the new one."""
    until, since = 'valid-before="20261120Z"', 'valid-after="20261110Z"'
    now = NOON + (day - 17) * 86_400
    assert judged(tmp_path, f"ada {until} {ADA.line}\nada {since} {BOB.line}\n", now) == old
    assert judged(tmp_path, f"ada {until} {BOB.line}\nada {since} {ADA.line}\n", now) == new


@pytest.mark.parametrize("form", ["list", "krl", "krl-sha1", "krl-sha256"])
def test_a_key_that_was_taken_back_is_refused_and_the_other_is_not(
    tmp_path: Path, form: str
) -> None:
    for taken, code in ((ADA, "revoked-key"), (BOB, "ada")):
        keys = tmp_path / "keys"
        kind = {"krl-sha1": "sha1", "krl-sha256": "sha256"}.get(form)
        keys.write_text((f"{kind}: {taken.line}" if kind else taken.line) + "\n")
        revoked = tmp_path / form
        if form != "list":
            command = ["ssh-keygen", "-q", "-k", "-f", str(revoked), str(keys)]
            subprocess.run(command, check=True, capture_output=True)
        else:
            revoked = keys
        assert judged(tmp_path, f"ada {ADA.line}\n", NOON, revoked) == code


@pytest.mark.parametrize(
    "line",
    [
        f"* {ADA.line}",
        f"!ada {ADA.line}",
        f"ada cert-authority {ADA.line}",
        f'ada namespaces="*" {ADA.line}',
        f'ada namespaces="" {ADA.line}',
        f'ada namespaces="," {ADA.line}',
        f"ada namespaces {ADA.line}",
        *(f"ada {ADA.line} laptop{end}eve {BOB.line}" for end in "\r\f\v\x1c\x1e\t"),
        f'ada valid-after="soon" {ADA.line}',
        "ada ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB",
        "ada ssh-ed25519 ???",
        "ada",
    ],
)
def test_a_line_that_is_not_understood_is_told_and_never_skipped(line: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        parse_line(line)
    with pytest.raises(InputError, match="signers:2"):
        read_signers(f"# ours\r\n{line}\n".encode())


def test_a_list_that_cannot_be_read_stops() -> None:
    signers = f"ada {ADA.line}\n".encode()
    for data in (b"SSHKRL\n\0\0\0\0\2" + bytes(40), b"SSHKRL\n\0", b"nonsense"):
        with pytest.raises(InputError, match="revoked"):
            read_signers(signers, data)
    # A name that only looks like somebody's is no name here.
    with pytest.raises(InputError, match="cannot be read"):
        read_signers(f"\u0430da {ADA.line}\n".encode())
