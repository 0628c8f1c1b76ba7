"""Settings of the server that cannot work are told by name, and no message shows a secret."""

from pathlib import Path

import pytest

from bot.errors import InputError
from bot.server.settings import read_server_settings
from tests.bot.server.service import PEM, SECRET

SOUND = {
    "STRATWRIGHT_WEBHOOK_SECRET": SECRET,
    "STRATWRIGHT_APP_ID": "7",
    "STRATWRIGHT_APP_PRIVATE_KEY": PEM,
}
LIMIT = "STRATWRIGHT_MODEL_LIMIT_USD"


def test_sound_settings_are_read(tmp_path: Path) -> None:
    found = read_server_settings(tmp_path, environment=SOUND)
    assert (found.state, found.model_limit_usd) == (tmp_path.resolve(), 10.0)
    lower = read_server_settings(tmp_path, environment={**SOUND, LIMIT: "2.50"})
    assert lower.model_limit_usd == 2.5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"STRATWRIGHT_WEBHOOK_SECRET": ""}, "STRATWRIGHT_WEBHOOK_SECRET is not set"),
        ({"STRATWRIGHT_WEBHOOK_SECRET": "short"}, "shorter than 16"),
        ({"STRATWRIGHT_APP_ID": ""}, "STRATWRIGHT_APP_ID is not set"),
        ({"STRATWRIGHT_APP_PRIVATE_KEY": "nonsense"}, "is not an RSA private key"),
        ({"STRATWRIGHT_APP_PRIVATE_KEY_FILE": "/nowhere"}, "both"),
        *(({LIMIT: each}, "not an amount") for each in ("much", "-1", "nan", "inf", "1e9")),
    ],
)
def test_what_is_missing_or_unfit_is_named(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=words) as stop:
        read_server_settings(tmp_path, environment={**SOUND, **changes})
    for secret in (SECRET, "short\n", "nonsense", PEM):
        assert secret not in f"{stop.value.message}\n{stop.value.hint}\n"
