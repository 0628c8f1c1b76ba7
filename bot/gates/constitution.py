"""Judges by the gate `constitution`: a candidate touches its planned paths and nothing else."""

import unicodedata
from pathlib import PurePosixPath

from bot.gates.port import Case, Verdict

# fmt: off
# Seed 004's, and files that programs read to decide what they run.
PROTECTED_FILES = frozenset({
    "provenance.py", "modification_log.py", "self_modification.py", "constitutional.py",
    "__init__.py", "__main__.py", "conftest.py", "sitecustomize.py", "usercustomize.py",
    "setup.py", "setup.cfg", "pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "mypy.ini",
    ".mypy.ini", ".flake8", ".bandit", "ruff.toml", ".ruff.toml", "makefile", "codeowners",
    "stratwright.yml", "action.yml", ".gitattributes", ".gitmodules", ".gitignore", ".env",
    ".pre-commit-config.yaml",
})
# Where the law, the judges and the keys are.
PROTECTED_FOLDERS = frozenset({
    ".git", ".github", ".ci", "adapters", "approvals", "bot", "brain", "contracts", "docs",
    "integration", "sandbox_runner", "tools", "benchmarks",
})
# fmt: on


class ConstitutionGate:
    """Refuses files that nobody planned, and protected ones even if somebody did."""

    name = "constitution"

    def judge(self, case: Case) -> Verdict:
        """Checks every path of the candidate."""
        for path in sorted(case.files):
            reason = _refusal(path, case)
            if reason:
                step = "write only the files that the plan names"
                return Verdict(self.name, False, "1 refused", reason, ascii(path)[1:-1], step)
        if not case.files:
            reason, step = "the candidate has no files", "write the files that the plan names"
            return Verdict(self.name, False, "0 files", reason, "", step)
        count = len(case.files)
        return Verdict(self.name, True, f"{count} file{'' if count == 1 else 's'}")


def _refusal(path: str, case: Case) -> str:
    """Say why a path is refused; nothing if it is not."""
    if not is_plain_path(path):
        return "this path is not a plain relative path inside the repository"
    if path in case.links:
        return "this path is a symbolic link"
    parts = PurePosixPath(path).parts
    lowered = [part.lower() for part in parts]
    if lowered[-1] in PROTECTED_FILES:
        return "this file is protected: programs read it to decide what they run"
    if lowered[0] in {folder.lower() for folder in PROTECTED_FOLDERS}:
        return f"the folder {parts[0]} is protected"
    folders = {str(parent) for parent in PurePosixPath(path).parents}
    if folders & case.links:
        return "this path leads through a symbolic link"
    if path not in case.planned:
        return "the plan does not name this file"
    return ""


def is_plain_path(path: str) -> bool:
    """Tell whether a path is written in the one way that every program reads alike."""
    if not path or "\\" in path or ":" in path or path.startswith(("/", "~", "-")):
        return False
    if not path.isprintable() or unicodedata.normalize("NFC", path) != path:
        return False
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.endswith((".", " ")) for part in parts):
        return False
    return all(len(part.encode("utf-8")) <= 255 for part in parts)
