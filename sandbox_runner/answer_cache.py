"""Turns a sandbox job into the answer that was had before: nothing is asked twice.

Kept are outcomes, never verdicts: what the sandbox brought out, written down by the trusted side in
a folder that no sandbox sees. Every gate judges them anew, so a remembered answer is believed no
more than a fresh one. An entry's name is the digest of everything that decides the outcome:

- the job: command, environment, limits, hash seed and every byte of every file (code, candles);
- where it ran: the kind of sandbox and, for Docker, the image's id;
- what it ran with: Python, the version of every installed package, the source of our packages.

An answer that a limit cut short (time, memory, output) depends on how busy the machine was and is
not kept. Refusals are: asking again what has failed gives the same failure, later.

An entry is one file: the digest of the rest, then JSON. It comes into being whole, by a rename;
one that does not match its digest, its name or its form is as good as absent.
"""

import contextlib
import hashlib
import json
import os
import platform
import secrets
import stat
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox_runner.inner_layout import own_files
from sandbox_runner.port import Job, Outcome, Sandbox
from sandbox_runner.recording import job_digest, outcomes_from_plain, outcomes_to_plain

_FORM = "stratwright answer 1"
MOST_ENTRIES = 500
_MOST_BYTES = 100_000_000
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Memory:
    """Holds a folder of answers."""

    folder: Path  # made when the first answer is kept
    fresh: bool = False  # whether nothing is to be recalled, only kept

    def recall(self, job: Job, sandbox: Sandbox, packages: Path | None = None) -> Outcome | None:
        """Gives the answer to a job, if it was asked before; a doubtful one counts as none.

        `packages` is a folder of packages that the job uses beside ours.
        """
        if self.fresh:
            return None
        key = question_digest(job, sandbox, packages)
        try:
            content = _read(self.folder / key)
            found = _parse(content, key)
        except (OSError, ValueError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            os.utime(self.folder / key, follow_symlinks=False)
        return found

    def keep(
        self, job: Job, sandbox: Sandbox, outcome: Outcome, packages: Path | None = None
    ) -> None:
        """Write an answer down; a disk that does not take it costs only the time to ask again."""
        if outcome.exit_code is None or outcome.timed_out or outcome.out_of_memory:
            return
        key = question_digest(job, sandbox, packages)
        draft = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(draft, _NEW, 0o600), "wb") as file:
                file.write(_entry(key, outcome))
            os.replace(draft, self.folder / key)
            self._prune()
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()

    def _prune(self) -> None:
        """Let the answers go that nobody has asked for longest, and drafts of the dead."""
        entries = []
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                entries.append((path.lstat().st_mtime, path))
        entries.sort()
        newest = entries[-1][0] if entries else 0.0
        surplus = entries[: max(0, len(entries) - MOST_ENTRIES)]
        dead = [e for e in entries if e[1].suffix == ".part" and e[0] < newest - 3600]
        for _, path in {*surplus, *dead}:
            with contextlib.suppress(OSError):
                path.unlink()


def question_digest(job: Job, sandbox: Sandbox, packages: Path | None = None) -> str:
    """Gives the digest of a job, of where it runs and of what it runs with."""
    # An image has its own Python and packages; its id is that of its content.
    place = [sandbox.name, str(getattr(sandbox, "image", ""))]
    parts = [_FORM, job_digest(job), *place, environment_digest()]
    parts += [] if packages is None else [str(packages), *installed(packages)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def environment_digest() -> str:
    """Python, the installed packages and our own sources, as one digest."""
    digest = hashlib.sha256(f"{sys.version}\0{platform.machine()}\0{sys.prefix}".encode())
    for folder in sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
        for name in installed(Path(folder)):
            digest.update(f"\0{name}".encode())
    for inner, source in own_files():
        if source.suffix != ".pyc":
            content = hashlib.sha256(source.read_bytes()).hexdigest()
            digest.update(f"\0{inner}\0{content}".encode())
    return digest.hexdigest()


def installed(folder: Path) -> list[str]:
    """Gives the packages of a folder, by names that carry their versions."""
    names = os.listdir(folder) if folder.is_dir() else []
    return sorted(name for name in names if name.endswith((".dist-info", ".egg-link", ".pth")))


def _entry(key: str, outcome: Outcome) -> bytes:
    body = json.dumps({"form": _FORM, **outcomes_to_plain({key: outcome})}).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _read(path: Path) -> bytes:
    with open(os.open(path, _READ), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise ValueError("it is not a file of ours")
        if status.st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        return file.read()


def _parse(content: bytes, key: str) -> Outcome:
    digest, _, body = content.partition(b"\n")
    if digest != hashlib.sha256(body).hexdigest().encode():
        raise ValueError("it is not what was written")
    values = json.loads(body)
    if not isinstance(values, dict) or values.pop("form", None) != _FORM or set(values) != {key}:
        raise ValueError("it answers another question")
    return outcomes_from_plain(values)[key]
