"""`stratwright sweep`: a contract on the same candles with many values of its parameters."""

import argparse
import csv
import io
import json
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError, WorldError

if TYPE_CHECKING:
    from Backtest.metrics.trade_chance import TradeChance
    from bot.sweep.luck import Luck, Tried
    from bot.sweep.runs import SweepResult

SHOWN = ("sharpe", "return", "max_drawdown", "total_trades", "win_rate", "profit_factor")
# So that a row with two or three parameters fits 80 columns.
SHORT = {
    "max_drawdown": "drawdown",
    "total_trades": "trades",
    "win_rate": "won",
    "profit_factor": "factor",
}
SHARES = ("return", "annual_return", "max_drawdown", "win_rate", "exposure")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file")
    add("--data", type=Path, metavar="FILE", help="candles to use instead of the contract's own")
    add(
        "--set",
        dest="sets",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="values of a parameter: 10,14,20 or from:to:step; every combination is played",
    )
    add("--metric", default="sharpe", help="the figure to sort by; default: sharpe")
    add_search(parser)


def add_search(parser: argparse.ArgumentParser) -> None:
    """Describe what every search takes."""
    add = parser.add_argument
    add("--top", type=int, default=10, metavar="N", help="how many sets to show; default: 10")
    add("--workers", type=int, default=1, metavar="N", help="processes; default: 1; TPE uses one")
    add(
        "--worlds",
        type=int,
        default=0,
        metavar="N",
        help="make the same search on N made-up histories without an edge, and compare",
    )
    add("--out", type=Path, metavar="FILE.csv", help="write all sets, the best first")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Play all sets and show the best."""
    from bot.contract.language.program import compile_contract
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import repository_root
    from bot.progress import Counter, Progress
    from bot.proof.holdout import note_tries
    from bot.sweep.runs import run_sweep, with_ledger
    from bot.sweep.sets import read_sets

    if args.top < 1 or args.workers < 1 or args.worlds < 0:
        hint = "Give whole numbers above 0; --worlds may be 0."
        raise InputError("--top, --workers and --worlds are counts", hint)
    loaded = load_contract(args.contract)
    contract = loaded.strategy
    sets = read_sets(args.sets, contract, loaded.source.root or {})
    root = repository_root(args.contract)
    data = read_market_data(contract, root, args.data)
    program, counted = compile_contract(contract), Counter()
    progress = Progress()
    progress.stage("playing", len(sets) * (1 + args.worlds), counted.read, "sets")
    with progress:
        result = run_sweep(
            *(contract, program, data.candles, sets, args.metric, args.workers),
            *(counted.set, args.worlds),
        )
    counted_in_all = note_tries(contract, data, root, "sweep", sets)
    result = with_ledger(result, data.candles, counted_in_all, len(sets))
    if args.out is not None:
        write_sets(args.out, result)
    if args.json:
        sys.stdout.write(json.dumps(as_json(result, args.top), allow_nan=False) + "\n")
    else:
        sys.stdout.write(table(result, args.top, args.out))
    return 0


def as_json(result: "SweepResult", top: int) -> dict[str, object]:
    """The result for programs."""
    from bot.report.headline import figures_of

    luck = result.luck
    return {
        "metric": result.metric,
        "sets_tried": luck.sets,
        "trials_in_all": luck.trials,
        "selected_in_sample": True,
        "expected_best_sharpe_by_chance": luck.expected_best,
        "deflated_sharpe_probability": luck.deflated,
        "backtest_overfitting_probability": luck.overfitting,
        "years": luck.years,
        "years_needed": luck.years_needed,
        "neighbours": luck.neighbours,
        "neighbours_that_keep_half": luck.stability,
        "break_even_cost_bps": luck.break_even_cost_bps,
        "trades_by_chance": None if luck.trades is None else asdict(luck.trades),
        "worlds_without_edge": luck.worlds,
        "worlds_as_good": luck.worlds_as_good,
        "chance_without_edge": luck.by_worlds,
        "figures": figures_of(result.best),
        "sets": [
            {
                "parameters": dict(row.values),
                "figures": dict(row.figures),
                "rejections": dict(row.rejections),
            }
            for row in result.rows[:top]
        ],
    }


def table(result: "SweepResult", top: int, out: Path | None) -> str:
    """The best set in one line, the best ones, and what being the best of many is worth."""
    from bot.report.headline import told_lines

    names = list(result.rows[0].values)
    figures = list(dict.fromkeys((result.metric, *SHOWN)))
    lines = [[*names, *(SHORT.get(name, name) for name in figures)]]
    lines += [_cells(row, names, figures) for row in result.rows[:top]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    chosen = ", ".join(f"{name} {value:g}" for name, value in result.rows[0].values.items())
    said = [line for told in told_lines(result.best) for line in textwrap.wrap(told, 80)]
    text = "".join(f"{line}\n" for line in (f"best of {len(result.rows)}: {chosen}", *said, ""))
    text += "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in lines
    )
    if out is not None:
        text += f"all {len(result.rows)} sets: {out}\n"
    return text + warning(result)


def _cells(row: "Tried", names: Sequence[str], figures: Sequence[str]) -> list[str]:
    shown = [f"{row.values[name]:g}" for name in names]
    for name in figures:
        value = row.figures[name]
        if name == "win_rate" and not row.figures["total_trades"]:
            value = None  # a share of nothing
        if value is None:
            shown.append("-")
        elif name in SHARES:
            shown.append(f"{value:.2%}")
        else:
            shown.append(f"{value:g}" if name == "total_trades" else f"{value:.3f}")
    return shown


def warning(result: "SweepResult") -> str:
    """Say that the first row was chosen, and what chance alone would have given."""
    luck = result.luck
    said = [
        f"The first row is the best of {luck.sets} sets on the candles it was chosen on:"
        " expect less on others.",
    ]
    if luck.expected_best is not None and luck.deflated is not None:
        said.append(
            f"The best of {luck.trials} unrelated sets without any edge, scattered like these,"
            f" would show a Sharpe ratio of about {luck.expected_best:.2f}; the chance that the"
            f" first one's true ratio is above that is {luck.deflated:.0%} (deflated Sharpe ratio)."
        )
        said.append(_needed(luck))
    if luck.overfitting is not None:
        said.append(
            f"Chosen by one half of the history, the best set is in the worse half on the other"
            f" with a probability of {luck.overfitting:.0%} (backtest overfitting, by Sharpe"
            " ratio)."
        )
    if luck.stability is not None:
        said.append(
            f"{luck.stability:.0%} of its {luck.neighbours} neighbours keep half of its"
            f" {result.metric}."
        )
    if luck.break_even_cost_bps is not None:
        said.append(f"It breaks even at costs of {luck.break_even_cost_bps:.1f} bps a side.")
    if luck.trades is not None:
        said.append(_by_chance(luck.trades))
    if luck.by_worlds is not None:
        said.append(
            f"The same search found as good a set in {luck.worlds_as_good} of {luck.worlds}"
            f" histories without an edge: a chance of {luck.by_worlds:.0%} or less by luck alone."
        )
    return "".join(f"{textwrap.fill(line, 80)}\n" for line in said)


def _needed(luck: "Luck") -> str:
    """Say how long a track record would have to be."""
    if luck.years_needed is None:
        return "No track record of such returns would be long enough to be 95 % sure of that."
    return (
        f"To be 95 % sure, {luck.years_needed:.1f} years of such returns are needed; there are"
        f" {luck.years:.1f}."
    )


def _by_chance(trades: "TradeChance") -> str:
    """Say what another order of the trades, and missed trades, would have given."""
    low, _, high = trades.order_drawdown
    least, _, most = trades.missed_return
    return (
        f"Its trades in other orders fall by {low:.1%} to {high:.1%} (nine in ten); with one in"
        f" ten missed they return {least:.1%} to {most:.1%}."
    )


def write_sets(path: Path, result: "SweepResult") -> None:
    """Write every set as a line."""
    from Backtest.metrics.report_files import write_whole

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = result.rows[0]
    writer.writerow([*first.values, *first.figures])
    for row in result.rows:
        writer.writerow(
            [*row.values.values(), *("" if v is None else v for v in row.figures.values())]
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.getvalue())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WorldError(f"cannot write {path}: {reason}", "Check the path.") from None
