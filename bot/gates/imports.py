"""The gate `imports`: every module, name, attribute and operation is on the list of its class."""

from bot.gates.port import Case, Verdict
from bot.gates.refusal import counted, no_files, python_files, verdict_of
from bot.gates.static.file_class import class_by_path
from bot.gates.static.static_check import check_bytes
from bot.gates.static.vocabulary import FileClass


class ImportsGate:
    """Refuses what is not listed.

    Args:
        other: the class of files that lie in no folder of their own; `module` for contracts of
            that kind, else the strict one.
    """

    name = "imports"

    def __init__(self, other: FileClass = "strategy") -> None:
        self._other: FileClass = other

    def judge(self, case: Case) -> Verdict:
        """Check every Python file as what its path says it is."""
        files = python_files(case.files)
        if not files:
            return no_files(self.name)
        found = {
            path: check_bytes(content, class_by_path(path) or self._other)
            for path, content in files.items()
        }
        return verdict_of(self.name, found, counted(len(files)))
