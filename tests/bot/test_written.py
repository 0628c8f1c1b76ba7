"""Files are written whole, under their folder, and never through a link."""

from pathlib import Path

import pytest

from bot.errors import InputError
from bot.files import write_files

FILES = {"Backtest/codes/a.py": "a = 1\n", "tests/test_a.py": "b = 2\n"}


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_files_appear_under_a_new_folder(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    write_files(out, FILES)
    assert everything(out) == sorted(FILES)
    assert (out / "tests/test_a.py").read_text() == "b = 2\n"


def test_writing_twice_replaces(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    write_files(tmp_path, {"tests/test_a.py": "c = 3\n"})
    assert (tmp_path / "tests/test_a.py").read_text() == "c = 3\n"
    assert everything(tmp_path) == sorted(FILES)


def test_a_linked_folder_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "tests").symlink_to(outside)
    with pytest.raises(InputError, match="tests in the way"):
        write_files(out, FILES)
    assert everything(tmp_path) == []


def test_a_linked_file_is_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "out" / "tests"
    out.mkdir(parents=True)
    (out / "test_a.py").symlink_to(victim)
    with pytest.raises(InputError, match="symbolic link"):
        write_files(tmp_path / "out", FILES)
    assert victim.read_text() == "mine"


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="not a folder"):
        write_files(tmp_path / "out", FILES)
