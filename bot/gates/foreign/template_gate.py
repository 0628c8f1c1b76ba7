"""The gate `template`: of code that the template did not write, what is not its to write."""

import ast
from collections.abc import Mapping

from bot.gates.foreign.strange_parts import find_strange_parts
from bot.gates.foreign.strange_reading import find_strange_reading
from bot.gates.port import Verdict

NAME = "template"


def same_code(content: bytes, text: str) -> bool:
    """Tells whether two files are the same to Python."""
    try:
        return ast.dump(ast.parse(content)) == ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def judge_template(
    files: Mapping[str, bytes], written: Mapping[str, str], strategy: str, tests: str
) -> Verdict:
    """Judges a candidate beside the files that the template writes from the same contract.

    The strategy may differ where it decides, the tests too: those that count are the template's.
    """
    for path in sorted(set(files) - {strategy, tests}):
        if path not in written or not same_code(files[path], written[path]):
            step = "let the template write this file from the contract"
            return Verdict(NAME, False, "another file", "it is not the template's", path, step)
    tree, template = ast.parse(files[strategy]), ast.parse(written[strategy])
    found = [*find_strange_parts(tree, template), *find_strange_reading(tree, template)]
    if not found:
        return Verdict(NAME, True, "its parts are the template's")
    first = min(found, key=lambda finding: finding.line)
    where = f"{strategy}:{first.line}"
    return Verdict(NAME, False, f"{len(found)} findings", first.reason, where, first.next_step)
