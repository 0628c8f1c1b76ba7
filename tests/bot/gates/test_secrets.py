"""Credentials are found, digests and numbers are not; nothing silences the search."""

import subprocess
import sys
from hashlib import sha256

import pytest

from bot.gates.port import Case
from bot.gates.secrets import find_secrets, is_bitcoin_address
from bot.gates.table import STATIC

# Put together here, so that no scanner takes this file for a leak.
AWS = "AKIA" + "IOSFODNN7" + "EXAMPLQ"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
LINES = [
    f'key = "{AWS}"',
    f'token = "{GITHUB}"',
    'password = "' + "hunter2" + 'Xy77"',
    "-----BEGIN RSA PRIVATE" + " KEY-----",
    'url = "https://user:' + "s3cretPw9" + '@example.org/"',
]


@pytest.mark.parametrize("line", LINES)
def test_credentials_are_refused_without_being_repeated(line: str) -> None:
    content = f"x = 1\n{line}\n".encode()
    verdict = STATIC[-1].judge(Case({"Backtest/codes/a.py": content}, frozenset()))
    assert not verdict.passed
    assert verdict.where == "Backtest/codes/a.py:2"
    assert line.split('"')[1 if '"' in line else 0] not in str(verdict)


def test_a_comment_does_not_silence_the_search() -> None:
    line = f'key = "{AWS}"  # pragma: allowlist ' + "secret\n"
    assert find_secrets("a.py", line.encode())


DIGEST = sha256(b"contract").hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        f"# Digest: sha256:{DIGEST}",
        f'DIGEST = "{DIGEST}"',
        "x = 1234567890123456789",
        'symbol = "BTC/USDT:USDT"',
        'columns = ["timestamp", "open", "high", "low", "close", "volume"]',
        'self.token = position["token"]',
        "--approval-token human_verified_1767225600",
        "secret = cfg['secret_name']",
        'raise ValueError("password is missing")',
    ],
)
def test_ordinary_lines_pass(line: str) -> None:
    assert find_secrets("a.py", f"{line}\n".encode()) == []


def test_any_bytes_can_be_searched() -> None:
    assert find_secrets("a.py", bytes(range(256)) * 4) == []
    assert find_secrets("a.py", b"x" * 50_000)[0].name == "line"


def test_the_scanner_is_imported_only_when_used() -> None:
    code = "import sys, bot.gates.secrets; sys.exit('detect_secrets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_address_for_donations_is_no_credential() -> None:
    """The one of the first block; its checksum is what makes it one."""
    address = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
    assert is_bitcoin_address(address)
    assert find_secrets("x.py", f"DONATIONS = '{address}'\n".encode()) == []
    for place in range(len(address)):
        other = address[:place] + ("2" if address[place] != "2" else "3") + address[place + 1 :]
        assert not is_bitcoin_address(other)
    assert not is_bitcoin_address("5" + "K" * 50)
    assert not is_bitcoin_address("")
