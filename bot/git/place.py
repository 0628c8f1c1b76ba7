"""A path to the repository it lies in, or the reason why it cannot be used."""

import re
from dataclasses import dataclass
from pathlib import Path

from bot.errors import InputError
from bot.git.command import Answer, GitCommand, explain


@dataclass(frozen=True)
class Place:
    """Where a repository is: its checkout, its Git folder, and the one all its worktrees share."""

    root: Path
    git_dir: Path
    common_dir: Path


def find_place(path: Path) -> Place:
    """Find the repository around a path.

    Raises:
        InputError: if there is none, or it has no checkout, or Git does not trust its owner.
    """
    if not path.is_dir():
        raise InputError(f"{path} is not a folder", "Name a folder inside a Git repository.")
    git = GitCommand(path)
    options = ("--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    answer = git.run("rev-parse", *options)
    lines = answer.out.decode("utf-8", "surrogateescape").split("\n", 3)
    if len(lines) < 4:
        raise _not_usable(path, answer)
    bare, git_dir, common, root = lines
    if bare == "true":
        message = f"{path} is a bare repository, which holds no files to work on"
        raise InputError(message, f"Clone it and work there: git clone {path} work")
    if answer.code:
        raise InputError(f"{path} lies inside Git's own folder", "Go to the checkout beside it.")
    return Place(Path(root.rstrip("\n")), Path(git_dir), (path / common).resolve())


def read_person(git: GitCommand) -> bytes:
    """Read who commits here, as Git writes a person.

    Raises:
        InputError: if nobody said so; Git's guess from host and login would be published.
    """
    answer = git.run("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    person = answer.out.strip().rsplit(b" ", 2)[0]
    if answer.code or not re.fullmatch(rb"[^<>\n]+ <[^<>\n]+>", person):
        hint = (
            'Tell it, once:\n  git config user.name "Your Name"\n'
            '  git config user.email "you@example.com"'
        )
        raise InputError("Git does not know who you are, so it cannot commit", hint)
    return person


def _not_usable(path: Path, answer: Answer) -> Exception:
    if "dubious ownership" in answer.err:
        found = re.search(r"safe\.directory (\S+)", answer.err)
        folder = found[1] if found else str(path)
        message = f"Git does not trust {path}: it belongs to another user"
        return InputError(message, f"If you do: git config --global --add safe.directory {folder}")
    if "not a git repository" in answer.err:
        message = f"{path.resolve()} is not inside a Git repository"
        return InputError(message, "Go to one, or make one: git init && git add . && git commit")
    return explain(answer)
