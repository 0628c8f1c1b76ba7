"""Finds whether a mutant that no test kills is a mistake at all.

A survivor is held against the strategy on random markets: every column, every order and exit,
asked for and read from the arrays, at every bar. Where one differs it is a mistake that the tests
miss. Where none does, that is the argument that it is none. Where the statement in question reads
a column that never changes, or has a clause that never decides on those markets, nothing was
compared that could have differed: the mutant is undecided, and the clause is named with the reason.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from Backtest.times import timeframe_ms
from bot.contract.language.idle_clauses import SEEDS, idle_clauses, market_bars
from bot.contract.language.program import compile_contract
from bot.contract.language.tree import Truth
from bot.contract.model import Contract
from bot.errors import WorldError
from bot.gates.mutation.mutant_sources import Mutant
from sandbox_runner.jobs import LIKENESS_FILE, likeness_job
from sandbox_runner.port import Sandbox, SandboxUnavailable

_BATCH = 20


@dataclass(frozen=True)
class Likeness:
    """What random markets say of mutants, by the mutant's number.

    Attributes:
        differs: where a mutant first differs from the strategy, empty if nowhere.
        idle: the columns and clauses of its statement that decide nothing there.
        bars: how many bars were compared.
    """

    differs: Mapping[int, str] = field(default_factory=dict)
    idle: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    bars: int = 0

    def is_undecided(self, mutant: Mutant) -> bool:
        """Whether nothing tells it from the strategy, and nothing could: no market decides it."""
        return self.differs.get(mutant.number) == "" and bool(self.idle.get(mutant.number))

    def is_argued(self, mutant: Mutant) -> bool:
        """Whether nothing tells it from the strategy, and something could have."""
        return self.differs.get(mutant.number) == "" and not self.idle.get(mutant.number)

    def why(self, mutant: Mutant) -> str:
        """The argument, or what is against it."""
        found = self.differs.get(mutant.number)
        if found is None:
            return "not compared"
        if found:
            return f"a mistake: it differs on {found}"
        idle = self.idle.get(mutant.number)
        if idle:
            return f"undecided in {self.bars} bars: {', '.join(idle)}"
        same = "the same columns, orders and exits"
        return f"not told apart: {same} at {self.bars} bars of {len(SEEDS)} markets"


def compare(
    contract: Contract, source: str, survivors: Sequence[Mutant], sandbox: Sandbox
) -> Likeness:
    """Hold survivors against the strategy, in the sandbox.

    Raises:
        WorldError: the sandbox itself failed.
    """
    program = compile_contract(contract)
    # `always` is the same at every bar because the contract says so.
    stated = {rule for rule, tree in program.rules.items() if isinstance(tree, Truth)}
    bars = market_bars(program)
    minutes = timeframe_ms(contract.market.timeframe) // 60_000
    statements = _statements(source)
    clauses = idle_clauses(contract, program, SEEDS) if survivors else {}
    differs: dict[int, str] = {}
    idle: dict[int, tuple[str, ...]] = {}
    for first in range(0, len(survivors), _BATCH):
        batch = survivors[first : first + _BATCH]
        job = likeness_job(
            source,
            [mutant.source for mutant in batch],
            bars=bars,
            minutes=minutes,
            seeds=SEEDS,
        )
        try:
            outcome = sandbox.run(job)
        except SandboxUnavailable as error:
            raise WorldError(error.message, error.hint) from None
        answer = _read(outcome.outputs.get(LIKENESS_FILE, b""), len(batch))
        if answer is None:
            continue
        constant, found = answer
        for mutant, where in zip(batch, found, strict=True):
            differs[mutant.number] = where
            words = _words(statements.get(mutant.line, ""))
            names = [
                f"{name} is the same at every bar"
                for name in constant
                if name not in stated and name.replace(".", "_") in words
            ]
            for rule in words & set(clauses):
                names += clauses[rule]
            idle[mutant.number] = tuple(names)
    return Likeness(differs, idle, bars * len(SEEDS))


def _statements(source: str) -> dict[int, str]:
    """The whole assignment that each line of a strategy belongs to, by line."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and node.end_lineno is not None:
            text = ast.unparse(node)
            found |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), text)
    return found


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]\w*", text))


def _read(content: bytes, count: int) -> tuple[list[str], list[str]] | None:
    """What the sandbox wrote, as one reads a stranger's letter."""
    try:
        told = json.loads(content)
        constant = [str(name)[:100] for name in told["constant"]]
        differs = [str(where)[:200] for where in told["differs"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (constant, differs) if len(differs) == count else None
