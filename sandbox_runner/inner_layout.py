"""Turns the running interpreter into the list of what a sandbox binds read-only, and nothing more.

The inside sees Python, the libraries that it loads, and three packages of ours below /packages.
There the candidate's own folders appear as `Backtest/codes` and `Backtest/freqtrade`, which are the
only module names it can have: /job is never on the path, so no file of a candidate can shadow one
of our packages or the standard library.
"""

import math
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_runner.port import JOB_FOLDER, MEBIBYTE, PACKAGES_FOLDER, PYTHON, Job

PACKAGES = ("Backtest", "adapters", "sandbox_runner")
Plan = dict[str, Any]  # what the first process inside is told to do, as marshal carries it
CANDIDATE_FOLDERS = ("Backtest/codes", "Backtest/freqtrade")
OPEN_FILES = 256
# Address space that is reserved but never touched (thread stacks, malloc arenas, libraries).
ADDRESS_HEADROOM_MB = 4096
HOUSE = Path(__file__).resolve().parent.parent
# Where shared libraries live, and the few files that the loader and the C library ask for.
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64")
_LOADER = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/share/zoneinfo")
# A system-wide Python shares its prefix with the rest of the system: only its parts are bound.
_SHARED_PREFIXES = (Path("/usr"), Path("/usr/local"), Path("/"))


@dataclass(frozen=True)
class Layout:
    """Holds what is bound (host path -> inner path), and links (inner path -> target)."""

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    python: str


def read_layout() -> Layout:
    """Reads the layout for the interpreter that runs this."""
    links = [(path, os.readlink(path)) for path in _LIBRARIES if os.path.islink(path)]
    folders = [Path(path) for path in _LIBRARIES if not os.path.islink(path)]
    folders += [Path(path) for path in _LOADER]
    for prefix in dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix)):
        folders += _parts_of_prefix(Path(prefix))
    folders = _outermost([folder for folder in folders if folder.exists()])
    folders += [link for link in _executables() if not _covered(link, folders)]
    binds = [(str(folder), str(folder)) for folder in folders]
    return Layout((*binds, *_own_packages()), tuple(links), sys.executable)


def _parts_of_prefix(prefix: Path) -> list[Path]:
    return [prefix / "lib", prefix / "lib64"] if prefix in _SHARED_PREFIXES else [prefix]


def _outermost(folders: list[Path]) -> list[Path]:
    kept: list[Path] = []
    for folder in sorted(set(folders)):
        if not _covered(folder, kept):
            kept.append(folder)
    return kept


def _covered(path: Path, folders: list[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _executables() -> list[Path]:
    """Lists the interpreter and every link on the way to it, as a virtual environment has."""
    chain = [Path(sys.executable)]
    while chain[-1].is_symlink():
        chain.append(Path(os.path.normpath(chain[-1].parent / chain[-1].readlink())))
    return chain


def _own_packages() -> list[tuple[str, str]]:
    binds = []
    for package in PACKAGES:
        for entry in sorted((HOUSE / package).iterdir()):
            inner = f"{package}/{entry.name}"
            if inner not in CANDIDATE_FOLDERS:
                binds.append((str(entry), f"{PACKAGES_FOLDER}/{inner}"))
    return binds


def own_files(packages: Iterable[str] = PACKAGES) -> Iterator[tuple[str, Path]]:
    """Lists the files of our packages with their inner paths, without the candidate's folders."""
    for package in packages:
        for file in sorted((HOUSE / package).rglob("*")):
            inner = file.relative_to(HOUSE)
            ours = not any(inner.is_relative_to(folder) for folder in CANDIDATE_FOLDERS)
            if ours and file.is_file():
                yield inner.as_posix(), file


def candidate_links() -> tuple[tuple[str, str], ...]:
    """Tells where the candidate's folders stand among our packages: links into the job."""
    return tuple(
        (f"{PACKAGES_FOLDER}/{name}", f"{JOB_FOLDER}/{name}") for name in CANDIDATE_FOLDERS
    )


def command_of(job: Job, python: str) -> list[str]:
    """Gives the job's command, with the interpreter of the inside."""
    first, *rest = job.command
    return [python if first == PYTHON else first, *rest]


def limits_of(job: Job) -> dict[str, int]:
    """Gives the limits of each process, by the kernel's names in small letters."""
    return {
        "fsize": job.file_limit_mb * MEBIBYTE,
        "nofile": OPEN_FILES,
        "core": 0,
        "msgqueue": 0,
        # In whole seconds, so only a second limit behind the clock outside.
        "cpu": math.ceil(job.timeout_s) * 2 + 1,
        "as": (job.memory_mb + ADDRESS_HEADROOM_MB) * MEBIBYTE,
    }


def environment_of(job: Job, python: str) -> dict[str, str]:
    """Gives all that the job finds in its environment.

    `python -I` would ignore PYTHONHASHSEED, and no -X option sets the seed. What -I is for is had
    otherwise: the environment holds nothing but these lines, PYTHONSAFEPATH keeps the script's
    folder and the current one off the path (-P), PYTHONNOUSERSITE the user's packages (-s). As
    variables they also hold for every Python that the job starts. /packages comes before the
    standard library on the path and holds nothing but our three packages.
    """
    return {
        "PATH": str(Path(python).parent),
        "HOME": "/tmp",  # noqa: S108
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": PACKAGES_FOLDER,
        "PYTHONHASHSEED": str(job.hash_seed),
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        # One thread: no result depends on how a sum was divided, and threads count as processes.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        **job.environment,
    }
