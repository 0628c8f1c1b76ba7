"""Runs Git through GitPython: arguments and bytes in; an answer, or an error of ours, out."""

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError, StratwrightError, WorldError

if TYPE_CHECKING:
    import git.cmd

LOCAL_TIMEOUT_S = 120.0
_SETTINGS = (
    # The user's hooks are for the user's own commits and pushes: a pre-push hook that runs a test
    # suite, or a reference-transaction hook, must not decide about a proposal.
    "core.hooksPath=/dev/null",
    # Nothing may start housekeeping in the background of a run.
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",  # a question nobody can answer would hang the run
    "GIT_OPTIONAL_LOCKS": "0",  # reading must not take the lock of the user's index
    "GIT_NO_REPLACE_OBJECTS": "1",  # a local replacement must not change what is proposed
    "GIT_GRAFT_FILE": os.devnull,  # nor may a local graft change whose history a commit is in
    "GIT_LITERAL_PATHSPECS": "1",
}
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|File too large", re.I)
_LOCK = re.compile(r"Unable to create '([^']+\.lock)': File exists")


@dataclass(frozen=True)
class Answer:
    """What Git said."""

    command: str
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The output as one stripped text."""
        return self.out.decode("utf-8", "replace").strip()

    @property
    def lock_file(self) -> Path | None:
        """The lock file that another Git holds, or that a killed one left behind."""
        found = _LOCK.search(self.err)
        return Path(os.path.normpath(found[1])) if found else None


class GitCommand:
    """Git in one folder, without hooks, prompts or background work."""

    def __init__(
        self,
        folder: Path,
        git_dir: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._git_dir = git_dir
        self._given = dict(environment or {})
        # A hook that starts us has GIT_DIR set to its own repository; ours wins.
        own = {"GIT_DIR": str(git_dir)} if git_dir else {}
        self._environment = {**_ENVIRONMENT, **self._given, **own}

    def knowing(self, environment: Mapping[str, str]) -> "GitCommand":
        """The same Git with more variables, as the credentials for a remote."""
        return GitCommand(self.folder, self._git_dir, {**self._given, **environment})

    def run(
        self,
        *arguments: str,
        data: bytes | None = None,
        timeout_s: float = LOCAL_TIMEOUT_S,
        environment: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run Git and give its answer, whatever it is.

        Raises:
            WorldError: if there is no Git, or it does not end in time.
        """
        handle = self.start(*arguments, has_input=data is not None, environment=environment)
        process = popen_of(handle)
        try:
            out, err = process.communicate(data, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            message = f"git {_verb(arguments)} did not end within {timeout_s:g} s"
            raise WorldError(message, "Check the network and the disk, then run again.") from None
        return Answer(_verb(arguments), process.returncode, out, err.decode("utf-8", "replace"))

    def start(
        self,
        *arguments: str,
        has_input: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> "git.cmd.Git.AutoInterrupt":
        """Start Git; the process is ended when nobody holds the handle any more.

        Raises:
            WorldError: if there is no Git.
        """
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        # A session of its own: no terminal to ask for passphrases on, and Ctrl-C does not stop
        # Git half-way through writing a ref.
        return _git_class()(str(self.folder)).execute(
            ["git", *options, *arguments],
            istream=subprocess.PIPE if has_input else None,
            as_process=True,
            env={**self._environment, **(environment or {})},
            start_new_session=True,
        )

    def ask(
        self,
        *arguments: str,
        data: bytes | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Answer:
        """Run Git and raise unless it succeeds."""
        answer = self.run(*arguments, data=data, environment=environment)
        if answer.code:
            raise explain(answer)
        return answer


def popen_of(handle: "git.cmd.Git.AutoInterrupt") -> "subprocess.Popen[bytes]":
    """Give the process of a handle."""
    process = handle.proc
    assert process is not None  # noqa: S101 - just started; typed as optional by GitPython
    return process


def explain(answer: Answer) -> StratwrightError:
    """Turn a failed answer into what happened and what to do."""
    if _NO_SPACE.search(answer.err):
        message = "the disk is full: Git could not write its objects"
        return WorldError(message, "Free some space and run again; nothing was proposed.")
    if lock := answer.lock_file:
        message = f"Git's lock file {lock} is in the way"
        hint = "If no other Git is running here, a killed one left it: remove the file, run again."
        return WorldError(message, hint)
    if "Permission denied" in answer.err or "insufficient permission" in answer.err:
        message = f"Git may not write here: {last_line(answer)}"
        return WorldError(message, "Check who owns the files under .git.")
    if "Read-only file system" in answer.err:
        return WorldError("the repository lies on a read-only file system", "Make it writable.")
    if conflict := re.search(r"'refs/(?:heads|tags)/([^']+)' exists; cannot create", answer.err):
        message = f"the name {conflict[1]!r} is taken by a branch or tag of yours"
        return InputError(message, "Rename it: stratwright needs it as a folder of names.")
    if answer.code < 0:
        message = f"git {answer.command} was killed by signal {-answer.code}"
        return WorldError(message, "Run again: it continues where it stopped.")
    return WorldError(f"git {answer.command} failed: {last_line(answer)}", "Mend that, run again.")


def last_line(answer: Answer) -> str:
    """The most telling line of Git's complaint."""
    lines = [line.strip() for line in answer.err.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "remote: error"))]
    chosen = (telling or lines or [f"exit code {answer.code}"])[0]
    return re.sub(r"^(fatal|error): ", "", chosen)


def _verb(arguments: tuple[str, ...]) -> str:
    """The command's name, behind any settings given for it."""
    names = list(arguments)
    while names[0] == "-c":
        del names[:2]
    return names[0]


def _git_class() -> "type[git.cmd.Git]":
    """Import GitPython when first needed: it costs a tenth of a second and looks for git."""
    try:
        from git.cmd import Git
    except ImportError:
        raise WorldError("git was not found", "Install Git and put it on the PATH.") from None
    return Git
