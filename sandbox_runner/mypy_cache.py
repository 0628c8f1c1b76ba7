"""Turns the installed libraries into a warm mypy cache, once per set of versions.

Reading the stubs of pandas and numpy takes mypy 8 s, a candidate's own lines take 0.5 s. The cache
is made outside from imports of our own and no candidate ever writes to it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

_IMPORTED = ("numpy", "pandas", "talib", "pytest", "hypothesis")
_VERSIONED = ("mypy", "pandas-stubs", "numpy", "pandas", "TA-Lib", "pytest", "hypothesis")


def warm_cache(root: Path) -> Path:
    """The folder below `root` for the installed versions; filled if it is not there yet.

    Raises:
        OSError: mypy could not be run or the folder could not be written.
    """
    folder = root / f"mypy-{_key()}"
    if folder.is_dir():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix="making-") as making:
        _fill(Path(making, "cache"))
        try:
            os.rename(Path(making, "cache"), folder)
        except OSError:
            # Another process was faster; its cache is as good.
            if not folder.is_dir():
                raise
    return folder


def _key() -> str:
    versions = [f"{sys.implementation.cache_tag} {sys.prefix}"]
    for name in _VERSIONED:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:16]


def _fill(cache: Path) -> None:
    lines = "\n".join(f"import {name}" for name in _IMPORTED)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}"]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
            [*command, "-c", lines], cwd=empty, capture_output=True, check=False
        )
    # Missing stubs of one library make an error line, not an empty cache.
    if done.returncode not in (0, 1) or not cache.is_dir():
        shutil.rmtree(cache, ignore_errors=True)
        words = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise OSError(f"mypy could not be run ({words or 'no message'}); is it installed?")
    # Inside the sandbox another user reads it, whatever our umask is.
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
