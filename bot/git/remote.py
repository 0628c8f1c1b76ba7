"""Speaks with the remote: what it has, sending to it, fetching from it, what its refusals mean."""

import os
import re
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bot.errors import StratwrightError, WorldError
from bot.git.command import Answer, GitCommand, explain
from bot.git.identity import TaskName
from bot.git.refs import Refs, Tag, clear_lock, collect

_ATTEMPTS = 3
_FIRST_PAUSE_S = 0.5
_LOOK_TIMEOUT_S = 30.0
_SEND_TIMEOUT_S = 180.0

_STALE = re.compile(
    r"stale info|fetch first|non-fast-forward|\(already exists\)|would clobber existing tag"
    r"|cannot lock ref|failed to update ref|incorrect old value|reference already exists"
)
_AWAY = re.compile(
    r"Could not resolve host|Connection (?:refused|timed out|reset)|Network is unreachable"
    r"|No route to host|Operation timed out|Failed to connect|Temporary failure in name resolution"
    r"|early EOF|hung up unexpectedly|returned error: 5\d\d|gnutls|SSL_",
    re.IGNORECASE,
)
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_NO_ENTRY = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|Permission denied \("
    r"|Host key verification failed|returned error: 401"
)
_NOWHERE = re.compile(
    r"does not appear to be a git repository|[Rr]epository '?[^']*'? not found|not a git repo"
)
_NOT_ALLOWED = re.compile(
    r"hook declined|Permission .* denied|returned error: 403|protected branch|read-?only"
    r"|unable to create temporary object directory|insufficient permission|Permission denied"
    r"|unpack(?:er)? error|denyCurrentBranch|not allowed|remote rejected",
    re.IGNORECASE,
)


class StaleView(WorldError):
    """The remote is not as we saw it: look again, then decide again."""


@dataclass(frozen=True)
class Remote:
    """One remote by its name."""

    git: GitCommand
    name: str

    @property
    def exists(self) -> bool:
        """Whether the repository has a remote of this name."""
        return bool(self._settings)

    @property
    def url(self) -> str:
        """Its address as configured, before any rewriting."""
        return self._settings.get("url", [""])[-1]

    @cached_property
    def _settings(self) -> dict[str, list[str]]:
        """Reads what the configuration says of it, by key; a key may have several values."""
        prefix = f"remote.{self.name}."
        pattern = f"^{re.escape(prefix)}"
        listed = self.git.run("config", "--null", "--get-regexp", pattern).out
        found: dict[str, list[str]] = {}
        for row in listed.decode("utf-8", "replace").split("\0")[:-1]:
            key, _, value = row.partition("\n")
            found.setdefault(key.removeprefix(prefix), []).append(value)
        return found

    def look(self, task: TaskName) -> Refs:
        """Ask what it has of a task.

        Raises:
            WorldError: if it does not answer.
        """
        where = self._settings.get("pushurl", [self.name])[-1]
        patterns = (f"refs/heads/{task.branch}", f"refs/tags/{task.tag_folder}*")
        answer = self._try("ls-remote", "--", where, *patterns, timeout_s=_LOOK_TIMEOUT_S)
        ids = {name: oid for oid, name in (line.split("\t") for line in answer.text.splitlines())}
        rows = ((oid, ids.get(f"{name}^{{}}", ""), name) for name, oid in ids.items())
        return collect(task, rows)

    def send(self, task: TaskName, tag: str, target: Tag, seen: Refs) -> None:
        """Push branch and tag, both or none, if the branch is still what we saw.

        `--no-verify`, and no hooks at all (see GitCommand): a pre-push hook checks what its owner
        pushes by hand; what is sent here was proven by the gates.

        Raises:
            StaleView: if the branch or the tag is not what we saw.
            WorldError: if the remote cannot be reached, or does not take it.
        """
        branch, name = f"refs/heads/{task.branch}", f"refs/tags/{tag}"
        settings = ("-c", f"remote.{self.name}.mirror=false", "-c", "push.gpgSign=false")
        options = ("--atomic", "--porcelain", "--no-verify", "--no-follow-tags")
        self._try(
            *settings,
            "push",
            *options,
            "--recurse-submodules=no",
            f"--force-with-lease={branch}:{seen.tip}",
            self.name,
            f"{target.commit}:{branch}",
            f"{target.object}:{name}",
            timeout_s=_SEND_TIMEOUT_S,
            locks=(f"/{branch}.lock", f"/{name}.lock"),
        )
        after = self.look(task)
        if after.tip != target.commit or after.tags.get(tag) != target:
            message = f"{self.name} took the push of {task.branch} but does not show it"
            raise StaleView(message, "Somebody may have pushed at the same moment; run again.")

    def note_tip(self, task: TaskName, commit: str) -> None:
        """Note where the remote's branch is, as a push does at its very end unless it is killed."""
        name = f"refs/remotes/{self.name}/{task.branch}"
        mapped = f"+refs/heads/*:refs/remotes/{self.name}/*"
        if mapped in self._settings.get("fetch", ()):
            # What it was does not matter, and neither does a fetch that is quicker.
            self.git.run("update-ref", "-m", "stratwright", name, commit)

    def fetch_tag(self, tag: str) -> None:
        """Bring a tag and its commit here."""
        refspec = f"refs/tags/{tag}:refs/tags/{tag}"
        options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")
        self._try("fetch", *options, self.name, refspec, timeout_s=_SEND_TIMEOUT_S)

    def default_branch(self) -> str:
        """Ask which branch is its default one; empty if it does not say, or has no commit yet."""
        answer = self._try(
            "ls-remote", "--symref", "--", self.name, "HEAD", timeout_s=_LOOK_TIMEOUT_S
        )
        found = re.match(r"ref: refs/heads/(\S+)\tHEAD\n", answer.text)
        return found[1] if found else ""

    def fetch_branch(self, branch: str) -> str:
        """Bring a branch here and give its tip; empty if the remote has none of the name."""
        name = f"refs/heads/{branch}"
        answer = self._try("ls-remote", "--", self.name, name, timeout_s=_LOOK_TIMEOUT_S)
        if not answer.text:
            return ""
        options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")
        noted = f"refs/remotes/{self.name}/{branch}"
        self._try("fetch", *options, self.name, f"+{name}:{noted}", timeout_s=_SEND_TIMEOUT_S)
        return self.git.ask("rev-parse", "--verify", noted).text

    def send_branch(self, branch: str, commit: str) -> None:
        """Push a commit to a branch that only grows: nothing else is forced.

        Raises:
            StaleView: the branch has grown meanwhile.
            WorldError: if the remote cannot be reached, or does not take it.
        """
        settings = ("-c", f"remote.{self.name}.mirror=false", "-c", "push.gpgSign=false")
        options = ("--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no")
        refspec = f"{commit}:refs/heads/{branch}"
        self._try(*settings, "push", *options, self.name, refspec, timeout_s=_SEND_TIMEOUT_S)

    def fetch_all(self) -> None:
        """Bring all branches and tags here, and drop those that the remote dropped."""
        refspecs = (f"+refs/heads/*:refs/remotes/{self.name}/*", "+refs/tags/*:refs/tags/*")
        options = ("--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._try("fetch", *options, "--quiet", self.name, *refspecs, timeout_s=_SEND_TIMEOUT_S)

    def _try(self, *arguments: str, timeout_s: float, locks: tuple[str, ...] = ()) -> Answer:
        """Run, again after a pause where the remote was only away or a lock of it went away."""
        pause = _FIRST_PAUSE_S
        for attempt in range(1, _ATTEMPTS + 1):
            answer = self.git.run(*arguments, timeout_s=timeout_s)
            if answer.code == 0:
                return answer
            text = f"{answer.err}\n{answer.out.decode('utf-8', 'replace')}"
            if answer.lock_file and self._clear(answer.lock_file, locks):
                continue
            if attempt == _ATTEMPTS or _STALE.search(text) or not _AWAY.search(text):
                break
            time.sleep(pause)
            pause *= 2
        raise self._explain(answer, text)

    def _clear(self, lock: Path, locks: tuple[str, ...]) -> bool:
        """Clear a lock of a remote that is a folder of this machine; others look after theirs."""
        folder = Path(os.path.normpath(self.git.folder / self.url.removeprefix("file://")))
        if not lock.is_relative_to(folder):
            return False
        return clear_lock(lock, removable=str(lock).endswith(locks) if locks else False)

    def _explain(self, answer: Answer, text: str) -> StratwrightError:
        where = f"the remote {self.name!r} ({without_password(self.url)})"
        reason = _reason(text)
        if _NO_SPACE.search(text):
            side = where if "remote:" in text or "unpack" in text else "this machine"
            return WorldError(f"the disk of {side} is full", "Free some space and run again.")
        if _STALE.search(text):
            message = f"{where} has changed meanwhile: {reason}"
            return StaleView(message, "Run again: it looks at what is there now.")
        if _NO_ENTRY.search(text):
            hint = (
                "Set up a credential helper, an SSH agent or a token, and try: git push --dry-run"
            )
            return WorldError(f"{where} did not let us in: {reason}", hint)
        if _NOWHERE.search(text):
            hint = f"Correct the address: git remote set-url {self.name} ADDRESS"
            return WorldError(f"{where} is not there: {reason}", hint)
        if _AWAY.search(text):
            message = f"{where} did not answer in {_ATTEMPTS} attempts: {reason}"
            return WorldError(message, "Check the network and run again; nothing is lost.")
        if _NOT_ALLOWED.search(text):
            message = f"{where} does not take the push: {reason}"
            return WorldError(message, "Ask for write permission to it; nothing was changed there.")
        return explain(answer)


def without_password(url: str) -> str:
    """An address that can be shown."""
    return re.sub(r"(?<=://)[^/@]*@", "", url)


def _reason(text: str) -> str:
    """The line that says why: the remote's own words first."""
    lines = [re.sub(r"^(fatal|error|remote): ", "", line.strip()) for line in text.splitlines()]
    for pattern in (r"^remote: (?:error: )?(.+)", r"^(?:fatal|error): (.+)"):
        for line in text.splitlines():
            found = re.match(pattern, line.strip())
            if found and found[1].strip():
                return without_password(found[1].strip())
    return without_password(next(filter(None, lines), "no reason given"))
