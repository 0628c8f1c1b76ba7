import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.redaction import HIDDEN, inert, is_secret_name, known_secrets, redact, redact_all
from tests.chance import examples

BODY = "Zx9" * 14


@pytest.mark.parametrize(
    "secret",
    [
        f"ghp_{BODY}",
        f"github_pat_{BODY}",
        f"sk-ant-api03-{BODY}",
        "AKIA" + "Q7" * 8,
        f"xoxb-{BODY}",
        f"glpat-{BODY}",
        f"eyJhbGciOiJI.{BODY}.{BODY}",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n-----END OPENSSH PRIVATE KEY-----",
    ],
)
def test_keys_of_known_make_are_hidden(secret: str) -> None:
    assert redact(f"before {secret} after") == f"before {HIDDEN} after"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "https://ada:{}@host/x",
        "BROKER_API_SECRET={}",
        '{{"api_key": "{}"}}',
        "password: {}",
        "?token={}&x=1",
    ],
)
def test_secrets_are_hidden_by_where_they_stand(text: str) -> None:
    shown = redact(text.format("hunter2hunter2"))
    assert "hunter2" not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "text",
    [
        "tokens used: 12, secretary: Ada",
        "sha256:" + "ab" * 32,
        "corr_0123456789ab on ai/generated/oversold-dip/strategy",
        "approval_token=human_verified_1762525800",
        "https://github.com/ada/bots.git",
        "rsi < oversold and close > trend",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_a_value_keeps_its_form() -> None:
    given = {"a": ["-----BEGIN PRIVATE KEY-----", 1, None], "api_key": "short", "b": 'token=abcd"'}
    shown = {"a": [HIDDEN, 1, None], "api_key": HIDDEN, "b": f'token={HIDDEN}"'}
    assert redact_all(given) == shown


def test_values_of_secret_variables_are_hidden_wherever_they_stand() -> None:
    environment = {"BROKER_API_KEY": "plainlookingvalue", "HOME": "/home/ada", "X_TOKEN": "short"}
    secrets = known_secrets(environment)
    assert secrets == ("plainlookingvalue",)
    assert redact("it is plainlookingvalue.", secrets) == f"it is {HIDDEN}."


@pytest.mark.parametrize("name", ["api_key", "BROKER_API_SECRET", "x-token", "password", "auth"])
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["author", "tokens", "approval_token", "key", "symbol", "head"])
def test_names_that_are_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


@examples(100)
@given(st.text())
def test_nothing_shown_moves_a_cursor_or_commands_a_workflow(text: str) -> None:
    shown = inert(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert "\x9b" not in shown
    assert "##[" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))


@pytest.mark.parametrize(
    "text", ["::set-env name=x::y", "  ::error::x", "a\n::warning::b", "##[x]"]
)
def test_workflow_commands_are_made_harmless(text: str) -> None:
    assert inert(text) != text
