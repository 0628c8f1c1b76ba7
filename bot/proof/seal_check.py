"""Checks whether any byte of a tag has changed since its evidence was sealed."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.errors import InputError
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.entries import entry_paths, wants_entries
from bot.proof.evidence import PREDICATE, PROVENANCE, STATEMENT, sha256
from bot.proof.findings import Finding, Outcome, Stop, judged

_EVIDENCE = re.compile(r"^Evidence: (\S+) (sha256:[0-9a-f]{64})$", re.ASCII | re.MULTILINE)
_MOST_FILES = 200
_MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Claim:
    """What a statement says, of the agreed form and not yet believed."""

    subjects: Mapping[str, str]
    correlation_id: str
    contract_path: str
    coder: str
    version: str
    product: str
    versions: Mapping[str, str]

    @property
    def makers(self) -> dict[str, str]:
        """The product and the tools that it says it was made with."""
        return {**self.versions, "product": self.product}


def read_claim(raw: bytes) -> Claim:
    """Read a statement strictly; a stranger may have written it.

    Raises:
        Stop: it is not of the agreed form.
    """
    form = f"{PROVENANCE} is not in the form that stratwright writes"
    try:
        statement = json.loads(raw)
        canonical = (json.dumps(statement, indent=2, sort_keys=True) + "\n").encode()
        if canonical != raw or (statement["_type"], statement["predicateType"]) != (
            STATEMENT,
            PREDICATE,
        ):
            raise Stop("statement", Outcome.BROKEN, form)
        predicate = statement["predicate"]
        if not isinstance(predicate["versions"], dict):
            raise TypeError("versions are an object")
        claim = Claim(
            {item["name"]: item["digest"]["sha256"] for item in statement["subject"]},
            predicate["correlation_id"],
            predicate["contract"]["path"],
            predicate["coder"],
            predicate["product"]["version"],
            predicate["product"]["digest"],
            dict(predicate["versions"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Stop("statement", Outcome.BROKEN, form) from None
    texts = [*claim.subjects, *claim.subjects.values(), *claim.makers, *claim.makers.values()]
    texts += [claim.correlation_id, claim.contract_path, claim.coder, claim.version]
    plain = all(isinstance(text, str) and text.isprintable() for text in texts)
    if not plain or len(claim.subjects) > _MOST_FILES:
        raise Stop("statement", Outcome.BROKEN, form)
    if any(not _is_inner(path) for path in (*claim.subjects, claim.contract_path)):
        detail = f"{PROVENANCE} names a file outside the repository"
        raise Stop("statement", Outcome.BROKEN, detail)
    return claim


def _is_inner(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and path.isprintable()
        and PurePosixPath(path).as_posix() == path
        and not {"..", "/"} & {*parts}
    )


class SealCheck:
    """The tag, its commit and the digests: has any byte been changed since they were sealed?"""

    claim: Claim
    parent: str

    def __init__(self, tag: str, commit: str, repository: Repository) -> None:
        self.tag = tag
        self.commit = commit
        self.repository = repository
        self.task = self._task()
        self.folder = f"artifacts/{self.task}"
        self._files: dict[str, bytes | None] = {}

    def check(self) -> Iterator[Finding]:
        """Everything that needs no computing."""
        yield self._annotation()
        message = self.repository.message_of(self.commit)
        same = self.repository.message_of(f"refs/tags/{self.tag}") == message
        yield judged("messages", same, "tag and commit messages differ")
        statement = self.read(f"{self.folder}/{PROVENANCE}")
        match = _EVIDENCE.search(message)
        holds = match is not None and match.groups() == (self.folder, sha256(statement))
        yield judged("seal", holds, "the statement is not the one that was sealed")
        self.claim = read_claim(statement)
        self._load(self.claim.subjects)
        for name, digest in self.claim.subjects.items():
            found = sha256(self.read(name)).removeprefix("sha256:")
            yield judged(name, found == digest, f"is {found[:12]}, was {digest[:12]!a}")
        yield self._changes()
        yield self._base()

    def read(self, path: str) -> bytes:
        """A plain file of the tagged commit."""
        content = self.held(path)
        if content is None:
            raise Stop(path, Outcome.BROKEN, "it is not in the commit as a plain file")
        return content

    def held(self, path: str) -> bytes | None:
        """A plain file of the tagged commit; None if it has none."""
        if path not in self._files:
            self._load((path,))
        return self._files[path]

    def _load(self, paths: Iterable[str]) -> None:
        """Read files with two processes of Git, however many there are."""
        there = self.repository.entries(self.commit, paths)
        plain = {
            path: there[path].id
            for path in paths
            if path in there and there[path].mode in ("100644", "100755")
        }
        size = sum(there[path].size for path in plain)
        if size > _MOST_BYTES:
            largest = max(plain, key=lambda path: there[path].size)
            raise Stop(largest, Outcome.BROKEN, f"it is too large: {size} bytes in all")
        found = self.repository.blobs(plain.values()) if plain else {}
        self._files |= {path: found[plain[path]] if path in plain else None for path in paths}

    def _task(self) -> TaskName:
        parts = self.tag.split("/")
        try:
            task = TaskName(parts[1], parts[2])
        except (IndexError, InputError):
            task = None
        if task is None or task.attempt(self.tag) is None:
            hint = "Tags of evidence are called ai/<workflow>/<task>/<correlation_id>."
            raise InputError(f"{self.tag} is not a tag of ours", hint) from None
        return task

    def _annotation(self) -> Finding:
        """The tag is an annotated one, made under this name for this commit."""
        found = self.repository.git.run("cat-file", "tag", f"refs/tags/{self.tag}")
        head = found.text.partition("\n\n")[0].splitlines()[:3]
        wanted = [f"object {self.commit}", "type commit", f"tag {self.tag}"]
        return judged("tag", found.code == 0 and head == wanted, "it is not the tag that was made")

    def _changes(self) -> Finding:
        """On top of its base, the commit changes what the statement lists and nothing else."""
        repository = self.repository
        if repository.git.ask("rev-parse", "--is-shallow-repository").text == "true":
            message = "this is a shallow clone: what the tag changes cannot be seen"
            raise InputError(message, "Fetch the rest of its history: git fetch --unshallow")
        parents = repository.parents(self.commit)
        if len(parents) != 1:
            detail = f"the commit has {len(parents)} parents, not one"
            raise Stop("changes", Outcome.BROKEN, detail)
        self.parent = parents[0]
        listed = {*self.claim.subjects, f"{self.folder}/{PROVENANCE}"}
        if wants_entries(repository, self.parent):
            listed |= {*entry_paths(self.claim.correlation_id)}  # compared byte for byte later
        there = repository.entries(self.commit, (self.folder, *listed))
        strange = sorted(set(there) - listed)
        odd = [path for path, entry in there.items() if entry.mode != "100644"]
        changed = repository.changed(self.parent, self.commit)
        beside = [
            path
            for path in changed
            if path not in listed and not path.startswith(f"{self.folder}/")
        ]
        if strange or beside:
            path = (*strange, *beside)[0]
            return judged("changes", False, f"nobody listed what it does to {path!a}")
        detail = f"{odd[0]!a} is not a plain file" if odd else ""
        good = f"{len(changed)} files on top of {self.parent[:12]}"
        return judged("changes", not odd, detail, good)

    def _base(self) -> Finding:
        """It stands on a commit that some branch has, other than those of generated code."""
        options = ("--format=%(refname)", "--contains", self.parent)
        refs = self.repository.git.ask("for-each-ref", *options, "refs/heads", "refs/remotes").text
        names = [
            name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
            for name in refs.splitlines()
            if "/ai/generated/" not in name
        ]
        if names:
            return Finding("base", Outcome.HOLDS, f"in {names[0]}")
        detail = f"no branch here has the commit {self.parent[:12]} that it stands on"
        return Finding("base", Outcome.NOT_VERIFIED, detail)
