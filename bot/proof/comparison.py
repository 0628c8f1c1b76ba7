"""Finds where a tagged commit differs from what a run writes: byte for byte, in every file.

Anybody who may push can make a tag, a branch and a pull request with any words in them. So nothing
that lies in Git is trusted for its name, its digests or its trailers: it is trusted because it is
what this run writes itself. Only the person who committed may be another.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.git.proposal import TagTaken
from bot.git.repository import Repository
from bot.proof.entries import entry_files, wants_entries
from bot.proof.evidence import PROVENANCE, makers
from bot.proof.line import Proven
from bot.proof.sealing import Sealed, commit_message, seal_on

_COMMIT = re.compile(
    rb"tree [0-9a-f]+\n(?:parent [0-9a-f]+\n)+author (?P<author>.+)\ncommitter (?P<committer>.+)"
)
_MOST_NAMED = 20  # a stranger may list any number
_TAG = re.compile(rb"object [0-9a-f]+\ntype commit\ntag (?P<name>.+)\ntagger (?P<tagger>.+)")


@dataclass(frozen=True)
class Writing:
    """Holds what a run writes for a candidate."""

    tag: str  # its name
    folder: str  # where its evidence lies; no other file does
    # Every file of the candidate, its contract and its evidence, by path.
    files: Mapping[str, bytes]
    message: str  # of the commit and of the tag


def written(proven: Proven, sealed: Sealed, tag: str, base: str, repository: Repository) -> Writing:
    """List everything that a run writes for a candidate on a commit of the base branch."""
    work, evidence, candidate = proven.work, sealed.evidence, proven.delivered
    files = candidate.contents
    files |= {f"{evidence.folder}/{name}": data for name, data in evidence.files.items()}
    files[work.origin.contract_path] = work.origin.contract_bytes
    files |= entry_files(proven) if wants_entries(repository, base) else {}
    message, trailers = commit_message(work, candidate, evidence.digest)
    return Writing(tag, evidence.folder, files, trailers.attached_to(message))


@dataclass(frozen=True)
class Compared:
    """Holds a tag's commit that is, byte for byte, what this run writes; and what was written."""

    commit: str
    sealed: Sealed
    parent: str


def compare(proven: Proven, tag: str, repository: Repository) -> Compared | None:
    """Compare the commit of a tag with what this run writes on the same base; None if no tag is.

    Raises:
        TagTaken: it differs, or stands on what the base branch never had; anybody who may push can
            make a tag.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        return None
    parents = repository.parents(commit)
    if len(parents) != 1 or not repository.is_in(parents[0], repository.base().commit):
        raise TagTaken(tag, commit, "it does not stand on a commit of the base branch")
    sealed = seal_on(parents[0], proven, tag, repository)
    writing = written(proven, sealed, tag, parents[0], repository)
    for name, why in find_differences(writing, commit, repository):
        raise TagTaken(tag, commit, f"{name} {why}{other_makers(writing, commit, repository)}")
    return Compared(commit, sealed, parents[0])


def compare_shown(proven: Proven, tag: str, repository: Repository) -> Compared | None:
    """Give what an open pull request shows, if one more candidate would be the same there."""
    try:
        same = compare(proven, tag, repository) if tag else None
    except TagTaken:
        return None  # it was made otherwise, so there is something to make anew
    return same if same and same.parent == repository.base().commit else None


def other_makers(writing: Writing, commit: str, repository: Repository) -> str:
    """Say which product and tools a tag names that are not those of this run; empty if none."""
    path = f"{writing.folder}/{PROVENANCE}"
    named = makers(repository.read(commit, path) or b"")
    here = makers(writing.files[path])
    other = [
        f"{key if key in here else ascii(key[:40])} {named[key][:40]!a} there, "
        f"{here.get(key, 'none')} here"
        for key in sorted(named)
        if named[key] != here.get(key)
    ]
    return f"; it was made with {', '.join(other[:_MOST_NAMED])}" if other else ""


def find_differences(
    writing: Writing, commit: str, repository: Repository
) -> Iterator[tuple[str, str]]:
    """Name everything in which a tag's commit is not what a run writes, and how it differs.

    The first is the most telling: what the tag and the commit are, then the files, the statement
    over all of them last.
    """
    parents = repository.parents(commit)
    if len(parents) != 1:
        yield "commit", f"it has {len(parents)} parents, not one"
        return
    yield from _odd_objects(writing, commit, parents[0], repository)
    there = repository.entries(commit, (writing.folder, *writing.files))
    statement = f"{writing.folder}/{PROVENANCE}"
    names = sorted(writing.files, key=lambda name: (name == statement, name))
    # Only what may be the same is read: a stranger's file may be of any kind and size.
    likely = {
        name: there[name].id
        for name in names
        if name in there
        and (there[name].mode, there[name].size) == ("100644", len(writing.files[name]))
    }
    held = repository.blobs(likely.values())
    for name in names:
        if name not in there:
            yield name, "is not in the commit"
        elif there[name].mode != "100644":
            yield name, "is not a plain file"
        elif name not in likely or held[likely[name]] != writing.files[name]:
            yield name, "is not what comes out here"
    for name in sorted(set(there) - set(writing.files)):
        yield ascii(name), "is not among what comes out here"
    for name in repository.changed(parents[0], commit):
        if name not in writing.files and name in repository.entries(commit, (name,)):
            yield ascii(name), "is changed by the commit and not by this contract"
        elif name not in writing.files and not name.startswith(f"{writing.folder}/"):
            yield ascii(name), "is removed by the commit and not by this contract"


def _odd_objects(
    writing: Writing, commit: str, parent: str, repository: Repository
) -> Iterator[tuple[str, str]]:
    """The tag and the commit as objects: their form, their dates and their words."""
    date = repository.ground(parent).date
    for kind, name, form in (
        ("tag", f"refs/tags/{writing.tag}", _TAG),
        ("commit", commit, _COMMIT),
    ):
        head, _, body = (repository.objects.read(name, kind) or b"").partition(b"\n\n")
        match = form.fullmatch(head)
        if match is None:
            yield kind, f"it is not a {kind} as it is made here"
            continue
        parts = match.groupdict()
        if parts.pop("name", writing.tag.encode()) != writing.tag.encode():
            yield kind, "it was made under another name"
        if not all(person.endswith(b"> " + date) for person in parts.values()):
            yield kind, "it has another date than the commit it stands on"
        if body != writing.message.encode():
            yield kind, "its message is not what comes out here"
