"""Turns the installed libraries and our packages into a warm mypy cache, once per set of versions.

Reading the stubs of pandas and numpy takes mypy 8 s, our own packages and what they import 3 s, a
candidate's own lines 0.5 s. The cache is made outside from imports of our own and no candidate ever
writes to it. mypy compares the digests of sources, so it holds wherever the packages lie.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from sandbox_runner.inner_layout import HOUSE, own_files

_UNUSED_S = 7 * 86_400.0
_IMPORTED = ("numpy", "pandas", "talib", "pytest", "hypothesis")
# What strategies and their tests may import of ours: brain/rules/RULE-001.
_OURS = (
    *("adapters.base_adapter", "adapters.series", "adapters.sizing", "adapters.strategy_cli"),
    *("adapters.strategy_loop", "adapters.testing", "adapters.simbroker_adapter"),
    "Backtest.simbroker",
)
_VERSIONED = ("mypy", "pandas-stubs", "numpy", "pandas", "TA-Lib", "pytest", "hypothesis")


def warm_cache(root: Path) -> Path:
    """Gives the folder below `root` for the installed versions; filled if it is not there yet.

    Raises:
        OSError: mypy could not be run or the folder could not be written.
    """
    folder = root / f"mypy-{_key()}"
    if folder.is_dir():
        with suppress(OSError):
            os.utime(folder)
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
    _let_go(root)
    return folder


def _let_go(root: Path) -> None:
    """Remove the caches of versions that nobody has used for a week; each has 20 MB."""
    for other in root.glob("mypy-*"):
        with suppress(OSError):
            if other.stat().st_mtime < time.time() - _UNUSED_S:
                shutil.rmtree(other)


def _key() -> str:
    versions = [f"{sys.implementation.cache_tag} {sys.prefix}"]
    for name in _VERSIONED:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    digest = hashlib.sha256("\n".join(versions).encode())
    for inner, source in own_files(("Backtest", "adapters")):
        if source.suffix == ".py":
            digest.update(f"\n{inner}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _fill(cache: Path) -> None:
    lines = "\n".join(f"import {name}" for name in (*_IMPORTED, *_OURS))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}"]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
            [*command, "-c", lines],
            cwd=empty,
            env={**os.environ, "MYPYPATH": str(HOUSE)},
            capture_output=True,
            check=False,
        )
    # Missing stubs of one library make an error line, not an empty cache.
    if done.returncode not in (0, 1) or not cache.is_dir():
        shutil.rmtree(cache, ignore_errors=True)
        words = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise OSError(f"mypy could not be run ({words or 'no message'}); is it installed?")
    # Inside the sandbox another user reads it, whatever our umask is.
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
