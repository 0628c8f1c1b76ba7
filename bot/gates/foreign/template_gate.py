"""The gate `template`: of code that the template did not write, what is not its to write."""

import ast
from collections.abc import Mapping

from bot.gates.foreign.same_code import same_code
from bot.gates.foreign.strange_parts import find_strange_parts
from bot.gates.foreign.strange_reading import find_strange_reading
from bot.gates.port import Verdict

NAME = "template"


def judge_template(
    files: Mapping[str, bytes], written: Mapping[str, str], strategy: str, tests: str
) -> Verdict:
    """Judge a candidate beside what the template writes from the same contract.

    Args:
        files: the candidate.
        written: the template's files of the same paths.
        strategy: path of the strategy, which may differ where it decides.
        tests: path of the tests, which may differ: those that count are the template's.
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
