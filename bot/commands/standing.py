"""Refs, pull requests and events to one line about each task: proposed, blocked, merged, closed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.bus.port import Event, EventName
from bot.forge.port import PullRequest, PullState
from bot.git.identity import TaskName
from bot.git.refs import Refs
from bot.report.figures import counted

_BLOCKING = frozenset(
    {
        EventName.CODER_FAILED,
        EventName.CODER_VALIDATION_FAILED,
        EventName.TEST_FAILED,
        EventName.TODO_CREATED,
    }
)
_DELIVERING = frozenset({EventName.ARTIFACT_COMMITTED, EventName.PR_OPENED})
_WORDS = {
    PullState.OPEN: "proposed",
    PullState.CLOSED: "closed",
    PullState.MERGED: "merged",
}


@dataclass(frozen=True)
class Standing:
    """Where a task stands.

    Attributes:
        status: proposed, merged or closed by its pull request; blocked if its newest run was
            refused; committed if there is a tag and no pull request; running if neither.
        last_event: the newest thing that happened to it.
        coder: how many rounds models took in its newest run, and for how much; empty without one.
    """

    workflow: str
    task: str
    status: str
    correlation_id: str
    branch: str
    tag: str
    commit: str
    pull_request: int | None
    last_event: str
    coder: str = ""


def make_standing(
    task: TaskName,
    refs: Refs,
    pull: PullRequest | None,
    events: Iterable[Event],
) -> Standing:
    """Judge one task.

    Args:
        task: which.
        refs: its branch and tags.
        pull: its newest pull request.
        events: what happened to it, oldest first.
    """
    history = list(events)
    telling = [event for event in history if event.name in _BLOCKING | _DELIVERING]
    refused = bool(telling) and telling[-1].name in _BLOCKING
    named = [name for name, tag in refs.tags.items() if tag.commit == refs.tip]
    # By number: the tenth candidate comes after the second.
    by_number = sorted(named or refs.tags, key=lambda name: task.attempt(name) or ("", 0))
    tag = pull.draft.tag if pull else (by_number or [""])[-1]
    found = task.attempt(tag)
    known = found[0] if found else ""
    newest = history[-1] if history else None
    if refused and telling[-1].correlation_id != known:
        status, known, tag = "blocked", telling[-1].correlation_id, ""
    elif pull:
        status = _WORDS[pull.state]
    elif tag:
        status = "committed"
    else:
        status, known = "running", newest.correlation_id if newest else ""
    commit = refs.tags[tag].commit if tag in refs.tags else ""
    return Standing(
        workflow=task.workflow,
        task=task.task,
        status=status,
        correlation_id=known,
        branch=task.branch,
        tag=tag,
        commit=commit,
        pull_request=pull.number if pull else None,
        last_event=f"{newest.timestamp} {newest.name}" if newest else "",
        coder=_coder([event for event in history if event.correlation_id == known]),
    )


def _coder(events: list[Event]) -> str:
    rounds, cost = rounds_and_cost(events)
    return f"{counted(rounds, 'round')}, {cost:.6f} US dollars" if cost else ""


def rounds_and_cost(events: Iterable[Event]) -> tuple[int, float]:
    """Counts how often a run asked its coder, and what models cost it in all."""
    rounds, cost = 0, 0.0
    for event in events:
        if event.name is EventName.TASK_DISPATCHED:
            rounds = 0
        rounds += event.name is EventName.CODER_INVOKED
        spent = event.data.get("cost_usd")
        # Each round tells the sum of all so far.
        cost = max(cost, spent) if isinstance(spent, float) else cost
    return rounds, cost


def told_of_models(runs: Mapping[str, Sequence[Event]]) -> str:
    """Sums up all runs in which a model was paid; empty if there was none."""
    spent = {name: rounds_and_cost(events) for name, events in runs.items()}
    paid = {name: found for name, found in spent.items() if found[1]}
    if not paid:
        return ""
    passed = [
        name for name in paid if any(event.name is EventName.TEST_PASSED for event in runs[name])
    ]
    first = sum(paid[name][0] == 1 for name in passed)
    rounds = sum(found[0] for found in paid.values()) / len(paid)
    cost = sum(found[1] for found in paid.values())
    return (
        f"models: {counted(len(paid), 'run')}, {len(passed)} passed, {first} at the first try "
        f"({first / len(paid):.0%}), {rounds:.1f} rounds each, {cost:.6f} US dollars"
    )
