"""`stratwright replay`: a tag's candidate from the stored answers of a model; asks none."""

import argparse
import json
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("tag", metavar="TAG", help="ai/<workflow>/<task>/<correlation_id>")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace) -> int:
    """Rebuild; 0 if every byte follows from the stored answers, else 1."""
    from bot.coder.model.prices import dollars
    from bot.coder.model.session import how_rebuilt
    from bot.git.repository import open_repository
    from bot.proof.replaying import replay_tag
    from bot.redaction import inert
    from bot.settings import FILE, parse_settings

    repository = open_repository(args.repository, to_write=False)
    settings = parse_settings(repository.read(repository.base().commit, FILE))
    done = replay_tag(args.tag, repository, settings.coder.signers)
    said = done.transcript
    origin = "signed by the bot" if done.signed else "origin unproven"
    how = how_rebuilt(said.coder)
    answer = {
        "rebuilt": not done.trouble and how == "rebuilt",
        "origin": origin,
        "trouble": done.trouble,
        "transcript": said.digest,
        "model": said.model,
        "calls": len(said.calls),
        "cost_usd": dollars(said.cost),
        "files": list(done.files),
        "expressions": said.expressions,
    }
    if args.json:
        sys.stdout.write(json.dumps(answer) + "\n")
        return 1 if done.trouble else 0
    first = f"not rebuilt: {done.trouble}" if done.trouble else f"{how}; {origin}"
    spent = f"{len(said.calls)} calls to {said.model}, {dollars(said.cost)} US dollars"
    lines = [first, f"  {spent}", f"  transcript {said.digest}"]
    lines += [f"  {rule}: {text}" for rule, text in said.expressions.items()]
    lines += [f"  {path}" for path in done.files]
    sys.stdout.write(inert("\n".join(lines)) + "\n")
    return 1 if done.trouble else 0
