"""`stratwright report`: the evidence of a tag or of a refused run, as files to look at."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import InputError, StratwrightError
from bot.redaction import inert

if TYPE_CHECKING:
    from bot.git.repository import Repository


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
    from bot.commands.screen import show
    from bot.files import write_files
    from bot.git.repository import open_repository
    from bot.proof.evidence import read_gates
    from bot.report.headline import figures_of, told_lines
    from bot.report.terminal import equity_line, figure_table, gate_table

    repository = open_repository(args.repository, to_write=False)
    commit, files = find_evidence(repository, args.name)
    try:
        verdicts = read_gates(files.get("gates.json", b""))
    except ValueError as error:
        hint = "It is not the bot's; stratwright verify says what else is not."
        raise InputError(f"the evidence of {args.name} cannot be shown: {error}", hint) from None
    summary = read_summary(files.get("summary.json"))
    told = ""
    if summary.get("compact"):
        files, told = with_all_rows(repository, commit, files)
    write_files(args.out, files)
    if args.json:
        paths = {name: str(args.out / name) for name in files}
        gates = [verdict.to_dict() for verdict in verdicts]
        answer = {"files": paths, "gates": gates, "figures": figures_of(summary)}
        answer |= {"rows": told} if told else {}
        sys.stdout.write(json.dumps(answer) + "\n")
        return 0
    lines = [*told_lines(summary), equity_line(files.get("equity_curve.csv", b""))]
    show(inert("".join(f"{line}\n" for line in lines if line)))
    show(inert(f"\n{figure_table(summary)}\n{gate_table(verdicts)}\n"))
    shown = "report.html" if "report.html" in files else "gates.json"
    show((f"{inert(told)}\n" if told else "") + f"open {args.out / shown}\n")
    return 0


def read_summary(content: bytes | None) -> dict[str, Any]:
    """The figures of a summary.json; none where there is no such file or it cannot be read."""
    try:
        summary = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    return summary if isinstance(summary, dict) else {}


def summary_at(repository: "Repository", commit: str, branch: str) -> dict[str, Any]:
    """The figures of a candidate's commit."""
    if not commit:
        return {}
    folder = branch.replace("ai/generated", "artifacts", 1)
    return read_summary(repository.read(commit, f"{folder}/summary.json"))


def with_all_rows(
    repository: "Repository", commit: str, files: dict[str, bytes]
) -> tuple[dict[str, bytes], str]:
    """The evidence with every row where that can be computed, and a sentence that says so."""
    from bot.proof.whole_results import whole_results

    if not commit:
        return files, "a part of the rows is written: a refused run has no commit to compute from"
    try:
        whole = whole_results(repository, commit, files)
    except StratwrightError as error:
        return files, f"a part of the rows is written: {error.message}"
    return {**files, **whole}, f"all rows are written: {', '.join(whole)} were computed again"


def find_evidence(repository: "Repository", name: str) -> tuple[str, dict[str, bytes]]:
    """The commit and the files of evidence of a tag, or no commit and those of a refused run.

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
        return commit, {key: content for key, content in found.items() if content is not None}
    runs = repository.folder / "runs"
    for gates in sorted(runs.glob("*/artifacts/*/*/gates.json")):
        if gates.relative_to(runs).parts[0] == name:
            return "", {path.name: path.read_bytes() for path in sorted(gates.parent.iterdir())}
    hint = "stratwright status lists what there is."
    raise InputError(f"there is no tag and no refused run {name}", hint)
