"""Finds symbols in the source of local clones, at a pinned commit: the last place that is asked."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import InputError
from bot.knowledge.port import LETTERS_PER_TOKEN, Answer

# Clones with their commits: /src/freqtrade@0a1b2c3d:/src/ccxt@4e5f6a7b. No repository's own
# settings name them: what is read is the user's choice.
VARIABLE = "STRATWRIGHT_CLONES"
_CLONE = re.compile(r"(?P<path>/[^@:]+)@(?P<commit>[0-9a-f]{7,40})")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(?:_\w+|[a-z][A-Z]\w*)|[A-Z][A-Za-z0-9_]{3,}")
_AROUND, _MOST = 12, 3


@dataclass(frozen=True)
class Clone:
    """A folder with a Git repository, and the commit whose files count."""

    path: Path
    commit: str

    def search(self, question: str, tokens: int) -> Iterator[Answer]:
        """The places where a symbol that the question names is defined, best first."""
        for symbol in dict.fromkeys(_SYMBOL.findall(question)):
            pattern = rf"^[[:space:]]*(async )?(def|class) {symbol}\b"
            found = self._git("grep", "-n", "-I", "-E", "-e", pattern, self.commit, "--", "*.py")
            for line in found.splitlines()[:_MOST]:
                _, path, number, _ = line.split(":", 3)
                source = f"{self.path.name}@{self.commit[:12]}:{path}:{number}"
                room = max(0, tokens * LETTERS_PER_TOKEN - len(symbol) - len(source) - 3)
                lines = self.read(path).splitlines()[int(number) - 1 : int(number) + _AROUND]
                text = "\n".join(lines)[:room]
                yield Answer(symbol, "source", "GitHub", path, source, text, 0.0)

    def read(self, path: str) -> str:
        """A file as it was at the commit.

        Raises:
            InputError: there is none.
        """
        text = self._git("show", f"{self.commit}:{path}")
        if not text:
            raise InputError(f"{self.path.name} has no {path}", f"At commit {self.commit}.")
        return text

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), "--no-pager", *arguments]
        quiet = {"PATH": os.environ.get("PATH", ""), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
                 "GIT_CONFIG_GLOBAL": os.devnull, "GIT_OPTIONAL_LOCKS": "0"}  # fmt: skip
        try:
            done = subprocess.run(  # noqa: S603  a fixed program; symbols are words
                command, capture_output=True, env=quiet, timeout=20, check=False
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def open_clones() -> tuple[Clone, ...]:
    """The clones that the environment names.

    Raises:
        InputError: it names one without a commit.
    """
    clones = []
    for given in filter(None, os.environ.get(VARIABLE, "").split(":")):
        named = _CLONE.fullmatch(given)
        if named is None:
            message = f"{VARIABLE} has {given!r}"
            raise InputError(message, "Give /path/to/clone@commit, several with : between.")
        clones.append(Clone(Path(named["path"]), named["commit"]))
    return tuple(clones)
