"""A session that a machine kept is taken over; a signature that nobody made is not shown."""

from pathlib import Path

import pytest

from bot.coder.model.session import SESSION, SESSION_SIGNATURE, Session, how_rebuilt
from bot.git.repository import open_repository
from bot.proof.sessions import adopt
from tests.bot.coder.model.scripts import contract
from tests.bot.git.worlds import make_world

ASKED = f"sha256:{'1' * 64}"


@pytest.mark.parametrize("signature", ["", "no signature at all"])
def test_a_signature_that_does_not_hold_is_left_behind(tmp_path: Path, signature: str) -> None:
    made = Session(coder="cli", asked=ASKED, model="m", prices="p", system="", tools="",
                   exchanges=(), files={})  # fmt: skip
    place = tmp_path / "kept" / ASKED.removeprefix("sha256:")
    place.mkdir(parents=True)
    (place / SESSION).write_bytes(made.content)
    (place / SESSION_SIGNATURE).write_text(signature)
    repository = open_repository(make_world(tmp_path).work)
    assert adopt(contract(), ASKED, repository, tmp_path / "kept", ()) == (made, "")


def test_what_claude_code_did_is_not_called_rebuilt() -> None:
    assert how_rebuilt("agent") == "rebuilt"
    assert "cannot be repeated" in how_rebuilt("cli")
