"""`stratwright verify`: does the evidence of a tag hold?"""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.git.repository import Repository
    from bot.proof.findings import Verification
    from bot.report.figures import Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("tag", metavar="TAG", help="ai/<workflow>/<task>/<correlation_id>")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run no code: finds many changes, names what it left out, and never says that "
        "the evidence holds",
    )
    parser.add_argument("--sandbox", default="auto", help="where code runs; default: auto")
    parser.add_argument(
        "--wheels",
        action="append",
        metavar="DIR|index",
        help="where to find other versions of stratwright: folders of wheels that you trust, or "
        "the word index for the package index that pip uses; default: $STRATWRIGHT_WHEELS",
    )
    parser.add_argument(
        "--here", action="store_true", help="ask no other version, whatever the tag was made with"
    )
    parser.add_argument("--json", action="store_true", help="print every check as JSON")


def run(args: argparse.Namespace) -> int:
    """Check everything; 0 if all of it holds, 4 if something needed is not here, else 1."""
    from bot.commands.screen import show
    from bot.git.repository import open_repository
    from bot.progress import Progress
    from bot.proof.other_version import trusted_places, verify_elsewhere
    from bot.proof.verification import Checker, verify
    from bot.settings import FILE, Settings, parse_settings
    from bot.workshop import open_coder, open_prover

    repository = open_repository(args.repository, to_write=False)
    progress = Progress(quiet=args.json)
    progress.stage(f"verifying {args.tag.rpartition('/')[2]}", unit="parts")
    places = trusted_places(args.wheels)
    settings = parse_settings(repository.read(repository.base().commit, FILE))
    checker = Checker(
        lambda contract: open_coder(contract, Settings()),
        None if args.quick else lambda: open_prover(args.sandbox, progress),
        None
        if args.here
        else lambda tag, claim, where: verify_elsewhere(
            tag, claim, where, places, args.sandbox, progress.say
        ),
        settings.coder.signers,
    )
    with progress:
        found = verify(args.tag, repository, checker)
    summary = summary_of(args.tag, repository)
    if args.json:
        sys.stdout.write(as_json(found, summary) + "\n")
    else:
        show(as_text(found, summary) + "\n")
    return found.exit_code


def summary_of(tag: str, repository: "Repository") -> "Summary":
    """The figures that a tag claims; they are worth what `verify` says of it."""
    from bot.commands.report import summary_at

    branch = tag.rpartition("/")[0].replace("ai/", "ai/generated/", 1)
    return summary_at(repository, repository.commit_of(f"refs/tags/{tag}"), branch)


def as_json(found: "Verification", summary: "Summary") -> str:
    """The answer for programs."""
    from bot.proof.product import product_digest
    from bot.report.headline import figures_of

    checks = [
        {"name": each.name, "outcome": each.outcome, "holds": each.holds, "detail": each.detail}
        for each in found.findings
    ]
    answer = {
        "outcome": found.outcome,
        "holds": found.exit_code == 0,
        "checks": checks,
        "left_out": list(found.left_out),
        "figures": figures_of(summary),
        "product": product_digest(),
    }
    return json.dumps(answer)


def as_text(found: "Verification", summary: "Summary") -> str:
    """The answer for people."""
    from bot.redaction import inert
    from bot.report.headline import figure_line

    width = max((len(each.name) for each in found.findings), default=0)
    lines = [
        f"  {each.name:<{width}}  {each.outcome:<12}  {each.detail}".rstrip()
        for each in found.findings
    ]
    wrong = [each for each in found.findings if each.outcome is found.outcome and not each.holds]
    first = f"{wrong[0].name}: {wrong[0].detail}".rstrip(": ") if wrong else ""
    words = {
        "holds": "the evidence holds",
        "broken": f"the evidence is broken: {first}",
        "not-verified": f"not verified: {first}",
        "cannot-check": f"cannot check: {first}",
    }[found.outcome]
    if found.left_out and not first:
        words = f"not contradicted, not verified: left out {', '.join(found.left_out)}"
    line = figure_line(summary)
    source = "computed again" if found.exit_code == 0 else "the tag claims"
    return inert("\n".join([*lines, *([f"{source}: {line}"] if line else []), words]))
