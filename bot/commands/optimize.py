"""`stratwright optimize`: searches the ranges of a contract's parameters."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.commands.sweep import add_search, as_json, table, write_sets
from bot.errors import InputError

if TYPE_CHECKING:
    from bot.sweep.optimum import Optimum
    from bot.sweep.walk import Walked

NOTHING_ASKED = 200  # trials of a contract without `optimize`


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file")
    add("--data", type=Path, metavar="FILE", help="candles to use instead of the contract's own")
    add(
        "--sampler",
        choices=("tpe", "random", "grid"),
        help="instead of the contract's: chance, a grid, or Optuna's tpe (extra `optuna`)",
    )
    add("--trials", type=int, metavar="N", help="instead of the contract's own number")
    add_search(parser)


def run(args: argparse.Namespace) -> int:
    """Search, and show the best sets; 1 if none meets what `acceptance` asks for."""
    from bot.contract.found import as_searched
    from bot.contract.goals import Optimize
    from bot.contract.language.program import compile_contract
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import repository_root
    from bot.progress import Counter, Progress
    from bot.proof.holdout import note_tries
    from bot.sweep.optimum import Goal, as_found, optimise
    from bot.sweep.runs import Player, timeline, with_ledger
    from bot.sweep.space import space_of
    from bot.sweep.walk import walk_forward

    counts = (args.top, args.workers, 1 if args.trials is None else args.trials)
    if min(counts) < 1 or args.worlds < 0:
        hint = "Give whole numbers above 0; --worlds may be 0."
        raise InputError("--trials, --top, --workers and --worlds are counts", hint)
    contract = as_searched(load_contract(args.contract).strategy)
    asked = contract.optimize or Optimize(trials=NOTHING_ASKED)
    space = space_of(contract)
    trials, sampler = args.trials or asked.trials, args.sampler or asked.sampler
    goal = Goal(asked.metric, trials, sampler, contract.seed, contract.acceptance)
    root = repository_root(args.contract)
    data = read_market_data(contract, root, args.data)
    counted, progress, walked = Counter(), Progress(), None
    player = Player(contract, compile_contract(contract), args.workers, counted.set)
    folds = asked.walk_forward.folds if asked.walk_forward else 0
    progress.stage("searching", trials * (1 + args.worlds + folds), counted.read, "sets")
    with progress:
        found = optimise(player, data.candles, space, goal, args.worlds)
        if asked.walk_forward is not None:
            walked = walk_forward(player, data.candles, space, goal, asked.walk_forward)
    played = [dict(row.values) for row in found.result.rows]
    played += [dict(values) for values in (walked.sets if walked else ())]
    in_all = note_tries(contract, data, root, "optimize", played)
    own = len({tuple(values.values()) for values in played})
    found = replace(found, result=with_ledger(found.result, data.candles, in_all, own))
    if args.out is not None:
        write_sets(args.out, found.result)
    if args.json:
        told = {"found_by": as_found(found), **as_json(found.result, args.top)}
        if walked is not None:
            told["walk_forward"] = walked.as_told(timeline(data.candles))
        sys.stdout.write(json.dumps(told, allow_nan=False) + "\n")
    else:
        # What was not searched comes first: the rest was chosen to look good.
        sys.stdout.write(f"{fold_words(walked)}\n" if walked else "")
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


def fold_words(walked: "Walked") -> str:
    """Say what the search gave where it had not looked; that alone tells what it is worth."""
    lines = [f"Walk-forward, {len(walked.folds)} folds, {walked.gap} candles left out between:"]
    for number, each in enumerate(walked.folds, 1):
        values = ", ".join(f"{name} {value:g}" for name, value in each.judged.values.items())
        there, then = (row.figures["sharpe"] for row in (each.searched, each.judged))
        lines.append(f"  {number}: {values}; Sharpe {_ratio(there)} searched, {_ratio(then)} after")
    figures = walked.unseen.figures
    lines.append(
        f"Where it was not searched: return {figures['return'] or 0.0:.2%}, Sharpe"
        f" {_ratio(figures['sharpe'])}, {figures['total_trades']:g} trades."
    )
    apart = ", ".join(f"{name} {share:.0%}" for name, share in walked.drift.items())
    lines.append(f"The folds' values lie apart, of the range: {apart}.")
    return "".join(f"{line}\n" for line in lines)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
