"""`stratwright backtest`: a contract's rules, or a strategy file, on candles."""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from Backtest.simbroker import SimBroker
    from bot.progress import Progress
    from bot.proof.judge import Judgement
    from bot.proof.vectorbt_engine import Peer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "subject",
        type=Path,
        metavar="CONTRACT|FILE",
        help="a contract (.yaml, .json), or a strategy (.py), which runs in the sandbox",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="candles instead of the contract's own: a csv, feather, parquet or json.gz file, "
        "{symbol} in it stands for each symbol; or ccxt:EXCHANGE:START[:END], downloaded once",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="default: results"
    )
    parser.add_argument(
        "--report", action="store_true", help="write report.html too; for contracts"
    )
    parser.add_argument(
        "--engine",
        choices=("stratwright", "vectorbt"),
        default="stratwright",
        help="vectorbt: play a contract's rules by VectorBT too (extra vectorbt) and say by which "
        "rule each fill differs; default: stratwright",
    )
    parser.add_argument(
        "--open-holdout",
        action="store_true",
        help="play the sealed candles of data.holdout alone; the ledger counts it for ever",
    )
    parser.add_argument("--sandbox", default="auto", help="where a .py file runs; default: auto")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    """Backtest and write the files."""
    from adapters.strategy_cli import short_report
    from bot.commands.screen import show
    from bot.report.headline import told_lines

    is_code = args.subject.suffix == ".py"
    if is_code and args.engine == "vectorbt":
        raise InputError("--engine vectorbt needs a contract", "VectorBT is given its rules.")
    if is_code and args.open_holdout:
        raise InputError("--open-holdout needs a contract", "It names the sealed candles.")
    if is_code and args.report:
        raise InputError("--report needs a contract", "A file alone does not say what was asked.")
    from bot.progress import Progress

    peer: Peer | None = None
    progress = Progress()
    progress.stage("loading")
    with progress:
        if is_code:
            judgement, page = _of_file(args, progress), ""
        else:
            judgement, page, peer = _of_contract(args, progress)
        progress.stage("writing the report")
        files = _written(judgement, args.out, page)
    if args.json:
        answer = {"summary": judgement.summary, "files": files}
        answer |= {"vectorbt": peer.to_dict()} if peer is not None else {}
        sys.stdout.write(json.dumps(answer, allow_nan=False) + "\n")
    else:
        lines = "".join(f"{line}\n" for line in told_lines(judgement.summary))
        told = "".join(f"{line}\n" for line in peer.lines) if peer is not None else ""
        show(lines + short_report(judgement.summary, files) + told)
    return 0 if peer is None or peer.agrees else 1


def _of_contract(
    args: argparse.Namespace, progress: "Progress"
) -> tuple["Judgement", str, "Peer | None"]:
    """Judge the rules themselves; no generated code is needed. With the page, if it is wanted, and
    what VectorBT makes of them."""
    progress.stage("reading the candles")
    _import_talib_alone()
    from bot.contract.language.program import compile_contract
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import contract_label, repository_root
    from bot.proof.judge import judge_rules, with_tear_sheet

    contract = load_contract(args.subject).strategy
    program = compile_contract(contract)
    root = repository_root(args.subject)
    data = read_market_data(
        contract, root, args.data, progress.say, progress.say, opened=args.open_holdout
    )
    if args.open_holdout:
        from bot.proof.holdout import note_opening

        progress.say(note_opening(contract, data, root))
    total = sum(len(candles) for candles in data.candles.values())
    progress.stage("computing the indicators")
    judged = judge_rules(contract, program, data, lambda broker: _played(progress, broker, total))
    judgement, peer = with_tear_sheet(judged, data.candles), None
    if args.engine == "vectorbt":
        from bot.proof.vectorbt_engine import play

        progress.stage("playing by VectorBT")
        peer = play(contract, program, data, judgement)
    if not args.report:
        return judgement, "", peer
    from bot.proof.sealing import tell_backtest
    from bot.report.page import report_html

    label = contract_label(args.subject)
    page = report_html(tell_backtest(contract, program, data, judgement, label))
    return judgement, page, peer


def _played(progress: "Progress", broker: "SimBroker", total: int) -> None:
    """Show how many candles a broker has played."""
    progress.stage("playing", total, lambda: broker.stepped_bars)


def _import_talib_alone() -> None:
    """Import TA-Lib as on a machine without pandas, which would take half a second more.

    This process gives TA-Lib arrays only and runs nobody else's code. None in sys.modules is
    Python's own way to say that a module is not there.
    """
    optional = [name for name in ("pandas", "polars") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(optional))  # type: ignore[arg-type]
    try:
        importlib.import_module("talib")
    finally:
        for name in optional:
            del sys.modules[name]


def _of_file(args: argparse.Namespace, progress: "Progress") -> "Judgement":
    """Ask a strategy file for its decisions, in the sandbox."""
    from bot.proof.strategy_file import backtest_file
    from bot.workshop import opened_sandbox

    if args.data is None:
        raise InputError("a strategy file needs --data FILE")
    progress.stage("asking the strategy in the sandbox")
    sandbox = opened_sandbox(args.sandbox)
    return backtest_file(
        args.subject,
        str(args.data),
        sandbox,
        lambda broker, total: _played(progress, broker, total),
    )


def _written(judgement: "Judgement", out: Path, page: str) -> dict[str, str]:
    """Write the files of a backtest."""
    from Backtest.metrics.report_files import write_report, write_whole
    from bot.errors import WorldError

    broker = judgement.broker
    try:
        files = write_report(
            str(out), broker.get_trades(), broker.get_equity_curve(), dict(judgement.summary)
        )
        if page:
            write_whole(out / "report.html", page)
            files["report"] = str(out / "report.html")
        return files
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{out} is not a folder", "Give --out another folder.") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WorldError(f"cannot write under {out}: {reason}", "Check the disk.") from None
