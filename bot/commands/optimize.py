"""`stratwright optimize`: searches the ranges of a contract's parameters."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.commands.sweep import add_search, as_json, table, write_sets
from bot.errors import InputError

if TYPE_CHECKING:
    from bot.sweep.optimum import Optimum

NOTHING_ASKED = 200  # trials of a contract without `optimize`


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file, of one symbol")
    add("--data", type=Path, metavar="FILE", help="candles to use instead of the contract's own")
    add(
        "--sampler",
        choices=("tpe", "random", "grid"),
        default="tpe",
        help="who proposes sets: Optuna's tpe (default, extra `optuna`), chance, or a grid",
    )
    add("--trials", type=int, metavar="N", help="instead of the contract's own number")
    add_search(parser)


def run(args: argparse.Namespace) -> int:
    """Search, and show the best sets; 1 if none meets what `acceptance` asks for."""
    from bot.contract.goals import Optimize
    from bot.contract.language.program import compile_contract
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import repository_root
    from bot.progress import Counter, Progress
    from bot.sweep.optimum import Goal, as_found, optimise
    from bot.sweep.runs import Player
    from bot.sweep.space import space_of

    counts = (args.top, args.workers, 1 if args.trials is None else args.trials)
    if min(counts) < 1 or args.worlds < 0:
        hint = "Give whole numbers above 0; --worlds may be 0."
        raise InputError("--trials, --top, --workers and --worlds are counts", hint)
    contract = load_contract(args.contract, searches=True).strategy
    asked = contract.optimize or Optimize(trials=NOTHING_ASKED)
    if asked.walk_forward is not None:
        hint = "Leave it out of `optimize`; the whole history is searched."
        raise InputError("optimize.walk_forward is not carried out yet", hint)
    space = space_of(contract)
    trials = args.trials or asked.trials
    goal = Goal(asked.metric, trials, args.sampler, contract.seed, contract.acceptance)
    data = read_market_data(contract, repository_root(args.contract), args.data)
    counted, progress = Counter(), Progress()
    player = Player(contract, compile_contract(contract), args.workers, counted.set)
    progress.stage("searching", trials * (1 + args.worlds), counted.read, "sets")
    with progress:
        found = optimise(player, next(iter(data.candles.values())), space, goal, args.worlds)
    if args.out is not None:
        write_sets(args.out, found.result)
    if args.json:
        told = {"found_by": as_found(found), **as_json(found.result, args.top)}
        sys.stdout.write(json.dumps(told, allow_nan=False) + "\n")
    else:
        sys.stdout.write(table(found.result, args.top, args.out) + in_words(found))
    return 0 if found.meets_all else 1


def in_words(found: "Optimum") -> str:
    """Say how the best set was found, and what to write into the contract."""
    goal, best = found.goal, found.result.rows[0]
    lines = [
        f"Found by {goal.sampler}, seed {goal.seed}: {found.result.luck.sets} sets of"
        f" {goal.trials} trials, the contract's own defaults among them.",
    ]
    if not found.meets_all:
        lines.append(f"No set meets {', '.join(goal.lines)} of `acceptance`.")
    elif best.values == found.today.values:
        lines.append("None is better than the contract's own defaults.")
    else:
        lines.append("As defaults of the contract:")
        for name, value in best.values.items():
            lines.append(f"  {name}: {value}  # was {found.today.values[name]}")
    return "".join(f"{line}\n" for line in lines)
