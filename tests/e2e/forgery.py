"""A tagged commit to one with other files under the same name, by plumbing."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.bot.git.worlds import quiet_environment, sh

Change = bytes | None | tuple[str, bytes]
"""New content, None to remove the file, or a mode and the content."""


def git(work: Path, *arguments: str, data: bytes = b"", index: Path | None = None) -> bytes:
    environment = quiet_environment() | ({"GIT_INDEX_FILE": str(index)} if index else {})
    done = subprocess.run(
        ["git", *arguments],
        cwd=work,
        env=environment,
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout


def read(work: Path, commit: str, path: str) -> bytes:
    return git(work, "cat-file", "blob", f"{commit}:{path}")


def files_of(work: Path, commit: str) -> list[str]:
    return sh(work, "ls-tree", "-r", "--name-only", "--full-tree", commit).splitlines()


def write_tree(work: Path, commit: str, changes: Mapping[str, Change]) -> str:
    """The commit's tree with other files."""
    index = work / f".git/forged-index-{os.getpid()}"
    index.unlink(missing_ok=True)
    git(work, "read-tree", commit, index=index)
    for path, change in changes.items():
        if change is None:
            git(work, "update-index", "--force-remove", path, index=index)
            continue
        mode, content = change if isinstance(change, tuple) else ("100644", change)
        blob = git(work, "hash-object", "-w", "--stdin", data=content).decode().strip()
        entry = f"{mode},{blob},{path}"
        git(work, "update-index", "--add", "--cacheinfo", entry, index=index)
    tree = git(work, "write-tree", index=index).decode().strip()
    index.unlink()
    return tree


def write_commit(work: Path, like: str, tree: str, message: bytes | None = None) -> str:
    """A commit like another, with another tree or message."""
    head, _, body = git(work, "cat-file", "commit", like).partition(b"\n\n")
    old = sh(work, "rev-parse", f"{like}^{{tree}}").encode()
    content = head.replace(old, tree.encode(), 1) + b"\n\n" + (body if message is None else message)
    return git(work, "hash-object", "-t", "commit", "-w", "--stdin", data=content).decode().strip()


def move_tag(work: Path, tag: str, commit: str, message: bytes | None = None) -> None:
    """The tag again, for another commit, with the same words or others."""
    head, _, body = git(work, "cat-file", "tag", f"refs/tags/{tag}").partition(b"\n\n")
    old = sh(work, "rev-parse", f"{tag}^{{commit}}").encode()
    head = head.replace(old, commit.encode(), 1)
    content = head + b"\n\n" + (body if message is None else message)
    made = git(work, "hash-object", "-t", "tag", "-w", "--stdin", data=content).decode().strip()
    git(work, "update-ref", f"refs/tags/{tag}", made)


def forge(work: Path, tag: str, changes: Mapping[str, Change]) -> None:
    """Put other files under a tag, with the same messages, people and dates."""
    commit = sh(work, "rev-parse", f"{tag}^{{commit}}")
    move_tag(work, tag, write_commit(work, commit, write_tree(work, commit, changes)))
