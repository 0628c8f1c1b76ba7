"""Turns a job's files and our packages into folders that a container can mount read-only."""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox_runner.docker.container import Places
from sandbox_runner.inner_layout import candidate_links, own_files
from sandbox_runner.port import PACKAGES_FOLDER, Job, SandboxUnavailable

_PREFIX = "stratwright-job-"


@contextmanager
def staged(job: Job) -> Iterator[Places]:
    """Gives the folders, which are gone afterwards.

    Our packages come along as a copy, with their bytecode: a mount for each of their files, which
    would leave the host's own `Backtest/codes` out as well, costs more than copying 1 MB.

    Raises:
        SandboxUnavailable: there is no room for them.
    """
    sweep()
    root = Path(tempfile.gettempdir(), f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        try:
            root.mkdir(mode=0o700)  # no other user of the host looks in; a mount needs no way in
            places = Places(root / "job", root / "packages")
            _write_job(job, places.job)
            _copy_packages(places.packages)
        except OSError as error:
            raise SandboxUnavailable(
                f"The job's files could not be written to {root.parent}: {error.strerror}.",
                "Free some space there, or name another folder in TMPDIR.",
            ) from error
        yield places
    finally:
        shutil.rmtree(root, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                    shutil.rmtree(folder, ignore_errors=True)


def _write_job(job: Job, folder: Path) -> None:
    _make_folder(folder)
    for path, content in job.files.items():
        target = folder / path
        for above in reversed(target.relative_to(folder).parents):
            _make_folder(folder / above)
        target.write_bytes(content)
        target.chmod(0o444)


def _make_folder(folder: Path) -> None:
    """Readable for the runner, whatever our umask is."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)


def _copy_packages(folder: Path) -> None:
    _make_folder(folder)
    for inner, source in own_files():
        if source.suffix != ".pyc" or f".{sys.implementation.cache_tag}.pyc" in source.name:
            target = folder / inner
            for above in reversed(Path(inner).parents):
                _make_folder(folder / above)
            # With its time: bytecode is valid only beside a source of the same age.
            shutil.copy2(source, target)
            target.chmod(0o444)
    for link, target_path in candidate_links():
        place = folder / link.removeprefix(f"{PACKAGES_FOLDER}/")
        _make_folder(place.parent)
        place.symlink_to(target_path)
