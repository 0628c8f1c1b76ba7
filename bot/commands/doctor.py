"""`stratwright doctor`: what is here, what is missing, which sandbox, which gates will run."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.health.machine import Finding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument("--sandbox", default="auto", help="which to try; default: auto")
    parser.add_argument(
        "--github", action="store_true", help="look at the repository on GitHub too (GITHUB_TOKEN)"
    )
    parser.add_argument(
        "--serve", action="store_true", help="look at what `serve` needs, and not at a repository"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print every finding; 4 if a contract could not be run here."""
    from bot.health.machine import examine_machine

    machine = examine_machine(None if args.serve else args.repository, args.sandbox)
    if args.serve:
        from bot.health.server import examine_server

        machine = (*machine, *examine_server())
    else:
        from bot.health.approval import examine_approval

        machine = (*machine, examine_approval(args.repository))
    remote = look_at_github(args.repository) if args.github else ()
    findings = (*machine, *remote)
    runs, works = _well(machine), _well(remote)
    well = runs and works
    if args.json:
        answer = {"well": well, "findings": [asdict(finding) for finding in findings]}
        sys.stdout.write(json.dumps(answer) + "\n")
        return 0 if well else 4
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = "ok" if finding.well else ("MISSING" if finding.needed else "-")
        sys.stdout.write(f"  {finding.name:<{width}}  {mark:<7}  {finding.detail}\n")
        if finding.hint and not finding.well:
            sys.stdout.write(f"  {'':<{width}}           {finding.hint}\n")
    command = "serve" if args.serve else "run CONTRACT"
    end = "will work here" if runs else "cannot work here yet"
    sys.stdout.write(f"stratwright {command} {end}\n")
    if remote:
        state = "has what the workflow needs" if works else "lacks something that it needs"
        sys.stdout.write(f"the repository on GitHub {state}\n")
    return 0 if well else 4


def _well(findings: "tuple[Finding, ...]") -> bool:
    return all(finding.well for finding in findings if finding.needed)


def look_at_github(place: Path) -> "tuple[Finding, ...]":
    """What GitHub says about the repository; without a token, that one is missing."""
    from bot.errors import StratwrightError
    from bot.forge.github.opening import open_github
    from bot.git.repository import open_repository
    from bot.health.machine import Finding

    try:
        forge = open_github(open_repository(place, to_write=False))
    except StratwrightError as error:
        return (Finding("github", False, error.message, error.hint),)
    from bot.health.github import examine_github

    return examine_github(forge)
