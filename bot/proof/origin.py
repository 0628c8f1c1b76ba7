"""A candidate to whether the template wrote it: the same code, whatever its comments and layout."""

from collections.abc import Mapping

from bot.coder.template.template_coder import freqtrade_text, strategy_text, tests_text
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.gates.foreign.template_gate import same_code


def template_files(contract: Contract, program: Program, paths: frozenset[str]) -> dict[str, str]:
    """What the template writes from a contract, as far as it is among the paths.

    Raises:
        InputError: the template cannot write it.
    """
    writers = {
        contract.strategy_file: strategy_text,
        contract.tests_file: tests_text,
        contract.freqtrade_file: freqtrade_text,
    }
    wanted = {path: write for path, write in writers.items() if path in paths}
    return {path: write(contract, program, "") for path, write in wanted.items()}


def is_the_templates(files: Mapping[str, bytes], written: Mapping[str, str]) -> bool:
    """Whether every file of a candidate is the template's code."""
    return set(files) == set(written) and all(
        same_code(files[path], text) for path, text in written.items()
    )
