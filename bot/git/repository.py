"""Turns candidates into branches and tags of a Git repository, here and at its remote.

The user's checkout, index and HEAD are never touched: commits are built from objects. The order is
objects, push, verification, local refs; the push is atomic. So a run that dies leaves nothing that
a ref names, or the whole proposal at the remote, and the next run goes on from there. A tag,
here or at the remote, means that its candidate was delivered; tags never move.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bot.errors import InputError, SafetyStop, WorldError
from bot.git.base import Base, Head, default_branches, find_base
from bot.git.command import GitCommand
from bot.git.delivery import Sides, View
from bot.git.identity import TaskName
from bot.git.lock import hold
from bot.git.object_reader import ObjectReader
from bot.git.objects import Entry, Ground, NewObjects, object_id, read_ground
from bot.git.origin import owner_and_name
from bot.git.place import Place, find_place, read_person
from bot.git.proposal import Proposal, Proposed, State, TagTaken
from bot.git.refs import Refs, Tag, read_refs
from bot.git.remote import Remote
from bot.git.side_branch import SideBranch

LOCK_TIMEOUT_S = 300.0
# GitHub warns of files above 50 MB and refuses those above 100 MB.
MOST_FILE_BYTES = 40_000_000


def open_repository(
    path: Path,
    *,
    to_write: bool = True,
    remote: str = "origin",
    environment: Mapping[str, str] | None = None,
    credentials: Mapping[str, str] | None = None,
    may_push: bool = True,
) -> "Repository":
    """Open the repository around a path.

    Args:
        path: a folder in its checkout.
        to_write: also check what a proposal needs: a commit to stand on, a person to commit as.
        remote: the remote that proposals are pushed to, if there is one of this name.
        environment: variables for Git, as who commits.
        credentials: variables for those commands of Git only that speak with the remote.
        may_push: whether refs may change; without it, looking finds and finishes nothing.

    Raises:
        InputError: if it cannot be used, with what to do.
    """
    repository = Repository(find_place(path), remote, environment, credentials, may_push)
    if to_write:
        repository.base()
        repository.person  # noqa: B018 - raises if nobody is set
    return repository


class Repository:
    """A Git repository to propose to."""

    def __init__(
        self,
        place: Place,
        remote: str = "origin",
        environment: Mapping[str, str] | None = None,
        credentials: Mapping[str, str] | None = None,
        may_push: bool = True,
    ) -> None:
        self.root = place.root
        self.git = GitCommand(place.root, place.git_dir, environment)
        self.folder = place.common_dir / "stratwright"
        self._common_dir = place.common_dir
        self._may_push = may_push
        self._remote = Remote(self.git.knowing(credentials or {}), remote)
        self.objects = ObjectReader(self.git)
        self._head = Head(self.git, place.git_dir / "HEAD")
        self._held: dict[tuple[str, str], bool] = {}

    @cached_property
    def has_remote(self) -> bool:
        """Whether there is a remote to push to."""
        return self._remote.exists

    @cached_property
    def person(self) -> str:
        """Who commits here, as `Name <mail>`."""
        return self._person.decode("utf-8", "replace")

    @cached_property
    def _person(self) -> bytes:
        return read_person(self.git)

    @cached_property
    def repository_id(self) -> str:
        """Origin's owner/name, else the first commit of the base's history."""
        name = owner_and_name(self._remote.url) if self.has_remote else None
        if name:
            return name
        if self.git.ask("rev-parse", "--is-shallow-repository").text == "true":
            message = "this is a shallow clone of a repository without an owner/name"
            raise InputError(message, "Fetch the rest of its history: git fetch --unshallow")
        commit = self.base().commit
        return self.git.ask("rev-list", "--first-parent", "--max-parents=0", commit).text

    def base(self, name: str | None = None) -> Base:
        """Find the commit to propose on; bot/git/base.py states the rule."""
        return find_base(self._head, self.objects, self._remote.name, name)

    def default_base(self) -> Base:
        """Find the default branch as it is now: the one that the remote names, else a guess.

        Only the remote knows it: whoever may push can make a branch called `main`, and what was
        noted here may be old.

        Raises:
            WorldError: the remote does not answer.
        """
        named = self._remote.default_branch() if self.has_remote else ""
        if named:
            commit = self._remote.fetch_branch(named)
            if not commit:
                raise WorldError(f"the remote has no {named} any more", "Run again.")
            return Base(commit, named)
        for branch in dict.fromkeys(default_branches(self.git, self.objects, self._remote.name)):
            there = self._remote.fetch_branch(branch) if self.has_remote else ""
            commit = there or self.commit_of(f"refs/heads/{branch}")
            if commit:
                return Base(commit, branch)
        return self.base()

    def side_branch(self, name: str) -> SideBranch:
        """Open a branch that lies beside the line and only grows."""
        remote = self._remote if self.has_remote else None
        return SideBranch(self.git, self.objects, self._common_dir, remote, name)

    def absent_from_base(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        """Give the files of this checkout that the base does not have.

        Raises:
            InputError: the base has another file: a tag would hold that, and not what was proven.
        """
        base, absent = self.base(), []
        for path, content in files.items():
            there = self.objects.entry(base.commit, path)
            if there is None or not there.is_file:
                absent += [path] if (self.root / path).is_file() else []
            elif there.id != object_id("blob", content, len(there.id)):
                message = f"{path} here is not the one of {base.branch or base.commit[:12]}"
                hint = "Commit and push the candles first, or take your change to them back."
                raise InputError(message, hint)
        return tuple(absent)

    def lock(
        self,
        task: TaskName,
        timeout_s: float = LOCK_TIMEOUT_S,
        on_wait: Callable[[str], None] | None = None,
    ) -> AbstractContextManager[None]:
        """Keep other runs of a task waiting; may be entered again by its holder."""
        path = self.folder / "locks" / f"{task.workflow}.{task.task}.lock"
        return hold(path, str(task), timeout_s, on_wait)

    def next_tag(self, task: TaskName, correlation_id: str) -> str:
        """Name the tag for one more candidate of an id that may have some already."""
        attempts = self._sides.look(task).attempts(task, correlation_id)
        return task.tag(correlation_id, max(attempts, default=0) + 1)

    def delivered(self, task: TaskName, correlation_id: str) -> str:
        """The newest tag of an id, fetched if only the remote has it; empty if there is none.

        Whoever may push can make a tag: its name alone proves nothing.
        """
        view = self._sides.look(task)
        attempts = view.attempts(task, correlation_id)
        if not attempts:
            return ""
        tag = task.tag(correlation_id, max(attempts))
        if tag not in view.here.tags:
            self._remote.fetch_tag(tag)
        return tag

    def propose(
        self,
        proposal: Proposal,
        on_step: Callable[[str], None] = lambda step: None,
        compared: str = "",
    ) -> Proposed:
        """Commit a candidate on top of its base, tag it, and push both.

        The branch is replaced: it holds the base and one commit. Earlier candidates stay
        reachable by their tags. The same proposal gives the same commit.

        Args:
            proposal: what to propose.
            on_step: is told each step when it is done: locked, objects, pushed, refs.
            compared: a commit under the proposal's tag that was compared, byte for byte, with
                what this run writes: an earlier run's, perhaps on another base.

        Raises:
            BranchTaken: if somebody else committed to the branch.
            TagTaken: if the tag is on a commit that is neither this one nor compared.
            InputError: if a path or name is in the way.
            WorldError: if disk or remote fail; no ref has changed then.
        """
        task = proposal.task
        if not self._may_push:
            raise SafetyStop("this part of the line may look but not propose")
        for path, content in proposal.files.items():
            if len(content) > MOST_FILE_BYTES:
                message = f"{path} has {len(content):,} bytes, too many for a repository"
                raise InputError(message, f"At most {MOST_FILE_BYTES:,} are proposed.")
        with self.lock(task):
            on_step("locked")
            view = self._sides.look(task)
            target = view.tag(proposal.tag)
            if target and target.commit == compared:
                return self._again(task, proposal.tag, target, view, proposal.base)
            if not target:
                self._sides.refuse_to_overwrite(task, view)
            ground = self.ground(proposal.base.commit)
            new = NewObjects(self.objects, ground)
            tree = new.tree(proposal.files, proposal.replaced)
            if tree == ground.tree:
                return self._result(State.MERGED, task, proposal.tag, ground.commit)
            message = proposal.trailers.attached_to(proposal.message)
            commit = new.commit(tree, self._person, message)
            tag = new.tag(commit, proposal.tag, self._person, message)
            new.write(self.git)
            on_step("objects")
            if target and target.commit != commit:
                raise TagTaken(proposal.tag, target.commit)
            if target:
                return self._again(task, proposal.tag, target, view, proposal.base)
            return self._deliver(task, proposal.tag, Tag(tag, commit), view, on_step)

    def again(self, task: TaskName, tag: str, compared: str) -> Proposed | None:
        """Bring the refs of a commit that was compared back; None if its tag is elsewhere.

        Raises:
            BranchTaken: if somebody else committed to the branch.
            WorldError: if disk or remote fail; no ref has changed then.
        """
        with self.lock(task):
            view = self._sides.look(task)
            target = view.tag(tag)
            if target is None or target.commit != compared or not self._may_push:
                return None
            return self._again(task, tag, target, view, self.base())

    def merged(self, commit: str, base: Base) -> bool:
        """Whether a base has a candidate: by its history, or (a squash) by the same files."""
        names = (f"refs/heads/{base.branch}", f"refs/remotes/{self._remote.name}/{base.branch}")
        tips = {base.commit, *(self.commit_of(name) for name in names if base.branch)} - {""}
        for tip in sorted(tips):
            # Commits never change, so neither does the answer.
            if (tip, commit) not in self._held:
                self._held[tip, commit] = self._holds(tip, commit)
            if self._held[tip, commit]:
                return True
        return False

    def refs(self, task: TaskName) -> Refs:
        """Read a task's branch and tags, as they are here."""
        return read_refs(self.git, task)

    def tips(self, task: TaskName) -> frozenset[str]:
        """Where a task's branch is, here and at the remote."""
        view = self._sides.look(task)
        return frozenset({view.here.tip, view.there.tip} - {""})

    def tasks(self) -> tuple[TaskName, ...]:
        """List the tasks that have a tag or a branch here."""
        found = set()
        listed = self.git.ask(
            "for-each-ref", "--format=%(refname)", "refs/heads/ai", "refs/tags/ai"
        )
        for name in listed.text.splitlines():
            parts = name.removeprefix("refs/heads/ai/generated/").removeprefix("refs/tags/ai/")
            try:
                found.add(TaskName(*parts.split("/")[:2]))
            except (InputError, TypeError):
                continue
        return tuple(sorted(found))

    def commit_of(self, name: str) -> str:
        """The commit that a ref, tag or abbreviated id names; empty if there is none."""
        found = self.objects.find(f"{name}^{{commit}}")
        return found.id if found else ""

    def message_of(self, name: str) -> str:
        """Read the message of a commit or tag."""
        found = self.objects.find(name)
        data = self.objects.read(name, found.kind) if found else None
        return (data or b"").decode("utf-8", "replace").partition("\n\n")[2]

    def ground(self, commit: str) -> Ground:
        """Read what a commit on top of another takes over from it."""
        return read_ground(self._commit(commit), commit)

    def _commit(self, commit: str) -> bytes:
        data = self.objects.read(commit, "commit")
        if data is None:
            raise WorldError(f"there is no commit {commit[:40]!a} here", "Fetch it: git fetch")
        return data

    def read(self, commit: str, path: str) -> bytes | None:
        """Read a file's bytes in a commit; None if it is not there."""
        entry = self.objects.entry(commit, path)
        return self.objects.read(entry.id, "blob") if entry and entry.is_file else None

    def entries(self, commit: str, paths: Iterable[str] = ()) -> dict[str, Entry]:
        """The files of a commit at or below these paths; all of them without any."""
        options = ("-r", "-z", "--long", "--full-tree")
        listed = self.git.ask("ls-tree", *options, commit, "--", *sorted(paths)).out
        found = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            head, _, path = line.partition("\t")
            mode, _, oid, size = head.split()
            found[path] = Entry(mode, oid, int(size) if size.isdigit() else 0)
        return found

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Read the bytes of blobs."""
        return {oid: self.objects.read(oid, "blob") or b"" for oid in set(ids)}

    def changed(self, old: str, new: str) -> tuple[str, ...]:
        """The paths in which two commits differ."""
        options = ("-r", "-z", "--no-renames", "--name-only")
        listed = self.git.ask("diff-tree", *options, old, new).out
        return tuple(listed.decode("utf-8", "surrogateescape").split("\0")[:-1])

    def parents(self, commit: str) -> tuple[str, ...]:
        """The commits that a commit stands on, as it says itself."""
        head = self._commit(commit).partition(b"\n\n")[0]
        lines = head.decode("ascii", "replace").splitlines()
        return tuple(line.split()[1] for line in lines if line.startswith("parent "))

    def is_in(self, commit: str, tip: str) -> bool:
        """Whether a commit is in the history of another."""
        if commit == tip:
            return True
        return self.git.run("merge-base", "--is-ancestor", commit, tip).code == 0

    def paths(self, commit: str, folder: str) -> tuple[str, ...]:
        """The files of a commit below a folder."""
        return tuple(self.entries(commit, (f"{folder}/",)))

    def diff(self, old: str, new: str) -> bytes:
        """The changes from one commit to another, as a patch."""
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
        return self.git.ask("diff", *options, "--end-of-options", old, new).out

    @cached_property
    def _sides(self) -> Sides:
        return Sides(self.git, self._common_dir, self._remote if self.has_remote else None)

    def _deliver(
        self, task: TaskName, tag: str, target: Tag, view: View, on_step: Callable[[str], None]
    ) -> Proposed:
        if not self._may_push:
            return self._result(State.UNCHANGED, task, tag, target.commit)
        changed, note = self._sides.deliver(task, tag, target, view, on_step)
        state = State.PROPOSED if changed else State.UNCHANGED
        return self._result(state, task, tag, target.commit, note)

    def _again(self, task: TaskName, tag: str, target: Tag, view: View, base: Base) -> Proposed:
        """Bring a delivered candidate's refs back to where they belong."""
        if tag not in view.here.tags:
            self._remote.fetch_tag(tag)
            view = replace(view, here=self.refs(task))
        if self.merged(target.commit, base):
            return self._result(State.MERGED, task, tag, target.commit)
        return self._deliver(task, tag, target, view, lambda step: None)

    def _holds(self, tip: str, commit: str) -> bool:
        if self.is_in(commit, tip):
            return True
        changed = self.git.run(
            "diff-tree", "-r", "-z", "--no-renames", "--name-only", f"{commit}^", commit
        )
        paths = changed.out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        if changed.code or not paths:
            return False
        return self.git.run("diff-tree", "-r", "--quiet", tip, commit, "--", *paths).code == 0

    def _result(
        self, state: State, task: TaskName, tag: str, commit: str, note: str = ""
    ) -> Proposed:
        remote = self._remote.name if self.has_remote else ""
        return Proposed(state, task, tag, commit, remote, note)
