"""Repositories that many tests begin with: made once in a process, and copied."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_MADE: dict[tuple[object, ...], "tempfile.TemporaryDirectory[str]"] = {}


def copy_template(folder: Path, key: tuple[object, ...], make: Callable[[Path], object]) -> None:
    """Fill a folder with what `make` puts into one; `key` says what that depends on."""
    if key not in _MADE:
        made = tempfile.TemporaryDirectory(prefix="stratwright-template-")
        make(Path(made.name))
        for sample in Path(made.name).rglob("hooks/*.sample"):
            sample.unlink()
        _MADE[key] = made
    template = _MADE[key].name
    shutil.copytree(template, folder, symlinks=True, dirs_exist_ok=True)
    for place in (folder / name.name for name in Path(template).iterdir()):
        inner = place / ".git" if (place / ".git").is_dir() else place
        config = inner / "config"
        if config.is_file():
            config.write_text(config.read_text().replace(template, str(folder)))
        if inner != place:  # Git notes which inodes it has seen
            subprocess.run(["git", "-C", str(place), "update-index", "-q", "--refresh"], check=True)
