"""`stratwright report`: the evidence of a tag or of a refused run, as files to look at."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import InputError
from bot.redaction import inert

if TYPE_CHECKING:
    from bot.repository import Repository

HELP = "write out the evidence of a tag or of a refused run, and show its gates"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("name", metavar="TAG|CORRELATION_ID", help="as `run` and `status` print it")
    parser.add_argument(
        "--out", type=Path, default=Path("report"), metavar="DIR", help="default: report"
    )
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument("--json", action="store_true", help="print paths and verdicts as JSON")


def run(args: argparse.Namespace) -> int:
    """Write the files and print the gate table."""
    from bot.evidence import read_gates
    from bot.report.headline import figures_of, told_lines
    from bot.report.terminal import gate_table
    from bot.repository import open_repository
    from bot.written import write_files

    files = find_evidence(open_repository(args.repository, to_write=False), args.name)
    try:
        verdicts = read_gates(files.get("gates.json", b""))
    except ValueError as error:
        hint = "It is not the bot's; stratwright verify says what else is not."
        raise InputError(f"the evidence of {args.name} cannot be shown: {error}", hint) from None
    write_files(args.out, files)
    summary = read_summary(files.get("summary.json"))
    if args.json:
        paths = {name: str(args.out / name) for name in files}
        gates = [verdict.to_dict() for verdict in verdicts]
        answer = {"files": paths, "gates": gates, "figures": figures_of(summary)}
        sys.stdout.write(json.dumps(answer) + "\n")
        return 0
    sys.stdout.write(inert("".join(f"{line}\n" for line in told_lines(summary))))
    sys.stdout.write(inert(gate_table(verdicts)) + "\n")
    shown = "report.html" if "report.html" in files else "gates.json"
    sys.stdout.write(f"open {args.out / shown}\n")
    return 0


def read_summary(content: bytes | None) -> dict[str, Any]:
    """The figures of a summary.json; none where there is no such file or it cannot be read."""
    try:
        summary = json.loads(content or b"{}")
    except ValueError:
        return {}
    return summary if isinstance(summary, dict) else {}


def summary_at(repository: "Repository", commit: str, branch: str) -> dict[str, Any]:
    """The figures of a candidate's commit."""
    if not commit:
        return {}
    folder = branch.replace("ai/generated", "artifacts", 1)
    return read_summary(repository.read(commit, f"{folder}/summary.json"))


def find_evidence(repository: "Repository", name: str) -> dict[str, bytes]:
    """The files of evidence of a tag, or of the refused run that an id names.

    Raises:
        InputError: there is none.
    """
    tags = [
        tag
        for task in repository.tasks()
        for tag in repository.refs(task).tags
        if name in (tag, tag.rpartition("/")[2])
    ]
    for tag in tags:
        commit = repository.commit_of(f"refs/tags/{tag}")
        folder = "/".join(["artifacts", *tag.split("/")[1:3]])
        paths = repository.paths(commit, folder)
        found = {path.rpartition("/")[2]: repository.read(commit, path) for path in paths}
        return {key: content for key, content in found.items() if content is not None}
    runs = repository.folder / "runs"
    for gates in sorted(runs.glob("*/artifacts/*/*/gates.json")):
        if gates.relative_to(runs).parts[0] == name:
            return {path.name: path.read_bytes() for path in sorted(gates.parent.iterdir())}
    hint = "stratwright status lists what there is."
    raise InputError(f"there is no tag and no refused run {name}", hint)
