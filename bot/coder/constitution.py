"""Names the files that no coder may change, finds changed ones, and restores them with Git."""

import logging
import os
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from bot.contract.code_paths import CODES_FOLDER, FREQTRADE_FOLDER, TESTS_FOLDER
from bot.errors import SafetyStop
from bot.gates.constitution import PROTECTED_FILES, PROTECTED_FOLDERS, is_plain_path

_ALLOWED = (CODES_FOLDER, FREQTRADE_FOLDER, TESTS_FOLDER)
_MOST_BYTES = 1_000_000
_log = logging.getLogger(__name__)


class ConstitutionViolated(SafetyStop):
    """A coder touched a protected file; what it wrote is thrown away."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths)
        shown = ", ".join(ascii(path)[1:-1][:100] for path in self.paths[:5])
        super().__init__(
            f"the coder tried to change what no coder may change: {shown}",
            "Nothing of it was kept. See what the contract and its notes ask for.",
        )
        _log.error("CONSTITUTION_VIOLATED", extra={"data": {"paths": self.paths[:20]}})


def is_protected(path: str) -> bool:
    """Say whether a path leads to the law, the judges or the keys, however it is spelled."""
    parts = [part.lower() for part in PurePosixPath(os.path.normpath(path)).parts]
    return bool(parts) and (parts[-1] in PROTECTED_FILES or parts[0] in PROTECTED_FOLDERS)


def violations(paths: Iterable[str]) -> list[str]:
    """List the paths that a coder may not change: all but files of the generated folders."""
    return [path for path in paths if not _is_allowed(path)]


def _is_allowed(path: str) -> bool:
    name = PurePosixPath(path)
    return (
        name.as_posix() == path
        and ".." not in name.parts
        and name.parent.as_posix() in _ALLOWED
        and not is_protected(path)
    )


def files_below(root: Path) -> dict[str, bytes | None]:
    """Read every file below a folder; None for what is no plain file of a usual size."""
    found: dict[str, bytes | None] = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(each for each in folders if (Path(folder) / each).is_symlink())]:
            path = Path(folder) / name
            kind = path.lstat()
            plain = stat.S_ISREG(kind.st_mode) and kind.st_size <= _MOST_BYTES
            text = path.read_bytes() if plain and kind.st_nlink == 1 else None
            found[path.relative_to(root).as_posix()] = text
    return found


def check_changes(root: Path, before: Mapping[str, bytes], allowed: Iterable[str]) -> set[str]:
    """Compare a folder with what it held; gives what was changed and may be.

    `root` is a Git work tree whose last commit holds `before`.

    Raises:
        ConstitutionViolated: something else was changed; Git has restored it.
    """
    now = files_below(root)
    same = {path for path, data in before.items() if now.get(path) == data}
    changed = {*now, *before} - same
    odd = changed - set(allowed)
    odd |= {path for path in changed if path in now and now[path] is None}
    if odd:
        restore(root, odd, before)
        raise ConstitutionViolated(odd)
    return changed


def restore(root: Path, paths: Iterable[str], before: Mapping[str, bytes]) -> None:
    """Bring files back with Git; what was not there before is removed."""
    listed = sorted(paths)
    for path in listed:
        if path not in before:
            (root / path).unlink(missing_ok=True)
    known = [path for path in listed if path in before]
    if known:
        git(root, "restore", "--source=HEAD", "--staged", "--worktree", "--", *known)


def keep(root: Path, files: Mapping[str, bytes]) -> None:
    """Fill a folder and commit it, in a repository that lies beside and not inside it.

    Raises:
        ConstitutionViolated: a path leads out of it.
    """
    for path, data in files.items():
        if not is_plain_path(path):
            raise ConstitutionViolated([path])
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    git(root, "init", "-q")
    git(root, "add", "--force", "--all")
    git(root, "-c", "user.name=stratwright", "-c", "user.email=bot@localhost",
        "commit", "-q", "--allow-empty", "-m", "before")  # fmt: skip


def git(root: Path, *words: str) -> None:
    """Run Git on a folder; no configuration and no hook of others counts."""
    place = [f"--git-dir={root}.git", f"--work-tree={root}", "-c", "core.hooksPath=/dev/null"]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(root)}  # fmt: skip
    command = ["git", *place, *words]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise SafetyStop(f"git {words[0]} failed: {done.stderr.decode(errors='replace')[:200]}")
