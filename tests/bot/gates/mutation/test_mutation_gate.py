"""The tests of the examples kill every mutant; tests without teeth are refused."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.gates.mutation.mutation_gate import LEAST_SCORE, Mutation, try_mutants
from sandbox_runner.port import Sandbox, open_sandbox
from tests.chance import EVERY_ATTACK

HOUSE = Path(__file__).parents[4]
EXAMPLES = sorted((HOUSE / "contracts").glob("*.yaml"))
FEW = 12


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespace")


def tried(
    path: Path, sandbox: Sandbox, change: tuple[str, str] | None = None, most: int | None = None
) -> Mutation:
    contract = load_contract(path).strategy
    files = dict(TemplateCoder().write(contract, path.name).contents)
    if change is not None:
        name = f"tests/test_{contract.file_stem}.py"
        assert change[0].encode() in files[name]
        files[name] = files[name].replace(*(part.encode() for part in change))
    return try_mutants(contract, files, sandbox, most)


# The last one's are killed by the command below; those between by `make attacks`.
@pytest.mark.parametrize("path", EXAMPLES if EVERY_ATTACK else EXAMPLES[:1], ids=lambda p: p.stem)
def test_an_examples_tests_kill_every_mutant(path: Path, sandbox: Sandbox) -> None:
    mutation = tried(path, sandbox)
    assert [str(mutant) for mutant in mutation.survivors] == []
    assert len(mutation.mutants) > 30
    assert mutation.verdict.passed
    assert "error" not in mutation.killed.values()


def test_tests_without_teeth_are_refused(sandbox: Sandbox) -> None:
    blunt = ("\nimport pytest\n", "\nimport pytest\n\npytestmark = pytest.mark.skip\n")
    mutation = tried(EXAMPLES[0], sandbox, blunt, FEW)
    assert mutation.score < LEAST_SCORE
    assert not mutation.verdict.passed
    assert "a mistake: line" in mutation.verdict.reason
    assert mutation.verdict.where.startswith("line ")


def test_tests_that_fail_on_the_strategy_itself_prove_nothing(sandbox: Sandbox) -> None:
    failing = ("TRADES: list[Trade] = [", "TRADES: list[Trade] = [] and [")
    mutation = tried(EXAMPLES[0], sandbox, failing, FEW)
    assert mutation.killed == {}
    assert mutation.verdict.reason == "the tests fail on the strategy itself"


def test_the_command_adds_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", str(EXAMPLES[-1]), "--mutants", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["gates"][-1]["name"] == "mutation"
    assert told["mutants"]["survived"] == []
    assert told["mutants"]["killed"] == told["mutants"]["made"]
