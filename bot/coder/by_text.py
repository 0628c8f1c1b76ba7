"""Gives every coder the methods that work on a contract's text and on folders."""

import time
from collections.abc import Mapping
from pathlib import Path

from bot.coder.constitution import violations
from bot.coder.port import Candidate, CoderResult, Failure
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.contract.model import AnyContract
from bot.errors import InputError, StratwrightError
from bot.files import write_files
from bot.gates.port import Case
from bot.gates.table import STATIC

_PATH = "contracts/contract.yaml"


class ByText:
    """Executes, analyses and debugs on top of `write`; counts what it did."""

    def __init__(self) -> None:
        self._done: list[CoderResult] = []
        self._first_tries = 0

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Write the files; each coder has its own."""
        raise NotImplementedError

    def loaded(self, text: str, path: Path, error: str = "") -> tuple[LoadedContract, int, int]:
        """Read a contract's text; gives it with the turns and the millionths that it took.

        `error` is what was wrong with an earlier answer; without a model there is none.
        """
        return parse_contract(text.encode(), FORMS.get(path.suffix, "yaml"), path), 0, 0

    def execute(self, prompt: str, context: Mapping[str, object]) -> CoderResult:
        """Write the files of a contract, below `root` if there is one."""
        return self._execute(prompt, context, "")

    def _execute(self, prompt: str, context: Mapping[str, object], wrong: str) -> CoderResult:
        begun = time.monotonic()
        path, at_first = str(context.get("path", _PATH)), False
        try:
            loaded, turns, cost = self.loaded(prompt, Path(path), wrong)
            candidate = self.write(loaded.contract, path)
            at_first = turns <= 1 and not candidate.refused
            files, turns, cost = candidate.files, turns + candidate.turns, cost + candidate.cost
            if "root" in context:
                write_files(Path(str(context["root"])), files)
            result = CoderResult(True, loaded.data.decode(), None, cost / 1e6, sorted(files), turns)
        except StratwrightError as error:
            words = f"{error.message}\n{error.hint}".strip()
            cost, turns = error.cost, error.turns
            result = CoderResult(False, "", None, cost / 1e6, [], turns, 0, words)
        result.duration_ms = round((time.monotonic() - begun) * 1000)
        if result.success and not self.validate_result(result):
            result.success, result.error = False, "it changed files that a coder may not change"
        self._first_tries += result.success and at_first
        self._done.append(result)
        return result

    def analyze(self, file_path: str, question: str) -> CoderResult:
        """Say what the static gates say of a file; no model is asked."""
        try:
            data = Path(file_path).read_bytes()
        except OSError as error:
            return CoderResult(False, "", error=f"{file_path}: {error.strerror}")
        name = Path(file_path).name
        folder = "tests" if name.startswith("test_") else "Backtest/codes"
        case = Case({f"{folder}/{name}": data}, frozenset({f"{folder}/{name}"}))
        verdicts = [gate.judge(case) for gate in STATIC]
        lines = [f"{v.name}: {'passed' if v.passed else v.reason}" for v in verdicts]
        return CoderResult(True, "\n".join(lines))

    def debug(self, error_description: str, context: Mapping[str, object]) -> CoderResult:
        """Execute the contract again, with the error in view of whoever answers its prose.

        Raises:
            InputError: the context has no contract.
        """
        text = context.get("contract")
        if not isinstance(text, str):
            raise InputError("debug needs the contract's text", "Give it as context['contract'].")
        return self._execute(text, context, error_description)

    def validate_result(self, result: CoderResult) -> bool:
        """Check that only files of the generated folders were changed."""
        return not violations(result.files_modified)

    def get_statistics(self) -> dict[str, float]:
        """Count what was executed so far."""
        done = self._done
        good = [result for result in done if result.success]
        return {
            "invocations": len(done),
            "successes": len(good),
            "first_try": self._first_tries,
            "turns": sum(result.turns_used for result in done),
            "cost_usd": sum(result.cost_usd for result in done),
        }
