"""A tag of another version, answered by a real wheel of it in an environment that pip made.

The wheel is this tree under another number. What it needs is taken from the packages installed
here, packed again as wheels; its lock names their digests. So pip does all it does elsewhere, and
no network is asked.
"""

import csv
import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from bot.proof.product import PACKAGES
from tests.bot.git.worlds import World
from tests.e2e.lines import HOUSE, line_world, stratwright
from tests.security.forger import Case, git, read_case, seal, write_tag

NUMBER = "0.0.9"
LOCK = "bot/locks/github.txt"
# Large, and only for candles in feather files.
NOT_NEEDED = {"pyarrow"}


@dataclass(frozen=True)
class Made:
    """A repository with a tag of the other version, its wheel, and where pip finds packages."""

    world: World
    tag: str
    wheels: Path
    packages: Path
    cache: Path

    def verify(self, *places: Path, **names: Path) -> tuple[int, str, str]:
        """Ask this tree about the tag; the exit code, the outcome and the words on it."""
        given = {"packages": self.packages, "cache": self.cache, **names}
        done = stratwright(
            self.world.work,
            *("verify", self.tag, "--json"),
            *(part for place in places for part in ("--wheels", str(place))),
            PIP_CONFIG_FILE="/dev/null",
            PIP_NO_INDEX="1",
            PIP_FIND_LINKS=str(given["packages"]),
            XDG_CACHE_HOME=str(given["cache"]),
        )
        assert done.stdout, done.stderr
        answer = json.loads(done.stdout)
        told = [each for each in answer["checks"] if each["outcome"] == answer["outcome"]]
        words = f"{told[-1]['name']}: {told[-1]['detail']}"
        asked = "asked, " if "asked" in [each["name"] for each in answer["checks"]] else ""
        return done.returncode, answer["outcome"], asked + words


def pack(name: str, folder: Path) -> str:
    """An installed package as a wheel; its line for a lock."""
    package = metadata.distribution(name)
    tag = re.findall(r"^Tag: (\S+)", package.read_text("WHEEL") or "", re.MULTILINE)[-1]
    known = re.sub(r"[-_.]+", "_", package.metadata["Name"])
    place = folder / f"{known}-{package.version}-{tag}.whl"
    rows = io.StringIO()
    with zipfile.ZipFile(place, "w") as wheel:
        for file in package.files or ():
            # Neither programs outside of the packages nor what pip added; tests only take long.
            inside = not {"..", "__pycache__", "tests"} & {*file.parts}
            if inside and file.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"):
                wheel.write(file.locate(), file.as_posix())
                csv.writer(rows).writerow((file.as_posix(), "", ""))
        about = next(file for file in package.files or () if file.name == "METADATA").parent
        wheel.writestr(f"{about.as_posix()}/RECORD", rows.getvalue())
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    return f"{name}=={package.version} --hash=sha256:{digest}\n"


def copy_tree(place: Path, lock: str) -> Path:
    """This tree under another number, with another lock."""
    parts = (*PACKAGES, "pyproject.toml", "README.md", "LICENSE", ".gitignore")
    listed = git(HOUSE, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *parts)
    for path in filter(None, listed.decode().split("\0")):
        if (HOUSE / path).is_file():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HOUSE / path, place / path)
    start = place / "bot/__init__.py"
    start.write_text(re.sub(r'(__version__ = )".*"', rf'\1"{NUMBER}"', start.read_text()))
    (place / LOCK).write_text(lock)
    return place


def rewrite(wheel: Path, place: Path, changes: dict[str, tuple[bytes, bytes]]) -> Path:
    """A folder with the wheel, in which some files have other words."""
    place.mkdir()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(place / wheel.name, "w") as new:
        for path in old.namelist():
            was, becomes = changes.pop(path.rpartition("/")[2], (b"", b""))
            assert was in old.read(path)
            new.writestr(path, old.read(path).replace(was, becomes, 1) if was else old.read(path))
    assert not changes
    return place


def build(folder: Path) -> None:
    """The packages, the wheel of the other version, and a repository with a tag of it."""
    packages = folder / "packages"
    packages.mkdir(parents=True)
    pins = re.findall(r"^([a-z0-9-]+)==", (HOUSE / LOCK).read_text(), re.MULTILINE)
    here = {re.sub(r"[-_.]+", "-", each.name).lower() for each in metadata.distributions()}
    lock = "".join(pack(name, packages) for name in sorted({*pins} & here - NOT_NEEDED))
    tree = copy_tree(folder / "tree", lock)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    # The same source has the same machine code; numba would take eight seconds for it.
    for kept in (HOUSE / "Backtest").glob("**/__pycache__/*.nb[ci]"):
        place = tree / kept.relative_to(HOUSE)
        place.parent.mkdir(exist_ok=True)
        shutil.copy2(kept, place)
    wheel = folder / f"stratwright-{NUMBER}-py3-none-any.whl"
    # The digest does not speak for what a wheel says about itself: nothing of it may be installed.
    needs = (b"\nRequires-Dist: ", b"\nRequires-Dist: not-to-be-had\nRequires-Dist: ")
    starts = (b"bot.cli:main", b"bot.cli:build_parser")
    rewrite(wheel, folder / "wheels", {"METADATA": needs, "entry_points.txt": starts})
    world = line_world(folder / "world", remote=False)
    done = stratwright(world.work, "run", "contracts/dip.yaml", PYTHONPATH=str(tree))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def made(memory: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Built once for all workers of a test run; each has a repository of its own."""
    folder = memory.parent / "other-version"
    with memory.with_name("other-version.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            draft = folder.with_suffix(".part")
            shutil.rmtree(draft, ignore_errors=True)
            build(draft)
            draft.rename(folder)
    world = World(tmp_path_factory.mktemp("other") / "work", Path())
    shutil.copytree(folder / "world/work", world.work)
    (tag,) = git(world.work, "tag", "--list", "ai/*").decode().split()
    git(world.work, "update-ref", "refs/kept/honest", f"refs/tags/{tag}")
    return Made(world, tag, folder / "wheels", folder / "packages", folder / "cache")


@pytest.fixture(autouse=True)
def _honest(made: Made) -> None:
    git(made.world.work, "update-ref", f"refs/tags/{made.tag}", "refs/kept/honest")


def forge(made: Made, change: Callable[[Case], object]) -> None:
    """Seal a changed case so that everything agrees, under the tag's own name."""
    work = made.world.work
    case = read_case(work, made.tag)
    change(case)
    git(
        work,
        "update-ref",
        f"refs/tags/{made.tag}",
        write_tag(work, case, seal(work, case), made.tag),
    )


def test_another_version_answers_for_its_own_tag_from_its_content_alone(made: Made) -> None:
    code, outcome, words = made.verify(made.wheels)
    assert (code, outcome) == (0, "holds"), words
    assert words.startswith("asked, every byte: ")
    (packages,) = made.cache.glob("stratwright/versions/*/lib/python*/site-packages")
    assert f'"{NUMBER}"' in (packages / "bot/__init__.py").read_text()
    assert names(packages.glob("*.dist-info")) - {"pip"} == names(made.packages.iterdir())


def names(paths: Iterable[Path]) -> set[str]:
    """The packages of wheels or of what is installed."""
    return {path.name.split("-")[0].lower() for path in paths}


def test_a_forged_tag_of_another_version_is_broken(made: Made) -> None:
    forge(made, lambda case: case.change_json("summary.json", lambda told: told.update(trades=9)))
    code, outcome, words = made.verify(made.wheels)
    assert (code, outcome) == (1, "broken"), words
    assert words.startswith("asked, backtest summary.json: ")


def test_without_a_wheel_of_that_content_it_cannot_be_checked(made: Made, tmp_path: Path) -> None:
    wheel = next(made.wheels.glob("*.whl"))
    other = rewrite(wheel, tmp_path / "other", {"errors.py": (b"class ", b"\nclass ")})
    for places in ((), (tmp_path,), (other,)):
        code, outcome, words = made.verify(*places)
        assert (code, outcome) == (4, "cannot-check"), words
        assert "no wheel of that content is" in words


def test_a_tool_that_the_version_does_not_name_is_not_installed(made: Made) -> None:
    forge(made, lambda case: case.statement["predicate"]["versions"].update(pandas="3.0.0"))
    code, outcome, words = made.verify(made.wheels)
    assert (code, outcome) == (4, "cannot-check"), words
    assert "does not name pandas==3.0.0 in its lock" in words


def test_a_package_with_another_digest_is_not_installed(made: Made, tmp_path: Path) -> None:
    """The same name and version, and one more file in it."""
    other = tmp_path / "packages"
    shutil.copytree(made.packages, other, copy_function=os.link)
    changed = next(other.glob("pluggy-*.whl"))
    shutil.copy(changed, changed.with_suffix(".new"))
    changed.with_suffix(".new").replace(changed)
    with zipfile.ZipFile(changed, "a") as wheel:
        wheel.writestr("pluggy/more.py", b"")
    cache = tmp_path / "cache"
    code, outcome, words = made.verify(made.wheels, packages=other, cache=cache)
    assert (code, outcome) == (4, "cannot-check"), words
    assert "cannot be installed" in words
    assert not list(cache.glob("stratwright/versions/*/ready"))
