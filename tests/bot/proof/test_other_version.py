"""A tag of another version is answered by that version, from a wheel that the user trusts."""

import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from bot import __version__
from bot.errors import WorldError
from bot.git.repository import open_repository
from bot.proof.evidence import tool_versions
from bot.proof.other_version import VARIABLE, find_product, trusted_places, verify_elsewhere
from bot.proof.product import digest_of, read_wheel
from bot.proof.seal_check import Claim
from tests.bot.git.worlds import make_world

CLAIM = Claim({}, "corr_0123456789ab", "contracts/x.yaml", "template", __version__, "", {})
# What stands for the program of another version: it answers as `verify --json --here` does.
PROGRAM = """\
import json, sys
from bot.proof.product import product_digest
checks = [{"name": "every byte", "outcome": OUTCOME, "holds": False, "detail": "said there"}]
print(json.dumps({"outcome": OUTCOME, "checks": checks, "left_out": [], "product": PRODUCT}))
sys.exit(CODE)
"""


def make_wheel(folder: Path, content: bytes = b"x = 1\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "stratwright-0.0.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("bot/__init__.py", content)
    return path


def wheel_digest(path: Path) -> str:
    return digest_of(read_wheel(path))


def test_a_wheel_is_taken_by_its_content_from_named_places_only(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "mine")
    make_wheel(tmp_path / "other", b"x = 2\n")
    (tmp_path / "other/stratwright-9-py3-none-any.whl").write_bytes(b"no wheel")
    claim = replace(CLAIM, product=wheel_digest(wheel))
    places = (str(tmp_path / "other"), str(tmp_path / "mine"))
    assert find_product(claim, places) == {"bot/__init__.py": b"x = 1\n"}
    for places in ((), (str(tmp_path / "other"),), (str(tmp_path / "nowhere"),)):
        with pytest.raises(WorldError, match="no wheel of that content") as stop:
            find_product(claim, places)
        assert stop.value.exit_code == 4
        assert "--wheels" in stop.value.hint


def test_places_are_named_by_option_else_by_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert trusted_places(None) == ()
    monkeypatch.setenv(VARIABLE, "/a:/b")
    assert trusted_places(None) == ("/a", "/b")
    assert trusted_places(["/c", "index"]) == ("/c", "index")


@pytest.mark.parametrize("version", ["", "../../x", "1.0; rm", "--index-url=x", "1.0 @ http://x"])
def test_a_version_that_is_none_reaches_no_installer(version: str, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    repository = open_repository(world.work)
    claim = replace(CLAIM, product="sha256:" + "0" * 64, versions={"pandas": version})
    with pytest.raises(WorldError, match="cannot exist"):
        verify_elsewhere("x", claim, repository, ("index",), "auto", lambda line: None)


def test_a_version_that_nobody_trusts_cannot_be_checked(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    claim = replace(CLAIM, product="sha256:" + "0" * 64, versions=tool_versions())
    with pytest.raises(WorldError, match="no wheel of that content is at hand"):
        verify_elsewhere("x", claim, open_repository(world.work), (), "auto", lambda line: None)


@pytest.mark.parametrize(
    ("outcome", "product", "code", "expected"),
    [
        ("holds", "mine", 0, "holds"),
        ("broken", "mine", 1, "broken"),
        ("cannot-check", "mine", 4, "cannot-check"),
        ("holds", "mine", 1, None),  # its parts do not agree
        ("holds", "another", 0, None),
        ("fine", "mine", 0, None),
    ],
)
def test_the_other_versions_answer_is_reported_and_read_strictly(
    outcome: str,
    product: str,
    code: int,
    expected: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The environment is made by hand: what is tried is who is asked, and what is believed."""
    from bot.proof import other_version

    world = make_world(tmp_path)
    wheel = make_wheel(tmp_path / "wheels")
    claim = replace(CLAIM, product=wheel_digest(wheel), versions=tool_versions())
    home = tmp_path / "environment"
    (home / "bin").mkdir(parents=True)
    named = claim.product if product == "mine" else "sha256:" + "1" * 64
    text = PROGRAM.replace("OUTCOME", json.dumps(outcome)).replace("CODE", str(code))
    text = text.replace("from bot.proof.product import product_digest\n", "")
    text = text.replace("PRODUCT", json.dumps(named))
    (home / "bin/python").write_text(f"#!{sys.executable}\n{text}")
    (home / "bin/python").chmod(0o755)
    monkeypatch.setattr(other_version, "_environment", lambda claim, files, say: home)
    places = (str(wheel.parent),)
    arguments = ("x", claim, open_repository(world.work), places, "auto", lambda line: None)
    if expected is None:
        with pytest.raises(WorldError, match="no answer that can be used"):
            verify_elsewhere(*arguments)
        return
    found = verify_elsewhere(*arguments)
    assert found.outcome == expected
    assert found.findings[0].name == "asked"
    assert found.findings[-1].detail == "said there"


def test_an_answer_that_checked_nothing_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside what was found here it would read as if everything held."""
    from bot.proof import other_version

    world = make_world(tmp_path)
    wheel = make_wheel(tmp_path / "wheels")
    claim = replace(CLAIM, product=wheel_digest(wheel), versions=tool_versions())
    said = {"outcome": "not-verified", "checks": [], "left_out": [], "product": claim.product}
    home = tmp_path / "environment"
    (home / "bin").mkdir(parents=True)
    (home / "bin/python").write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\nexit 1\n")
    (home / "bin/python").chmod(0o755)
    monkeypatch.setattr(other_version, "_environment", lambda claim, files, say: home)
    repository, places = open_repository(world.work), (str(wheel.parent),)
    with pytest.raises(WorldError, match="it checked nothing"):
        verify_elsewhere("x", claim, repository, places, "auto", lambda line: None)


def test_what_cannot_be_had_is_told_before_anything_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real way, with pip, is in tests/e2e/test_other_version.py."""
    from bot.proof import other_version

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    claim = replace(CLAIM, product="sha256:" + "2" * 64, versions=tool_versions())
    lock = Path("bot/locks/github.txt")
    whole = {str(lock): (Path(other_version.__file__).parents[2] / lock).read_bytes()}
    odd = replace(claim, versions={**claim.versions, "python": "3.2.1"})
    more = replace(claim, versions={**claim.versions, "evil-package": "1.0"})
    said: list[str] = []
    for asked, files, reason in (
        (claim, {}, "does not name bandit=="),
        (odd, whole, r"Python 3\.2\.1"),
        (more, whole, r"does not name evil-package==1\.0 in its lock"),
    ):
        with pytest.raises(WorldError, match=reason):
            other_version._environment(asked, files, said.append)
    assert not said
    assert not (tmp_path / "cache").exists()
