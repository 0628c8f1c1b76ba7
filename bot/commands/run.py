"""`stratwright run`: contracts through the whole line, to pull requests."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError, StratwrightError

if TYPE_CHECKING:
    from bot.pipeline import Result
    from bot.progress import Progress
    from bot.proof.edges import Workshop
    from bot.report.figures import Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "contracts", nargs="+", type=Path, metavar="CONTRACT", help="a .yaml or .json file"
    )
    parser.add_argument("--forge", default="local", help="where pull requests go; default: local")
    parser.add_argument("--sandbox", default="auto", help="where code runs; default: auto")
    parser.add_argument(
        "--regenerate", action="store_true", help="propose again what was closed or delivered"
    )
    parser.add_argument(
        "--require-targets",
        action="store_true",
        help="stop if a target cannot be proven here, instead of leaving it out",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run every gate again, whatever is remembered"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a contract")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def run(args: argparse.Namespace) -> int:
    """Run every contract; the exit code is the worst of all."""
    from bot.commands.failure import show_error
    from bot.files import repository_root
    from bot.progress import Progress
    from bot.workshop import open_workshop

    paths = in_order(args.contracts)
    progress = Progress(quiet=args.quiet)
    shop = open_workshop(
        repository_root(paths[0]),
        forge=args.forge,
        sandbox=args.sandbox,
        regenerate=args.regenerate,
        require_targets=args.require_targets,
        fresh=args.fresh,
        progress=progress,
    )
    codes = []
    for path in paths:
        try:
            codes.append(run_one(path, shop, progress, as_json=args.json))
        except StratwrightError as error:
            codes.append(show_error(error, as_json=args.json))
    return max(codes)


def run_one(path: Path, shop: "Workshop", progress: "Progress", *, as_json: bool) -> int:
    """Run one contract and print what became of it."""
    from bot.commands.screen import show
    from bot.pipeline import run_line
    from bot.report.headline import figures_of

    progress.stage(path.stem, unit="parts")
    with progress:
        result = run_line(path, shop)
    summary = _summary(result, shop)
    if as_json:
        answer = {**result.to_dict(), "figures": figures_of(summary)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    else:
        read = f"stratwright report {result.correlation_id}" if result.exit_code else ""
        if result.pull_request is not None and shop.forge.kind == "local":
            read = f"stratwright pr show {result.pull_request}"
        show(f"{describe(result, summary)}\n" + (f"Next:\n  {read}\n" if read else ""))
    return result.exit_code


def in_order(paths: list[Path]) -> list[Path]:
    """The contracts, each after those of its workflow that its `after` names."""
    from bot.contract.load import load_contract

    given = list(dict.fromkeys(paths))
    names: dict[tuple[str, str], Path] = {}
    needs: dict[Path, list[tuple[str, str]]] = {}
    for path in given:
        try:
            contract = load_contract(path, models=True).contract
        except InputError:
            needs[path] = []  # told when its turn comes; the others are not held up
            continue
        other = names.setdefault((contract.workflow, contract.task), path)
        if other != path:
            message = f"{other} and {path} are both {contract.workflow}/{contract.task}"
            raise InputError(message, "One branch has one contract: give one another task.")
        needs[path] = [(contract.workflow, task) for task in contract.after]
    ordered: list[Path] = []
    while len(ordered) < len(given):
        ready = [
            path
            for path in given
            if path not in ordered
            and all(names.get(need, path) in (path, *ordered) for need in needs[path])
        ]
        if not ready:
            stuck = ", ".join(str(path) for path in given if path not in ordered)
            raise InputError(f"these contracts wait for each other: {stuck}", "Mend `after`.")
        ordered.append(ready[0])
    return ordered


def _summary(result: "Result", shop: "Workshop") -> "Summary":
    """The figures of what was proposed, or of what was refused."""
    from bot.commands.report import read_summary, summary_at

    if result.commit:
        return summary_at(shop.repository, result.commit, result.branch)
    found = sorted(Path(result.artifacts).glob("artifacts/*/*/summary.json"))
    return read_summary(found[0].read_bytes() if result.artifacts and found else None)


def describe(result: "Result", summary: "Summary") -> str:
    """What became of a contract, for people."""
    from bot.redaction import inert
    from bot.report.headline import told_lines
    from bot.report.terminal import gate_table

    lines = [f"{result.status}  {result.correlation_id}"]
    lines += [f"  {line}" for line in told_lines(summary)]
    if result.note:
        lines.append(f"  {inert(result.note)}")
    rows = {
        "branch": f"{result.branch} {result.commit[:12]}" if result.commit else "",
        "tag": result.tag,
        "pull request": f"#{result.pull_request}" if result.pull_request is not None else "",
        # What is proposed is not in the checkout.
        "evidence": f"{result.artifacts} on the branch" if result.commit else result.artifacts,
    }
    lines += [f"  {label:<14}{value}" for label, value in rows.items() if value]
    if result.gates:
        lines += ["", gate_table(result.gates, result.remembered)]
    return "\n".join(lines)
