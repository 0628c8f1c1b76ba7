"""`stratwright verify`: does the evidence of a tag hold?"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

HELP = "compute the evidence of a tag again and say whether it holds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("tag", metavar="TAG", help="ai/<workflow>/<task>/<correlation_id>")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument("--json", action="store_true", help="print every check as JSON")


def run(args: argparse.Namespace) -> int:
    """Check everything; 0 if all of it holds, else 1."""
    from bot.repository import open_repository
    from bot.verification import verify

    findings = verify(args.tag, open_repository(args.repository, to_write=False))
    holds = all(finding.holds for finding in findings)
    if args.json:
        answer = {"holds": holds, "checks": [asdict(finding) for finding in findings]}
        sys.stdout.write(json.dumps(answer) + "\n")
        return 0 if holds else 1
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = "holds" if finding.holds else "BROKEN"
        sys.stdout.write(f"  {finding.name:<{width}}  {mark:<6}  {finding.detail}".rstrip() + "\n")
    broken = [finding.name for finding in findings if not finding.holds]
    verdict = f"the evidence does not hold: {broken[0]}" if broken else "the evidence holds"
    sys.stdout.write(f"{verdict}\n")
    return 0 if holds else 1
