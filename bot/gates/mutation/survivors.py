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

from bot.contract.language.idle_clauses import SEEDS, idle_clauses, market_bars
from bot.contract.language.program import compile_contract
from bot.contract.language.tree import Truth
from bot.contract.longer import minutes as minutes_of
from bot.contract.model import Contract
from bot.gates.asking import ask
from bot.gates.mutation.mutant_sources import Mutant
from sandbox_runner.jobs import LIKENESS_FILE, likeness_job
from sandbox_runner.port import Sandbox

_BATCH = 20


@dataclass(frozen=True)
class Likeness:
    """Holds what random markets say of mutants, by the mutant's number."""

    # Where a mutant first differs from the strategy, empty if nowhere.
    differs: Mapping[int, str] = field(default_factory=dict)
    # The columns and clauses of its statement that decide nothing there.
    idle: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    bars: int = 0  # how many bars were compared

    def is_undecided(self, mutant: Mutant) -> bool:
        """Tells whether nothing tells it from the strategy because no market decides it."""
        return self.differs.get(mutant.number) == "" and bool(self.idle.get(mutant.number))

    def is_argued(self, mutant: Mutant) -> bool:
        """Tells whether nothing tells it from the strategy, and something could have."""
        return self.differs.get(mutant.number) == "" and not self.idle.get(mutant.number)

    def why(self, mutant: Mutant) -> str:
        """Gives the argument, or what is against it."""
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
    minutes = minutes_of(contract.market.timeframe)
    statements = _statements(source)
    clauses = idle_clauses(contract, program, SEEDS) if survivors else {}
    differs: dict[int, str] = {}
    idle: dict[int, tuple[str, ...]] = {}
    for first in range(0, len(survivors), _BATCH):
        batch = survivors[first : first + _BATCH]
        sources = [mutant.source for mutant in batch]
        job = likeness_job(source, sources, bars=bars, minutes=minutes, seeds=SEEDS)
        outcome, _ = ask(job, sandbox)
        answer = _read(outcome.outputs.get(LIKENESS_FILE, b""), len(batch))
        if answer is None:
            continue
        constant, found = answer
        for mutant, where in zip(batch, found, strict=True):
            differs[mutant.number] = where
            words = set(re.findall(r"[a-z]\w*", statements.get(mutant.line, "")))
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
    """Gives the whole assignment that each line of a strategy belongs to, by line."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and node.end_lineno is not None:
            text = ast.unparse(node)
            found |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), text)
    return found


def _read(content: bytes, count: int) -> tuple[list[str], list[str]] | None:
    """Reads what the sandbox wrote; nothing of it is trusted."""
    try:
        told = json.loads(content)
        constant = [str(name)[:100] for name in told["constant"]]
        differs = [str(where)[:200] for where in told["differs"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (constant, differs) if len(differs) == count else None
