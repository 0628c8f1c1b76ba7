"""`stratwright status`: where every task stands."""

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from bot.commands.approve import add_desk

if TYPE_CHECKING:
    from bot.bus.port import Event
    from bot.commands.standing import Standing
    from bot.git.repository import Repository

_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add_desk(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print one block for each task."""
    from bot.commands.report import summary_at
    from bot.commands.standing import told_of_models
    from bot.git.repository import open_repository
    from bot.report.headline import figure_line, figures_of

    repository = open_repository(args.repository, to_write=False)
    told = [
        (standing, summary_at(repository, standing.commit, standing.branch))
        for standing in read_standings(repository)
    ]
    approvals = read_approvals(args)
    unread = approvals.get("", [])
    if args.json:
        rows = [
            {
                **asdict(standing),
                "figures": figures_of(found),
                "approvals": approvals.get(f"{standing.workflow}/{standing.task}", unread),
            }
            for standing, found in told
        ]
        text = json.dumps(rows, indent=2)
    elif told:
        blocks = []
        for standing, found in told:
            approval = approvals.get(f"{standing.workflow}/{standing.task}", unread)
            blocks.append(_block(standing, figure_line(found), "\n          ".join(approval)))
        summed = told_of_models(read_runs(repository))
        text = "\n".join([*blocks, *([summed] if summed else [])])
    else:
        text = "nothing proposed yet; stratwright run CONTRACT does"
    sys.stdout.write(text + "\n")
    return 0


def read_standings(repository: "Repository") -> "list[Standing]":
    """Gather refs, pull requests and events of every task that has any."""
    from bot.bus.port import TASK_EVENTS, Event, open_bus
    from bot.commands.standing import make_standing
    from bot.errors import InputError
    from bot.forge.port import open_forge
    from bot.git.identity import TaskName, task_of_branch

    history: dict[TaskName, list[Event]] = {}
    for event in open_bus(repository.folder, repository.repository_id).read(TASK_EVENTS):
        try:
            history.setdefault(TaskName(event.workflow, event.task), []).append(event)
        except InputError:
            continue
    newest = {
        task_of_branch(pull.draft.branch): pull for pull in open_forge("local", repository).pulls()
    }
    tasks = {*repository.tasks(), *history, *(task for task in newest if task)}
    return [
        make_standing(task, repository.refs(task), newest.get(task), history.get(task, ()))
        for task in sorted(tasks)
    ]


def read_runs(repository: "Repository") -> "dict[str, list[Event]]":
    """Gather the events of every run by its name."""
    from bot.bus.port import TASK_EVENTS, open_bus

    runs: dict[str, list[Event]] = {}
    for event in open_bus(repository.folder, repository.repository_id).read(TASK_EVENTS):
        runs.setdefault(event.correlation_id, []).append(event)
    return runs


def read_approvals(args: argparse.Namespace) -> dict[str, list[str]]:
    """Say of the newest approvals in the chain where they stand, by task.

    What cannot be judged is said of all tasks, under no name.
    """
    from bot.approval.admission import state_of
    from bot.approval.claims import Claim, read_claims
    from bot.commands.approve import open_desk
    from bot.errors import StratwrightError

    desk = open_desk(args)
    found: dict[str, list[str]] = {}
    claims: dict[str, list[Claim]] = {}
    try:
        for claim in read_claims(desk.chain(alone=True)):
            claims.setdefault(claim.record.scope, []).append(claim)
        for scope, given in claims.items():
            newest = given[: -_SHOWN - 1 : -1]
            seen = {tag: desk.look(tag).facts for tag in {each.record.tag for each in newest}}
            found[scope] = [state_of(each, seen[each.record.tag]) for each in newest]
    except StratwrightError as error:
        told = f"not judged: {error.message}"
        return {scope: [told] for scope in claims} or {"": [told]}
    return found


def _block(standing: "Standing", figures: str, approval: str) -> str:
    pull = f"  #{standing.pull_request}" if standing.pull_request is not None else ""
    lines = [f"{standing.workflow}/{standing.task}  {standing.status}{pull}"]
    rows = {
        "run": standing.correlation_id,
        "branch": f"{standing.branch} {standing.commit[:12]}".rstrip(),
        "tag": standing.tag,
        "result": figures,
        "coder": standing.coder,
        "approval": approval,
        "last": standing.last_event,
    }
    return "\n".join(lines + [f"  {label:<9} {value}" for label, value in rows.items() if value])
