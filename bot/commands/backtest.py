"""`stratwright backtest`: a contract's rules on candles, to trades, equity and a summary."""

import argparse
import json
import sys
from pathlib import Path

HELP = "backtest a contract on candles"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="candles to use instead of the contract's own; {symbol} stands for each symbol",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="default: results"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    """Backtest and write the files."""
    from adapters.strategy_cli import short_report
    from bot.contract.load import load_contract
    from bot.contract.program import compile_contract
    from bot.judge import decide, judge
    from bot.market_data import read_market_data
    from bot.places import repository_root

    contract = load_contract(args.contract).strategy
    program = compile_contract(contract)
    data = read_market_data(contract, repository_root(args.contract), args.data)
    judgement = judge(contract, program, data, decide(contract, program, data))
    files = judgement.broker.save_report(str(args.out))
    if args.json:
        answer = {"summary": judgement.summary, "files": files}
        sys.stdout.write(json.dumps(answer, allow_nan=False) + "\n")
    else:
        sys.stdout.write(short_report(judgement.summary, files))
    return 0
