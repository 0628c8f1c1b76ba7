"""The gate `syntax`: every file is plain UTF-8 Python of a reviewable size."""

from bot.gates.port import Case, Verdict
from bot.gates.refusal import counted, no_files, python_files, verdict_of
from bot.gates.static.syntax_tree import read_tree


class SyntaxGate:
    """Refuses what a reviewer would read differently than Python does."""

    name = "syntax"

    def judge(self, case: Case) -> Verdict:
        """Parse every Python file."""
        files = python_files(case.files)
        if not files:
            return no_files(self.name)
        found = {path: read_tree(content)[1] for path, content in files.items()}
        return verdict_of(self.name, found, counted(len(files)))
