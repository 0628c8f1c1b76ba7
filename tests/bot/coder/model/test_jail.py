"""Nothing leads out of the jail: no path, no link, nothing that is put in the way meanwhile."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bot.coder.constitution import ConstitutionViolated, check_changes, keep
from bot.coder.model.jail import Jail
from bot.coder.model.tools import ToolRefused

PLANNED = "Backtest/codes/a.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "Backtest/codes").mkdir(parents=True)
    (root / PLANNED).write_text("x = 1\n")
    (tmp_path / "outside.txt").write_text("secret\n")
    return root


@pytest.fixture
def jail(tree: Path) -> Iterator[Jail]:
    made = Jail(tree, frozenset({PLANNED, "tests/test_a.py", "link/a.py"}), 5)
    yield made
    made.close()


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "/etc/passwd", "Backtest/../../outside.txt", "./Backtest/codes/a.py",
     "Backtest//codes/a.py", "", "~/x", "a\0b", "Backtest/codes/a.py/", "C:/x", "a\\b", "-x"],
)  # fmt: skip
def test_odd_paths_are_refused(jail: Jail, tree: Path, path: str) -> None:
    with pytest.raises(ToolRefused):
        jail.read(path)
    with pytest.raises((ToolRefused, ConstitutionViolated)):
        jail.write(path, "y\n")
    assert (tree.parent / "outside.txt").read_text() == "secret\n"


def test_links_are_not_followed(jail: Jail, tree: Path) -> None:
    (tree / "link").symlink_to(tree.parent)
    (tree / "Backtest/codes/b.py").symlink_to(tree.parent / "outside.txt")
    os.link(tree.parent / "outside.txt", tree / "Backtest/codes/c.py")
    for path in ("link/outside.txt", "Backtest/codes/b.py", "Backtest/codes/c.py"):
        with pytest.raises(ToolRefused):
            jail.read(path)
    with pytest.raises(ToolRefused):
        jail.write("link/a.py", "y\n")
    assert not (tree.parent / "a.py").exists()
    assert jail.names("") == ["Backtest/"]
    assert jail.search("secret") == []
    # In the place of a planned file a link is replaced; what it led to stays.
    (tree / PLANNED).unlink()
    (tree / PLANNED).symlink_to(tree.parent / "outside.txt")
    jail.write(PLANNED, "y\n")
    assert not (tree / PLANNED).is_symlink()
    assert (tree.parent / "outside.txt").read_text() == "secret\n"


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(jail: Jail, tree: Path) -> None:
    """Somebody swaps the folder for a link, over and over, while the jail writes and reads."""
    target = tree.parent / "target"
    target.mkdir()
    (target / "a.py").write_text("secret\n")
    codes, aside = tree / "Backtest/codes", tree / "Backtest/aside"
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            with suppress(OSError):
                codes.rename(aside)
                codes.symlink_to(target)
            if codes.is_symlink():
                codes.unlink()
            if aside.exists():
                shutil.rmtree(codes, ignore_errors=True)
                with suppress(OSError):
                    aside.rename(codes)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(1500):
            try:
                jail.write(PLANNED, "mine\n")
                assert jail.read(PLANNED) != "secret\n"
            except ToolRefused:
                pass
    finally:
        ended.set()
        swapper.join()
    assert sorted(path.name for path in target.iterdir()) == ["a.py"]
    assert (target / "a.py").read_text() == "secret\n"


def test_only_planned_files_are_written_and_whole(jail: Jail, tree: Path) -> None:
    jail.write("tests/test_a.py", "def test_a() -> None: ...\n")
    with pytest.raises(ToolRefused, match="you may write"):
        jail.write("Backtest/codes/other.py", "")
    with pytest.raises(ConstitutionViolated):
        jail.write("pyproject.toml", "")
    assert jail.search("def test") == ["tests/test_a.py:1: def test_a() -> None: ..."]
    assert jail.info(PLANNED)["lines"] == 1
    assert sorted(p.name for p in tree.rglob("*") if p.is_file()) == ["a.py", "test_a.py"]


def test_text_that_is_no_unicode_is_refused(jail: Jail, tree: Path) -> None:
    with pytest.raises(ToolRefused, match="not Unicode"):
        jail.write(PLANNED, "x = '\ud800'\n")
    assert (tree / PLANNED).read_text() == "x = 1\n"


@pytest.mark.parametrize("path", ["../owned", "@OUT@/owned", "a/../../owned"])
def test_no_folder_is_filled_beyond_itself(tmp_path: Path, path: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    with pytest.raises(ConstitutionViolated):
        keep(tree, {path.replace("@OUT@", str(tmp_path)): b"mine\n"})
    assert not (tmp_path / "owned").exists()


def test_what_was_changed_against_the_law_is_restored_with_git(tmp_path: Path) -> None:
    tree, before = tmp_path / "tree", {"bot/cli.py": b"law\n", PLANNED: b"x = 1\n"}
    tree.mkdir()
    keep(tree, before)
    (tree / PLANNED).write_text("y = 1\n")
    assert check_changes(tree, before, {PLANNED}) == {PLANNED}
    (tree / "bot/cli.py").write_text("mine\n")
    (tree / ".gitignore").write_text("*\n")
    (tree / "link").symlink_to("/etc")
    with pytest.raises(ConstitutionViolated) as found:
        check_changes(tree, before, {PLANNED})
    assert found.value.paths == [".gitignore", "bot/cli.py", "link"]
    assert (tree / "bot/cli.py").read_text() == "law\n"
    assert sorted(p.name for p in tree.iterdir()) == ["Backtest", "bot"]
    (tree / "bot/cli.py").unlink()
    with pytest.raises(ConstitutionViolated):
        check_changes(tree, before, {PLANNED})
    assert (tree / "bot/cli.py").read_text() == "law\n"
