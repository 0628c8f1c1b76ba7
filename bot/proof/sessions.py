"""Finds the session in which a model wrote a contract's files: kept here, merged, or signed.

Anybody who may push can write a session. So one is taken over only if this machine kept it when
its files had passed, if the base branch has it beside the very contract, or if the bot signed it.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bot.coder.model.session import SESSION, SESSION_SIGNATURE, Session, read_session
from bot.coder.port import Candidate
from bot.contract.model import AnyContract
from bot.errors import InputError
from bot.files import write_files
from bot.git.repository import Repository
from bot.proof.answers import is_signed_by

_MOST_FILES = 300
_MOST_BYTES = 100_000
_READABLE = ("Backtest/codes", "contracts", "tests")
_KINDS = (".py", ".yaml", ".yml", ".md")
# What coding programs obey where they find it.
_OBEYED = frozenset({"claude.md", "claude.local.md", "agents.md"})


def adopt(
    contract: AnyContract, asked: str, repository: Repository, kept: Path, signers: Sequence[str]
) -> tuple[Session, str] | None:
    """Give a session that answers what is asked, with its signature, if one may be taken over."""
    for data, signature, trusted in _candidates(contract, asked, repository, kept):
        with suppress(InputError):
            found = read_session(data)
            signed = bool(signature) and is_signed_by(signature, found.digest, signers)
            if found.asked == asked and (trusted or signed):
                return found, signature if signed else ""
    return None


def _candidates(
    contract: AnyContract, asked: str, repository: Repository, kept: Path
) -> Iterator[tuple[bytes, str, bool]]:
    place = kept / asked.removeprefix("sha256:")
    with suppress(OSError):
        signature = place / SESSION_SIGNATURE
        known = signature.read_text() if signature.is_file() else ""
        yield (place / SESSION).read_bytes(), known, True
    folder = f"artifacts/{contract.workflow}/{contract.task}"
    places = [(repository.base().commit, True)]
    for ref in (f"refs/heads/{contract.branch}", f"refs/remotes/origin/{contract.branch}"):
        places += [(commit, False)] if (commit := repository.commit_of(ref)) else []
    for commit, trusted in places:
        data = repository.read(commit, f"{folder}/{SESSION}")
        signature_there = repository.read(commit, f"{folder}/{SESSION_SIGNATURE}") or b""
        if data is not None:
            yield data, signature_there.decode("ascii", "replace"), trusted


def keep_session(candidate: Candidate, kept: Path) -> None:
    """Keep how a candidate was written that passed every gate, so that nobody is asked again."""
    data = candidate.evidence.get(SESSION)
    if data is not None:
        folder = kept / read_session(data).asked.removeprefix("sha256:")
        write_files(folder, dict(candidate.evidence))


def readable_files(repository: Repository) -> dict[str, bytes]:
    """Give what a model may read of the base branch: code, tests and contracts, as plain files."""
    entries = repository.entries(repository.base().commit, _READABLE)
    chosen = {
        path: entry.id
        for path, entry in sorted(entries.items())
        if entry.mode == "100644" and entry.size <= _MOST_BYTES and _is_readable(path)
    }
    listed = dict(list(chosen.items())[:_MOST_FILES])
    held = repository.blobs(listed.values())
    return {path: held[name] for path, name in listed.items()}


def _is_readable(path: str) -> bool:
    parts = path.lower().split("/")
    hidden = any(part.startswith(".") for part in parts)
    return path.endswith(_KINDS) and not hidden and parts[-1] not in _OBEYED
