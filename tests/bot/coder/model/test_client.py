"""The key goes to one place only: encrypted, or on this machine."""

import pytest

from bot.coder.model.client import MessagesApi
from bot.errors import InputError


@pytest.mark.parametrize(
    "address",
    [
        "http://example.com",
        "http://127.0.0.1.example.com",
        "ftp://127.0.0.1",
        "http://localhost@x/",
    ],
)
def test_an_address_in_the_clear_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="in the clear"):
        MessagesApi(address)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    with pytest.raises(InputError, match="in the clear"):
        MessagesApi()


@pytest.mark.parametrize(
    "address", ["https://example.com", "http://127.0.0.1:1", "http://localhost", "http://[::1]:2/x"]
)
def test_an_encrypted_or_local_address_is_taken(address: str) -> None:
    MessagesApi(address)


def test_without_a_key_there_is_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY is empty"):
        MessagesApi()
