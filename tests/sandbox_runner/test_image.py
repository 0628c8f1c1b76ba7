"""An image is named by its inputs and holds what this machine runs."""

import io
import re
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_runner.docker.base_image import write_base
from sandbox_runner.image import distributions, main, read_recipe

HOUSE = Path(__file__).resolve().parents[2]


def test_the_recipe_pins_every_library_and_what_it_needs() -> None:
    lines = read_recipe().requirements.splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[^=]+", line) for line in lines)
    names = {line.split("==")[0] for line in lines}
    assert {"numpy", "pandas", "ta-lib", "pytest", "mypy", "mypy-extensions", "pluggy"} <= names
    assert names.isdisjoint({"docker", "gitpython", "requests"})


def test_every_input_changes_the_digest() -> None:
    recipe = read_recipe()
    others = [
        replace(recipe, requirements="numpy==1\n"),
        replace(recipe, python="3.99"),
        replace(recipe, machine="other"),
        replace(recipe, texts={**recipe.texts, "Dockerfile.sandbox": "FROM other\n"}),
    ]
    assert recipe.digest == read_recipe().digest
    assert len({recipe.digest, *(other.digest for other in others)}) == 5


def test_the_image_asks_for_the_versions_of_the_project() -> None:
    """requirements.txt is for a build by hand; it must not drift from pyproject.toml."""
    project = (HOUSE / "pyproject.toml").read_text("utf-8")
    lines = (HOUSE / "sandbox_runner/requirements.txt").read_text("utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            assert f'"{line}"' in project


def test_the_base_holds_python_its_libraries_and_nobody_s_name() -> None:
    stream = io.BytesIO()
    write_base(stream, ["pluggy"])
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        members = {member.name: member for member in archive}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert members["usr/local/bin/python"].linkname == version
    assert f"usr/local/lib/{version}/os.py" in members
    assert f"usr/local/lib/{version}/site-packages/pluggy/__init__.py" in members
    assert any(name.endswith("/libc.so.6") for name in members)
    assert not [name for name in members if "site-packages/numpy/" in name]
    assert not [name for name in members if name.startswith(("home/", "root/", "etc/"))]
    assert {(member.uid, member.uname) for member in members.values()} == {(0, "")}


def test_distributions_are_closed_under_need() -> None:
    names = distributions()
    assert "python-dateutil" in names
    assert "numpy" in names


def test_a_folder_without_wheels_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--wheels", str(tmp_path)]) == 2
    assert "there are no wheels" in capsys.readouterr().err


def test_without_an_engine_it_exits_with_4_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert main(["--offline"]) == 4
    assert "does not answer" in capsys.readouterr().err
