"""Turns a check of one file into a gate: what it refuses in any of them is the gate's answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.gates.port import Case, Verdict
from bot.gates.static.offence import Offence


@dataclass(frozen=True)
class FileGate:
    """Judges each file of a candidate by itself; the first offence says where."""

    name: str
    # Finds what is refused in a file, from its path and its bytes.
    check: Callable[[str, bytes], Sequence[Offence]]
    # Whether it reads all files; else the Python ones, and there must be one.
    every_file: bool = False

    def judge(self, case: Case) -> Verdict:
        """Checks the files in the order of their paths."""
        paths = sorted(case.files)
        if not self.every_file:
            paths = [path for path in paths if path.endswith((".py", ".pyi", ".pyw"))]
            if not paths:
                reason = "the candidate has no Python file"
                step = "write the files that the plan names"
                return Verdict(self.name, False, "0 files", reason, "", step)
        found = {path: self.check(path, case.files[path]) for path in paths}
        refused = [(path, offence) for path in paths for offence in found[path]]
        if not refused:
            return Verdict(self.name, True, f"{len(paths)} file{'' if len(paths) == 1 else 's'}")
        path, first = refused[0]
        more = f" ({len(refused) - 1} more)" if len(refused) > 1 else ""
        reason = f"{first.name}: {first.why}{more}"
        where = f"{path}:{first.line}" if first.line else path
        return Verdict(self.name, False, f"{len(refused)} refused", reason, where, first.instead)
