"""A written candidate to refs: first at the remote, then here, and never over somebody's work."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.errors import InputError, SafetyStop
from bot.files import append_line, read_lines
from bot.git.command import GitCommand
from bot.git.identity import TaskName
from bot.git.proposal import BranchTaken
from bot.git.refs import Refs, Tag, checked_out_at, read_refs, write_refs
from bot.git.remote import Remote, StaleView

_VIEWS = 3
_PAUSE_S = 0.2


@dataclass(frozen=True)
class View:
    """What a task has on both sides at one moment."""

    here: Refs
    there: Refs
    begun: frozenset[str] = frozenset()
    """Commits whose delivery was begun and not seen to end."""

    @property
    def ours(self) -> frozenset[str]:
        """Every commit that we made, as far as anybody knows."""
        return self.here.candidates | self.there.candidates | self.begun

    def tag(self, name: str) -> Tag | None:
        """A tag, wherever it is."""
        return self.here.tags.get(name) or self.there.tags.get(name)

    def attempts(self, task: TaskName, correlation_id: str) -> list[int]:
        """The numbers of the candidates that an id has."""
        read = (task.attempt(tag) for tag in (*self.here.tags, *self.there.tags))
        return [found[1] for found in read if found and found[0] == correlation_id]


@dataclass(frozen=True)
class Sides:
    """This repository and, if it has one, its remote."""

    git: GitCommand
    common_dir: Path
    remote: Remote | None

    def look(self, task: TaskName) -> View:
        """Read what both have of a task."""
        there = self.remote.look(task) if self.remote else Refs()
        begun = frozenset(
            line.data.decode("ascii", "replace") for line in read_lines(self._journal(task))
        )
        return View(read_refs(self.git, task), there, begun)

    def refuse_to_overwrite(self, task: TaskName, view: View) -> None:
        """Stop before a new candidate would replace commits of somebody else.

        Raises:
            BranchTaken: if they are on the branch, here or at the remote.
            InputError: if the branch is checked out.
        """
        places = ((view.here.tip, "here"), (view.there.tip, "at the remote"))
        for tip, where in places:
            if tip and tip not in view.ours:
                raise BranchTaken(task, tip, where)
        self._refuse_checked_out(task)

    def deliver(
        self, task: TaskName, tag: str, target: Tag, view: View, on_step: Callable[[str], None]
    ) -> tuple[bool, str]:
        """Push, then set the refs here; what is right already is left as it is.

        Returns:
            Whether anything changed where others see it (at the remote, if there is one; a fresh
            clone only lacks the refs), and a note for the user.
        """
        sent, view = self._send_patiently(task, tag, target, view)
        on_step("pushed")
        here, ours = view.here, view.ours | {target.commit}
        changes = []
        if here.tip != target.commit and (not here.tip or here.tip in ours):
            self._refuse_checked_out(task)
            changes.append((f"refs/heads/{task.branch}", target.commit, here.tip))
        if tag not in here.tags:
            changes.append((f"refs/tags/{tag}", target.object, ""))
        if changes:
            self._begin(task, target, view)
            write_refs(self.git, self.common_dir, changes)
        if self.remote and (sent or view.there.tip == target.commit):
            self.remote.note_tip(task, target.commit)
        self._journal(task).unlink(missing_ok=True)
        on_step("refs")
        foreign = {tip for tip in (here.tip, view.there.tip) if tip and tip not in ours}
        note = f"{task.branch} has commits of somebody else on it; left alone" if foreign else ""
        return sent or (self.remote is None and bool(changes)), note

    def _send_patiently(
        self, task: TaskName, tag: str, target: Tag, view: View
    ) -> tuple[bool, View]:
        """Push; if the remote changed meanwhile, look again and decide again."""
        for _ in range(_VIEWS - 1):
            try:
                return self._send(task, tag, target, view), view
            except StaleView:
                time.sleep(_PAUSE_S)
                view = self.look(task)
        return self._send(task, tag, target, view), view

    def _send(self, task: TaskName, tag: str, target: Tag, view: View) -> bool:
        """Push if the remote lacks something; say whether it did."""
        if self.remote is None:
            return False
        there = view.there
        delivered = there.tags.get(tag)
        if delivered and delivered != target:
            message = f"the tag {tag} at {self.remote.name} is not the one that was made here"
            hint = f"Tags never move. To take over the remote's: git tag -d {tag}; then run again."
            raise SafetyStop(message, hint)
        foreign = there.tip not in view.ours | {"", target.commit}
        if foreign and not delivered:
            raise BranchTaken(task, there.tip, "at the remote")
        if delivered and (foreign or there.tip == target.commit):
            return False
        self._begin(task, target, view)
        self.remote.send(task, tag, target, there)
        return True

    def _begin(self, task: TaskName, target: Tag, view: View) -> None:
        """Note a commit before any ref can name it.

        Git sets the refs of an atomic push one after the other: when the machine dies in between,
        the branch may be there without the tag that makes it ours.
        """
        if target.commit not in view.ours:
            append_line(self._journal(task), target.commit.encode())

    def _journal(self, task: TaskName) -> Path:
        return self.common_dir / "stratwright" / "begun" / f"{task.workflow}.{task.task}"

    def _refuse_checked_out(self, task: TaskName) -> None:
        """Moving a branch under a checkout would make its files look changed."""
        folder = checked_out_at(self.git, task.branch)
        if folder:
            message = f"the branch {task.branch} is checked out in {folder}, so it cannot move"
            raise InputError(message, f"Go to another branch there: git -C {folder} switch -")
