"""`stratwright sweep`: a contract on the same candles with many values of its parameters."""

import argparse
import csv
import io
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.errors import InputError, WorldError

if TYPE_CHECKING:
    from bot.sweep.runs import SweepResult, Tried

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
    add("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file, of one symbol")
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
    add("--top", type=int, default=10, metavar="N", help="how many sets to show; default: 10")
    add("--workers", type=int, default=1, metavar="N", help="processes; default: 1")
    add("--out", type=Path, metavar="FILE.csv", help="write all sets, the best first")
    add("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Play all sets and show the best."""
    from bot.contract.language.program import compile_contract
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import repository_root
    from bot.progress import Counter, Progress
    from bot.sweep.runs import run_sweep
    from bot.sweep.sets import read_sets

    if args.top < 1 or args.workers < 1:
        raise InputError("--top and --workers are counts", "Give whole numbers above 0.")
    loaded = load_contract(args.contract)
    contract = loaded.strategy
    sets = read_sets(args.sets, contract, loaded.source.root or {})
    data = read_market_data(contract, repository_root(args.contract), args.data)
    candles = next(iter(data.candles.values()))
    program, counted = compile_contract(contract), Counter()
    progress = Progress()
    progress.stage("playing", len(sets), counted.read, "sets")
    with progress:
        result = run_sweep(
            *(contract, program, candles, sets, args.metric, args.workers),
            counted.set,
        )
    if args.out is not None:
        _write(args.out, result)
    if args.json:
        sys.stdout.write(json.dumps(as_json(result, args.top), allow_nan=False) + "\n")
    else:
        sys.stdout.write(table(result, args.top, args.out))
    return 0


def as_json(result: "SweepResult", top: int) -> dict[str, Any]:
    """The result for programs."""
    from bot.report.headline import figures_of

    return {
        "metric": result.metric,
        "sets_tried": result.chance.sets,
        "selected_in_sample": True,
        "expected_best_sharpe_by_chance": result.chance.expected_best,
        "deflated_sharpe_probability": result.chance.deflated,
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
    chance = result.chance
    said = [
        f"The first row is the best of {chance.sets} sets on the candles it was chosen on:"
        " expect less on others.",
    ]
    if chance.expected_best is not None and chance.deflated is not None:
        said.append(
            f"The best of {chance.sets} unrelated sets without any edge, scattered like these,"
            f" would show a Sharpe ratio of about {chance.expected_best:.2f}; the chance that the"
            f" best one's true ratio is above that is {chance.deflated:.0%} (deflated Sharpe"
            " ratio, normal returns)."
        )
    return "".join(f"{textwrap.fill(line, 80)}\n" for line in said)


def _write(path: Path, result: "SweepResult") -> None:
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
