"""`stratwright eval`: how a model reads traders' words, in bars on which decisions differ."""

import argparse
import json
import sys

from bot.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("--model", default="", help="default: that of the settings")
    parser.add_argument(
        "--base-url",
        default=None,
        metavar="URL",
        help="default: $ANTHROPIC_BASE_URL, else Anthropic",
    )
    parser.add_argument(
        "--price", nargs=2, type=float, metavar=("INPUT", "OUTPUT"),
        help="US dollars for a million tokens, for a model that the price table does not have",
    )  # fmt: skip
    parser.add_argument("--samples", type=int, default=1, help="answers for each case; default: 1")
    parser.add_argument("--rules", type=int, default=None, help="only the first rules")
    parser.add_argument("--strategies", type=int, default=None, help="only the first strategies")
    parser.add_argument("--json", action="store_true", help="print every score as JSON")


def run(args: argparse.Namespace) -> int:
    """Ask, score and print; every call counts against the day's limit on cost."""
    from pathlib import Path

    from bot.coder.model.agent_coder import Asking
    from bot.coder.model.client import MessagesApi
    from bot.coder.model.evaluation import evaluate_model, read_cases, summary
    from bot.progress import Progress
    from bot.settings import read_settings

    if args.samples < 1:
        raise InputError("--samples takes a number from 1 on")
    given = read_settings(Path()).coder
    changes: dict[str, object] = {"model": args.model} if args.model else {}
    if args.price:
        changes["price_per_million_usd"] = tuple(args.price)
    settings = type(given).model_validate({**given.model_dump(), **changes})
    if not settings.enabled:
        raise InputError("coder.enabled is false in stratwright.yml: no model is asked")
    model = MessagesApi(args.base_url)
    cases = read_cases(args.rules, args.strategies)
    progress = Progress(quiet=args.json)
    progress.stage(f"asking {settings.model}", len(cases) * args.samples)
    scores = []
    with progress:
        for score in evaluate_model(cases, Asking(settings, lambda: model), args.samples):
            scores.append(score)
            word = (
                "as meant" if score.is_exact else f"{score.differing} of {score.bars} bars differ"
            )
            progress.part(f"{score.case}: {word}")
    total = summary(scores)
    if args.json:
        rows = [vars(score) for score in scores]
        answer = {"model": settings.model, **total, "cases": rows}
        sys.stdout.write(json.dumps(answer) + "\n")
        return 0
    wrong = [score for score in scores if not score.is_exact]
    lines = [
        f"{settings.model}: {total['exact']} of {total['answers']} answers decide as meant",
        f"  bars that differ  {total['differing_bars']} of {total['bars']}, "
        f"score {total['score']:.4f}",
        f"  not answered      {total['not_answered']}",
        f"  rounds            {total['mean_rounds']:.2f} on average",
        f"  cost              {total['cost_usd']:.6f} US dollars",
        *(f"  differs on {score.differing} bars: {score.case}" for score in wrong),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
