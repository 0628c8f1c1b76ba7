"""`stratwright brain`: search what is known, take in what is installed, check and consolidate."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.knowledge.ingest import Difference
    from bot.knowledge.port import Knowledge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of each action."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    search = actions.add_parser("search", help="find the passages that answer a question")
    search.add_argument("question", nargs="+", metavar="WORD")
    search.add_argument("--limit", type=int, default=5, help="how many passages; default: 5")
    search.add_argument(
        "--tokens", type=int, default=2000, help="about how long they may be; default: 2000"
    )
    search.set_defaults(act=run_search)
    read = actions.add_parser("read", help="print a page by its id, such as LEARN-003")
    read.add_argument("page", metavar="PAGE")
    read.set_defaults(act=run_read)
    ingest = actions.add_parser("ingest", help="write what installed packages say into the brain")
    ingest.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="talib, freqtrade, ccxt, vectorbt, optuna, pytest, pandas-ta, stratwright, or a "
        "folder of Markdown; default: all that are installed",
    )
    ingest.set_defaults(act=run_ingest)
    check = actions.add_parser("check", help="find what the pages say and no package bears out")
    check.add_argument("sources", nargs="*", metavar="SOURCE", help="default: all installed")
    check.set_defaults(act=run_check)
    gather = actions.add_parser("consolidate", help="gather entries into LOG-001 and LEARN-007")
    gather.set_defaults(act=run_consolidate)
    for action in (search, read, ingest, check, gather):
        action.add_argument("--json", action="store_true", help="print the answer as JSON")
        action.add_argument(
            "--repository", type=Path, metavar="DIR", help="default: the one around this folder"
        )


def run(args: argparse.Namespace) -> int:
    """Do the action."""
    code: int = args.act(args)
    return code


def _root(args: argparse.Namespace) -> Path:
    from bot.files import repository_root

    root: Path = args.repository or repository_root(Path("x"))
    return root


def _knowledge(root: Path) -> "Knowledge":
    """The brain; with Context7 and clones only where settings or environment speak of them."""
    from bot.knowledge.port import open_knowledge

    file = root / "stratwright.yml"
    if not os.environ.get("STRATWRIGHT_CLONES") and not (
        file.is_file() and b"context7" in file.read_bytes()
    ):
        return open_knowledge(root)  # reading settings would take as long as the search
    from bot.knowledge.layers import open_layers
    from bot.settings import read_settings

    return open_layers(root, context7=read_settings(root).brain.context7)


def run_search(args: argparse.Namespace) -> int:
    """Print passages, best first; 0 even if there are none."""
    if args.limit < 1 or args.tokens < 1:
        raise InputError("--limit and --tokens are at least 1", "Leave them out for the default.")
    question = " ".join(args.question)
    knowledge = _knowledge(_root(args))
    answers = knowledge.search(question, args.limit, args.tokens)
    if args.json:
        told = {"question": question, "digest": knowledge.digest,
                "passages": [answer.to_dict() for answer in answers]}  # fmt: skip
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
        return 0
    for answer in answers:
        sys.stdout.write(f"{answer.symbol}  ({answer.source}, {answer.page})\n")
        sys.stdout.write("".join(f"    {line}\n" for line in answer.text.splitlines()))
    if not answers:
        sys.stdout.write("nothing found; ask with other words, or name the symbol\n")
    return 0


def run_read(args: argparse.Namespace) -> int:
    """Print a page."""
    text = _knowledge(_root(args)).read(args.page)
    sys.stdout.write(json.dumps({"page": args.page, "text": text}) + "\n" if args.json else text)
    return 0


def run_ingest(args: argparse.Namespace) -> int:
    """Take in each source, and say what is not installed."""
    from bot.clock import MACHINE_CLOCK
    from bot.knowledge.ingest import SOURCES, ingest, ingest_folder

    brain, today = _root(args) / "brain", MACHINE_CLOCK.now().date()
    told: list[dict[str, object]] = []
    for name in args.sources or SOURCES:
        if name in SOURCES:
            try:
                told.append(_difference(ingest(name, brain, today)))
            except ModuleNotFoundError as error:
                if args.sources:
                    raise InputError(f"{name} is not installed: {error}", "Install it.") from None
                told.append({"lines": [f"{name}: not installed, left as it is"]})
        elif Path(name).is_dir():
            paths = ingest_folder(Path(name), brain, today)
            told.append({"lines": paths, "files": paths})
        else:
            hint = f"Sources: {', '.join(SOURCES)}, or a folder of Markdown files."
            raise InputError(f"{name} is neither a source nor a folder", hint)
    if args.json:
        sys.stdout.write(json.dumps({"sources": told}, ensure_ascii=False) + "\n")
    else:
        lines = (line for item in told for line in item["lines"])  # type: ignore[attr-defined]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Print each contradiction; 1 if there is one."""
    from bot.knowledge.check import check
    from bot.knowledge.ingest import SOURCES
    from bot.workshop import say_on_terminal

    unknown = [name for name in args.sources if name not in SOURCES]
    if unknown:
        raise InputError(f"{unknown[0]} is no source", f"Sources: {', '.join(SOURCES)}.")
    found, missing = check(_brain(args), tuple(args.sources), say_on_terminal)
    if args.json:
        told = [{"path": item.path, "line": item.line, "statement": item.statement,
                 "why": item.why} for item in found]  # fmt: skip
        sys.stdout.write(json.dumps({"contradictions": told, "not_installed": missing}) + "\n")
        return 1 if found else 0
    for item in found:
        sys.stdout.write(f"brain/{item.text}\n")
    for name in missing:
        sys.stdout.write(f"{name}: not installed, not checked\n")
    sys.stdout.write(f"{len(found)} contradictions\n" if found else "nothing contradicts\n")
    return 1 if found else 0


def run_consolidate(args: argparse.Namespace) -> int:
    """Gather the entries and say how many there were."""
    from bot.knowledge.growth import consolidate

    lines = consolidate(_brain(args)) or ["no entries"]
    sys.stdout.write(json.dumps({"lines": lines}) + "\n" if args.json else "\n".join([*lines, ""]))
    return 0


def _brain(args: argparse.Namespace) -> Path:
    """The repository's own brain, or the shipped one where it has none."""
    from bot.knowledge.pages import SHIPPED

    own = _root(args) / "brain"
    return own if own.is_dir() else SHIPPED


def _difference(difference: "Difference") -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(difference), "lines": difference.lines}
