"""The product's files to one digest: a wheel, an installation and a clean checkout give the same.

The digest is what `sha256sum` prints for the files of the packages, sorted by path, hashed once
more. A checkout with one changed byte has another, whatever version number it carries.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from sandbox_runner.inner_layout import CANDIDATE_FOLDERS

PACKAGES = ("Backtest", "adapters", "bot", "brain", "contracts", "integration", "sandbox_runner")
_TESTS = "integration/tests/"  # in a checkout alone
_HOUSE = Path(__file__).resolve().parents[2]


@cache
def product_digest() -> str:
    """The digest of the product that runs."""
    files = (
        path
        for package in PACKAGES
        for path in (_HOUSE / package).rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    named = {path.relative_to(_HOUSE).as_posix(): path for path in files}
    return digest_of({name: named[name].read_bytes() for name in _counted(named)})


def read_wheel(path: Path) -> dict[str, bytes]:
    """The product's files in a wheel.

    Raises:
        ValueError: it is no wheel, or has code beside the product's, which the digest does not see.
    """
    about = re.compile(r"stratwright-[^/]+\.dist-info/.*", re.ASCII)
    try:
        with zipfile.ZipFile(path) as wheel:
            counted = _counted(wheel.namelist())
            for name in sorted(set(wheel.namelist()) - set(counted)):
                if not about.fullmatch(name):
                    raise ValueError(f"{path.name} has {name!a}, which is not the product's")
            return {name: wheel.read(name) for name in counted}
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None


def _counted(names: Iterable[str]) -> list[str]:
    """The files that are the product: nothing that Python or numba compiled, or a coder wrote."""
    outside = (*(f"{folder}/" for folder in CANDIDATE_FOLDERS), _TESTS)
    return [
        name
        for name in names
        if name.startswith(tuple(f"{package}/" for package in PACKAGES))
        and not name.endswith(("/", ".pyc"))
        and "/__pycache__/" not in name
        and not name.startswith(outside)
        and not {"", ".", ".."} & {*name.split("/")}
    ]


def digest_of(files: Mapping[str, bytes]) -> str:
    """The digest of a product's files."""
    lines = (
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    )
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"
