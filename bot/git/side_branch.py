"""Appends files to a branch that lies beside the line: it only grows, here and at the remote."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from bot.errors import SafetyStop, StratwrightError, WorldError
from bot.git.command import GitCommand
from bot.git.object_reader import ObjectReader
from bot.git.objects import check_path
from bot.git.refs import write_refs
from bot.git.remote import Remote, StaleView

# Who wrote a file is said in the file; Git's own configuration takes no part.
_PERSON = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "stratwright"), ("EMAIL", "stratwright@localhost"))
}


@dataclass(frozen=True)
class SideBranch:
    """A branch by its name, in one folder of files."""

    git: GitCommand
    objects: ObjectReader
    common_dir: Path
    remote: Remote | None
    name: str

    def tip(self, *, alone: bool = False) -> str:
        """Find the newest commit, the remote's first; empty if nothing was ever appended.

        Args:
            alone: ask no remote.

        Raises:
            SafetyStop: this side and the remote have grown apart.
            WorldError: the remote does not answer.
        """
        there = "" if alone or self.remote is None else self.remote.fetch_branch(self.name)
        here = self._here()
        if not there or there == here or (here and self._is_in(there, here)):
            return here
        if here and not self._is_in(here, there):
            message = f"{self.name} here and at the remote do not have one history"
            hint = "Somebody rewrote it. Keep both, and find out which entries are missing."
            raise SafetyStop(message, hint)
        self._grow(there, here)
        return there

    def files(self, commit: str) -> dict[str, bytes]:
        """Read every file of a commit; what is no plain file is given as empty."""
        tree = self.objects.find(f"{commit}^{{tree}}")
        entries = self.objects.folder(tree.id) if tree else {}
        return {
            name: (self.objects.read(entry.id, "blob") or b"") if entry.is_file else b""
            for name, entry in entries.items()
        }

    def append(self, name: str, data: bytes, message: str, seen: str) -> str:
        """Add one file in one commit on top of the tip that was seen, and push it.

        Raises:
            StaleView: the branch has grown meanwhile, here or there; nothing was published.
            WorldError: disk or remote fail.
        """
        check_path(name)
        blob = self.git.ask("hash-object", "-w", "--stdin", data=data).text
        before = self.git.ask("ls-tree", "-z", seen).out if seen else b""
        tree = self.git.ask(
            "mktree", "-z", data=before + f"100644 blob {blob}\t{name}\0".encode()
        ).text
        parent = ("-p", seen) if seen else ()
        # Two that write the same words in the same second must not make the same commit: both
        # pushes would succeed, and one of two entries would never have been written.
        words = ("-m", message, "-m", f"Writer: {uuid4().hex}")
        commit = self.git.ask(
            "commit-tree", "--no-gpg-sign", tree, *parent, *words, environment=_PERSON
        ).text
        if self._here() != seen:
            raise StaleView(f"{self.name} has grown at the same moment", "Run again.")
        if self.remote is not None:
            self._send(self.remote, commit)
        self._grow(commit, seen)
        return commit

    def _send(self, remote: Remote, commit: str) -> None:
        """Push; where the push was taken and only its answer got lost, nothing failed."""
        try:
            remote.send_branch(self.name, commit)
        except StratwrightError:
            with suppress(StratwrightError):
                there = remote.fetch_branch(self.name)
                if there and self._is_in(commit, there):
                    return
            raise

    def descends(self, commit: str, earlier: str) -> bool:
        """Say whether a commit has another in its history; one that is not here is in none."""
        return bool(self.objects.find(f"{earlier}^{{commit}}")) and self._is_in(earlier, commit)

    def _grow(self, commit: str, seen: str) -> None:
        """Move the branch here; somebody who looked at the remote may have done it already."""
        try:
            write_refs(self.git, self.common_dir, [(f"refs/heads/{self.name}", commit, seen)])
        except WorldError:
            here = self._here()
            if here == seen:
                raise
            if not self._is_in(commit, here):
                message = f"{self.name} has grown at the same moment"
                raise StaleView(message, "Run again.") from None

    def _here(self) -> str:
        found = self.objects.find(f"refs/heads/{self.name}^{{commit}}")
        return found.id if found else ""

    def _is_in(self, commit: str, tip: str) -> bool:
        return self.git.run("merge-base", "--is-ancestor", commit, tip).code == 0
