"""Turns a proven candidate into entries for the brain: what came of it, and what mended a failure.

One file for each entry, named by the run, so that open pull requests never meet in one file;
`stratwright brain consolidate` gathers them. Same run, same bytes: there is no date in them.
"""

import re
from dataclasses import replace

from bot.git.repository import Repository
from bot.plan.todo import Todo, TodoList
from bot.proof.line import Proven
from bot.settings import FILE, parse_settings

LOG = "brain/logs/entries/{}.md"
LEARNED = "brain/learnings/entries/{}.md"
_LONGEST = 200


def wants_entries(repository: Repository, commit: str) -> bool:
    """Says whether the settings of a commit ask for entries; a candidate's own never count."""
    written = repository.read(commit, FILE)
    return b"entries" in (written or b"") and parse_settings(written).brain.entries


def entry_paths(correlation_id: str) -> tuple[str, ...]:
    """Gives the files that a run may add to the brain."""
    return tuple(place.format(correlation_id) for place in (LOG, LEARNED))


def planned_entries(plan: TodoList, correlation_id: str) -> TodoList:
    """Gives the plan with the files that a run may add to the brain."""
    todo = Todo(
        "brain",
        "What was learned",
        ("Each entry is one line of its page's table, and says what the gates said.",),
        entry_paths(correlation_id),
        (),
        (),
        tuple(f"brain/{page}" for page in ("logs/LOG-001-generation.md",
                                           "learnings/LEARN-007-errors-and-fixes.md")),
        (plan.todos[-1].id,),
    )  # fmt: skip
    return replace(plan, todos=(*plan.todos, todo))


def entry_files(proven: Proven) -> dict[str, bytes]:
    """Gives the entry for LOG-001 and, where an earlier round failed, the one for LEARN-007."""
    origin, failures = proven.work.origin, proven.failures
    judged = proven.examination.judgement
    trades = int(judged.summary["total_trades"]) if judged is not None else 0
    outcome = f"proposed: {len(proven.verdicts)} gates passed, {trades} trades"
    # A candidate that was taken over knows itself what was refused before it.
    refused = proven.candidate.refused or tuple(v for each in failures for v in each.verdicts)
    gates = [verdict.name for verdict in refused]
    lesson = f"refused before by {', '.join(dict.fromkeys(gates))}" if gates else "none: first try"
    run = origin.correlation_id
    rows: dict[str, tuple[str, ...]] = {LOG: (run, f"`{origin.contract_path}`", outcome, lesson)}
    if refused:
        worst = refused[-1] if proven.candidate.refused else failures[-1].verdicts[0]
        named = f"{worst.name} refused {worst.where}".strip()
        last = max(proven.candidate.round, len(failures) + 1)
        rows[LEARNED] = (named, worst.reason, f"round {last} of {run} passed")
    return {place.format(run): _row(cells).encode() for place, cells in rows.items()}


def _row(cells: tuple[str, ...]) -> str:
    """One line of a table; what a gate quotes of a candidate is kept short and harmless."""
    plain = (re.sub(r"[^\x20-\x7e]+", " ", cell).replace("|", "/") for cell in cells)
    short = (re.sub(r"[<>\[\]]", "", cell).strip()[:_LONGEST] or "-" for cell in plain)
    return f"| {' | '.join(short)} |\n"
