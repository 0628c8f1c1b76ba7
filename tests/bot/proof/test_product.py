"""The product's digest: the same wherever it is installed, another after any change."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bot.proof.product import PACKAGES, digest_of, product_digest, read_wheel

HOUSE = Path(__file__).parents[3]
SHOW = "from bot.proof.product import product_digest; print(product_digest())"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=HOUSE, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def wheel_digest(path: Path) -> str:
    return digest_of(read_wheel(path))


def digest_in(folder: Path) -> str:
    command = [sys.executable, "-P", "-c", SHOW]
    done = subprocess.run(
        command, cwd="/", env={"PYTHONPATH": str(folder)}, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def test_wheel_installation_and_checkout_have_the_same_digest(wheel: Path, tmp_path: Path) -> None:
    assert wheel_digest(wheel) == product_digest()
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    assert digest_in(tmp_path) == wheel_digest(wheel)
    # Running it compiles and caches; that is not the product.
    caches = tmp_path / "bot/__pycache__"
    caches.mkdir(exist_ok=True)
    (caches / "more.nbi").write_bytes(b"x")
    (tmp_path / "Backtest/codes").mkdir()
    (tmp_path / "Backtest/codes/mine.py").write_text("x = 1\n")
    assert digest_in(tmp_path) == wheel_digest(wheel)


def test_the_wheel_holds_the_packages_and_no_test_or_double(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = [Path(name) for name in content.namelist() if ".dist-info/" not in name]
    assert {name.parts[0] for name in names} == set(PACKAGES)
    assert not [name for name in names if {"doubles", "tests", "testing"} & set(name.parts[:-1])]


@pytest.mark.parametrize("package", PACKAGES)
def test_one_changed_added_or_missing_file_is_another_product(
    package: str, wheel: Path, tmp_path: Path
) -> None:
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        names = [name for name in old.namelist() if name.startswith(f"{package}/")]
        for name in old.namelist():
            new.writestr(name, old.read(name) + (b"\n" if name == names[0] else b""))
    assert wheel_digest(changed) != wheel_digest(wheel)
    more = tmp_path / "more.whl"
    shutil.copy(wheel, more)
    with zipfile.ZipFile(more, "a") as content:
        content.writestr(f"{package}/more.py", b"")
    assert wheel_digest(more) != wheel_digest(wheel)


@pytest.mark.parametrize(
    "name",
    [
        "more.pth",
        "sitecustomize.py",
        "pandas/__init__.py",
        "stratwright-0.1.0.data/scripts/pip",
        "stratwright-0.1.0.data/purelib/bot/cli.py",
        "bot/__pycache__/cli.cpython-312.pyc",
        "bot/secret.pyc",
        "Backtest/codes/mine.py",
        "bot/../more.pth",
        "bot/./cli.py",
        "bot//cli.py",
    ],
)
def test_a_wheel_with_code_beside_the_product_is_none_of_ours(
    name: str, wheel: Path, tmp_path: Path
) -> None:
    """It would be installed and run, and the digest would not change."""
    more = tmp_path / wheel.name
    shutil.copy(wheel, more)
    with zipfile.ZipFile(more, "a") as content:
        content.writestr(name, b"")
    with pytest.raises(ValueError, match="not the product's"):
        wheel_digest(more)


def test_what_is_no_wheel_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="cannot be read"):
        wheel_digest(tmp_path / "x.whl")
