"""`stratwright status`: where every task stands."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.commands.standing import Standing
    from bot.git.repository import Repository

HELP = "show what is proposed, blocked, merged or closed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print one block for each task."""
    from bot.commands.report import summary_at
    from bot.git.repository import open_repository
    from bot.report.headline import figure_line, figures_of

    repository = open_repository(args.repository, to_write=False)
    told = [
        (standing, summary_at(repository, standing.commit, standing.branch))
        for standing in read_standings(repository)
    ]
    if args.json:
        rows = [{**asdict(standing), "figures": figures_of(found)} for standing, found in told]
        text = json.dumps(rows, indent=2)
    elif told:
        text = "\n".join(_block(standing, figure_line(found)) for standing, found in told)
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
    for event in open_bus(repository.folder).read(TASK_EVENTS):
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


def _block(standing: "Standing", figures: str) -> str:
    pull = f"  #{standing.pull_request}" if standing.pull_request is not None else ""
    lines = [f"{standing.workflow}/{standing.task}  {standing.status}{pull}"]
    rows = {
        "run": standing.correlation_id,
        "branch": f"{standing.branch} {standing.commit[:12]}".rstrip(),
        "tag": standing.tag,
        "result": figures,
        "last": standing.last_event,
    }
    return "\n".join(lines + [f"  {label:<8}{value}" for label, value in rows.items() if value])
