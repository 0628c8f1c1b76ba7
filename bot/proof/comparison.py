"""A tagged commit to where it differs from what a run writes: byte for byte, in every file.

Anybody who may push can make a tag, a branch and a pull request with any words in them. So nothing
that lies in Git is believed for its name, its digests or its trailers: it is believed because it is
what this run writes itself. Only the person who committed may be another.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.git.objects import read_ground
from bot.git.repository import Repository
from bot.proof.evidence import PROVENANCE

_COMMIT = re.compile(
    rb"tree [0-9a-f]+\n(?:parent [0-9a-f]+\n)+author (?P<author>.+)\ncommitter (?P<committer>.+)"
)
_TAG = re.compile(rb"object [0-9a-f]+\ntype commit\ntag (?P<name>.+)\ntagger (?P<tagger>.+)")


@dataclass(frozen=True)
class Writing:
    """What a run writes for a candidate.

    Attributes:
        tag: its name.
        folder: where its evidence lies; no other file does.
        files: every file of the candidate, its contract and its evidence, by path.
        message: of the commit and of the tag.
    """

    tag: str
    folder: str
    files: Mapping[str, bytes]
    message: str


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
    date = read_ground(repository.git, parent).date
    for kind, name, form in (
        ("tag", f"refs/tags/{writing.tag}", _TAG),
        ("commit", commit, _COMMIT),
    ):
        found = repository.git.run("cat-file", kind, name)
        head, _, body = found.out.partition(b"\n\n")
        match = form.fullmatch(head)
        if found.code or match is None:
            yield kind, f"it is not a {kind} as it is made here"
            continue
        parts = match.groupdict()
        if parts.pop("name", writing.tag.encode()) != writing.tag.encode():
            yield kind, "it was made under another name"
        if not all(person.endswith(b"> " + date) for person in parts.values()):
            yield kind, "it has another date than the commit it stands on"
        if body != writing.message.encode():
            yield kind, "its message is not what comes out here"
