"""`stratwright new`: a contract of your own from a template, with candles to prove it on."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.errors import InputError, StratwrightError

if TYPE_CHECKING:
    from bot.data.candle_files import CandleFile
    from bot.examples.templates import Template

Answer = TypeVar("Answer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add(
        "template",
        nargs="?",
        metavar="TEMPLATE",
        help="dip, trend, breakout, long-short, timeframes, symbols or roi-ladder; asked for on a "
        "terminal if it is not given",
    )
    add("--name", metavar="NAME", help="of your strategy, as MyDip; default: the template's")
    add(
        "--data",
        metavar="FILE",
        help="your candles, inside the repository; default: what is there, else the template's",
    )
    add("--symbol", metavar="SYMBOL", help="of your candles, where their file is not named so")
    add(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current folder"
    )


def run(args: argparse.Namespace) -> int:
    """Write a contract, the schema and candles; make the repository where there is none yet."""
    from bot.contract.code_paths import file_stem
    from bot.contract.schema import SCHEMA_PATH, schema_text
    from bot.examples.templates import checked_name, find_template, template_text
    from bot.files import write_files
    from bot.settings import read_settings

    asks = args.template is None and sys.stdin.isatty()
    template = _asked_template() if asks else find_template(_given(args.template))
    name = checked_name(args.name or template.class_name)
    if asks and not args.name:
        name = _asked("Name of the strategy", name, checked_name)
    root = _root(args.repository)
    own = _own_candles(args, root, template)
    label = own.path.resolve().relative_to(root).as_posix() if own else ""
    text = template_text(template, name, own, label)
    folder = read_settings(root).contracts
    contract = f"{folder}/{file_stem(name)}.yaml"
    if (root / contract).exists():
        raise InputError(f"{contract} is there already", "Give another --name.")
    files: dict[str, str | bytes] = {contract: text}
    files[f"{folder}/schema/{SCHEMA_PATH.name}"] = schema_text()
    files |= {} if own else template.candles
    is_new = not (root / ".git").exists()
    new = {path: content for path, content in files.items() if not (root / path).exists()}
    write_files(root, new)
    sys.stdout.write(f"In {root}{', a new Git repository' if is_new else ''}:\n")
    sys.stdout.write("".join(f"  wrote  {path}\n" for path in new))
    if own:
        sys.stdout.write(f"  on     {label}: {own.rows:,} candles of {own.timeframe}\n")
    committed = _first_commit(root, new, is_new)
    sys.stdout.write(_next(contract, new, committed))
    return 0


def _given(name: str | None) -> str:
    from bot.examples.templates import NAMES

    if name is None:
        raise InputError("which template?", f"Name one: stratwright new {'|'.join(NAMES)}")
    return name


def _asked_template() -> "Template":
    """Ask which template, by number or by name."""
    from bot.examples.templates import NAMES, find_template
    from bot.report.terminal import table

    rows = [
        (str(number), name, find_template(name).document["description"])
        for number, name in enumerate(NAMES, 1)
    ]
    sys.stdout.write(table(("", "template", "what it does"), rows))
    numbers = dict(zip(map(str, range(1, len(NAMES) + 1)), NAMES, strict=True))
    return _asked("Which one", "1", lambda answer: find_template(numbers.get(answer, answer)))


def _asked(question: str, default: str, checked: Callable[[str], Answer]) -> Answer:
    """Ask until the answer will do."""
    while True:
        answer = _ask(question, default)
        try:
            return checked(answer)
        except InputError as error:
            sys.stdout.write(f"{error.message}\n{error.hint}\n")


def _ask(question: str, default: str) -> str:
    sys.stdout.write(f"{question} [{default}]: ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise InputError("nothing was answered", "stratwright new --help names the options.")
    return line.strip() or default


def _root(folder: Path) -> Path:
    """The repository around a folder, or the folder where there is none."""
    here = folder.resolve()
    if not here.is_dir():
        raise InputError(f"{here} is not a folder", "Make it first: mkdir")
    return next((place for place in (here, *here.parents) if (place / ".git").exists()), here)


def _own_candles(args: argparse.Namespace, root: Path, template: "Template") -> "CandleFile | None":
    """The user's candles: those that were named, or the longest of one symbol that are there."""
    from dataclasses import replace

    from bot.data.candle_files import find_candle_files, read_candle_file

    if args.data is None:
        if args.symbol or len(template.symbols) > 1:
            return None
        found = [
            each
            for each in find_candle_files(root)
            if each.symbol
            and not each.fault
            and not each.path.name.startswith("example_")
            and "tests" not in each.path.parts
        ]
        return max(found, key=lambda each: each.rows, default=None)
    path = Path(args.data).resolve()
    if root not in path.parents:
        raise InputError(f"{args.data} is not in {root}", "A contract names files below it.")
    own = read_candle_file(path)
    if own.fault:
        hint = f"stratwright data check {args.data} says more."
        raise InputError(own.fault, hint)
    symbol = args.symbol or own.symbol
    if not symbol:
        raise InputError(f"{path.name} does not say its symbol", "Add --symbol BTC/USDT.")
    return replace(own, symbol=symbol)


def _first_commit(root: Path, files: dict[str, str | bytes], is_new: bool) -> bool:
    """Commit the files where there is no commit yet, so that `run` has something to stand on."""
    from bot.git.command import GitCommand
    from bot.git.place import read_person

    git = GitCommand(root)
    if is_new:
        git.ask("init", "--quiet", "--initial-branch=main")
    if git.run("rev-parse", "--verify", "--quiet", "HEAD").code == 0:
        return False
    try:
        read_person(git)
    except StratwrightError as error:
        sys.stdout.write(f"{error.message}.\n{error.hint}\n")
        return False
    git.ask("add", "--", *files)
    message = "contracts: a first strategy"
    git.ask("commit", "--quiet", "--no-gpg-sign", "-m", message, "--", *files)
    sys.stdout.write(f"  commit {message!r}\n")
    return True


def _next(contract: str, files: dict[str, str | bytes], committed: bool) -> str:
    commit = f"  git add {' '.join(files)} && git commit -m 'A new strategy'\n"
    commit = commit if files and not committed else ""
    return (
        f"Next:\n{commit}  stratwright run {contract}\n"
        "`run` writes, proves and proposes it; `backtest` only shows its figures.\n"
    )
