"""Reads the live host's own file: what it is, who may sign, and the least that it asks for.

The file lies on the host (`~/.config/stratwright/approval.yml`), never in the repository that it
judges, and nobody but its owner may write it.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.approval.policy import LEAST, tighten
from bot.approval.record import Closed, Digest, Person, Word
from bot.approval.signers import Signers, read_signers
from bot.errors import MANUAL, InputError
from bot.settings import ApprovalPolicy, parse_file

VARIABLE = "STRATWRIGHT_APPROVAL_HOST"
_HINT = f"{MANUAL}/approval.md shows the host's file, line by line."


class HostFile(Closed):
    """What the file says.

    Attributes:
        allowed_signers, revoked: files in the formats of ssh-keygen, beside this one.
        machines: principals of keys that no person holds, as the environment's.
        people: by principal, the other names of a person: mail addresses, `github:<number>`.
        policy: the floor; a repository can only ask for more.
        first_seen: the digest of an entry that has to be in the chain, for a host that is new.
    """

    host: Word
    environment: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")] = "paper"
    accounts: tuple[Word, ...] = ()
    allowed_signers: str = "allowed_signers"
    revoked: str | None = None
    machines: tuple[Person, ...] = ()
    people: dict[Person, tuple[Person, ...]] = Field(default_factory=dict)
    policy: ApprovalPolicy = ApprovalPolicy()
    first_seen: Digest | None = None


@dataclass(frozen=True)
class Host:
    """The host's file, with the signers that it names."""

    file: HostFile
    signers: Signers

    @property
    def floor(self) -> ApprovalPolicy:
        """Gives the least that is asked for."""
        least = LEAST.model_copy(update={"self_approval": self.file.policy.self_approval or ()})
        return tighten(least, self.file.policy)

    def names_of(self, principal: str) -> frozenset[str]:
        """Gives every name that a person is known by, in small letters.

        It does not matter by which of them one asks: a row of the file joins its names, and so
        does a key that is listed under several.
        """
        rows = [{name, *others} for name, others in self.file.people.items()]
        lines = self.signers.lines
        rows += [
            {n for each in lines if each.key == key for n in each.principals}
            for key in {line.key for line in lines}
        ]
        groups = [{name.lower() for name in row} for row in rows]
        names, before = {principal.lower()}, 0
        while len(names) > before:
            before = len(names)
            names |= {name for group in groups if group & names for name in group}
        return frozenset(names)

    def count(self, principals: Iterable[str]) -> int:
        """Counts people: one of several names is one."""
        return len({self.names_of(name) for name in principals})


def host_path(given: Path | None = None) -> Path:
    """Finds where the file should be: as given, by the variable, or in the user's own folder."""
    if given or os.environ.get(VARIABLE):
        return Path(given or os.environ[VARIABLE])
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "stratwright" / "approval.yml"


def read_host(path: Path, outside: Path) -> Host:
    """Reads the host's file and the signers.

    Args:
        path: where it is.
        outside: the repository that is judged: no file may lie in it.

    Raises:
        InputError: it is not there, lies in the repository, others may write it, or it says
            something unknown.
    """
    file = parse_file(_read(path, outside), str(path), HostFile, _HINT)
    allowed = path.parent / file.allowed_signers
    revoked = _read(path.parent / file.revoked, outside) if file.revoked else b""
    return Host(file, read_signers(_read(allowed, outside), revoked, str(allowed)))


def _read(path: Path, outside: Path) -> bytes:
    """Reads a file that nobody else may write, nor put another or a link in its place."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            data = file.read()
        places = (path.absolute(), path.resolve(strict=True))
        folders = [place.parent.stat() for place in places]
    except OSError as error:
        message = f"the host's file {path} cannot be read: {error.strerror}"
        raise InputError(message, _HINT) from None
    if any(place.is_relative_to(root) for place in places for root in (outside, outside.resolve())):
        message = f"{path} lies in the repository that it judges"
        raise InputError(message, "Keep it on the host, as in ~/.config/stratwright.")
    for each, kept in ((found, 0), *((folder, stat.S_ISVTX) for folder in folders)):
        shared = each.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not each.st_mode & kept
        if shared or each.st_uid not in (0, os.getuid()):
            message = f"{path} can be written by others"
            raise InputError(message, f"Make it and its folder yours alone: chmod go-w {path}")
    return data
