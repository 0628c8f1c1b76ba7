"""`stratwright gate`: the gates alone, on a contract's candidate or on files of somebody else."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.coder.port import Candidate

FEWEST_CANDLES = 400
MOST_CANDLES = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="CONTRACT",
        help="a .yaml or .json file; with --class freqtrade, strategy files of anybody's",
    )
    parser.add_argument(
        "--class",
        dest="file_class",
        choices=("freqtrade",),
        help="judge Freqtrade strategy files: what they contain, determinism, look-ahead",
    )
    parser.add_argument(
        "--candidate",
        type=Path,
        metavar="DIR",
        help="judge the planned files under this folder instead of freshly written ones",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="candles to use instead of the contract's own"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write the evidence here")
    parser.add_argument("--sandbox", default="auto", help="where code runs; default: auto")
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="where all gates pass, also try the tests on strategies with a mistake in each",
    )
    parser.add_argument(
        "--require-targets",
        action="store_true",
        help="stop if a target cannot be proven here, instead of leaving it out",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run every gate again, whatever is remembered"
    )
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")


def run(args: argparse.Namespace) -> int:
    """Judge and print the table; 1 if a gate refused."""
    if args.file_class == "freqtrade":
        return run_freqtrade(args)
    if len(args.paths) != 1:
        raise InputError(
            "`gate` judges one contract at a time", "Give --class freqtrade for files."
        )
    if args.paths[0].suffix == ".py":
        hint = "For a Freqtrade strategy: stratwright gate FILE --class freqtrade --data CANDLES"
        raise InputError(f"{args.paths[0]} is no contract", hint)
    return run_contract(args, args.paths[0])


def run_freqtrade(args: argparse.Namespace) -> int:
    """Judge the strategies of Freqtrade files."""
    from Backtest.candles import read_candles
    from Backtest.sim_errors import BacktestError
    from bot.commands.screen import show
    from bot.gates.freqtrade.any_file import examine_freqtrade_file
    from bot.report.terminal import gate_table
    from bot.workshop import open_memory, opened_sandbox, say_on_terminal

    if args.data is None:
        hint = "Any candles will do: tests/fixtures/sample_btc.csv, or your own CSV or feather."
        raise InputError("--data is needed: candles to compute the strategy on", hint)
    missing = [path for path in args.paths if not path.is_file()]
    if missing:
        raise InputError(f"there is no file {missing[0]}", "Check the path.")
    try:
        candles = read_candles(args.data).tail(MOST_CANDLES).reset_index(drop=True)
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    if len(candles) < FEWEST_CANDLES:
        message = f"{args.data} has {len(candles)} candles, {FEWEST_CANDLES} are needed"
        raise InputError(message, "Give a longer history.")
    sandbox, memory = opened_sandbox(args.sandbox), open_memory(fresh=args.fresh)
    codes = []
    for path in args.paths:
        for found in examine_freqtrade_file(
            str(path), path.read_bytes(), candles, sandbox, memory, say_on_terminal
        ):
            codes.append(0 if found.passed else 1)
            gates = [verdict.to_dict() for verdict in found.verdicts]
            if args.json:
                answer = {"file": found.path, "class": found.name, "passed": found.passed}
                sys.stdout.write(json.dumps({**answer, "gates": gates}) + "\n")
            else:
                show(f"{found.name}  {found.path}\n{gate_table(found.verdicts)}\n")
            sys.stdout.flush()
    return max(codes)


def run_contract(args: argparse.Namespace, path: Path) -> int:
    """Judge the candidate of a contract."""
    from bot.commands.screen import show
    from bot.contract.digest import contract_digest
    from bot.contract.load import load_contract
    from bot.data.market_data import read_market_data
    from bot.files import contract_label, repository_root, write_files
    from bot.gates.freqtrade.installation import find_freqtrade
    from bot.gates.mutation.mutation_gate import GATE, try_mutants
    from bot.git.identity import correlation_id
    from bot.progress import Progress
    from bot.proof.assignment import Origin, assign
    from bot.proof.line import prove, write_and_prove
    from bot.proof.sealing import Destination, seal
    from bot.proof.targets import decide_targets
    from bot.report.headline import figures_of, told_lines
    from bot.report.terminal import gate_table
    from bot.settings import Settings
    from bot.workshop import open_coder, open_memory, open_prover

    loaded = load_contract(path)
    contract, label = loaded.strategy, contract_label(path)
    progress = Progress()
    data = read_market_data(contract, repository_root(path), args.data, progress.say)
    targets = decide_targets(contract, find_freqtrade(), strict=args.require_targets)
    digest = contract_digest(contract)
    name = correlation_id("local", label, digest, data.digest, "gate")
    work = assign(contract, data, Origin(name, label, digest, loaded.data), targets)
    prover = open_prover(args.sandbox, progress, open_memory(fresh=args.fresh))
    progress.stage(path.stem, unit="parts")
    with progress:
        if args.candidate is None:
            *_, proven = write_and_prove(work, open_coder(contract, Settings()), prover)
        else:
            proven = prove(work, _read(args.candidate, contract.planned_files), prover)
    if args.out is not None:
        write_files(args.out, seal(proven, Destination("no tag")).evidence.files)
    examination = proven.examination
    verdicts, told = list(examination.verdicts), {}
    tried = any(verdict.name == GATE for verdict in verdicts)
    if args.mutants and not tried and all(verdict.passed for verdict in verdicts):
        mutation = try_mutants(contract, proven.candidate.contents, prover.sandbox)
        verdicts.append(mutation.verdict)
        told = {"mutants": mutation.to_dict()}
    passed = all(verdict.passed for verdict in verdicts)
    judged = examination.judgement
    summary = judged.summary if judged is not None else {}
    if args.json:
        answer = {
            "figures": figures_of(summary),
            "passed": passed,
            "gates": [verdict.to_dict() for verdict in verdicts],
            "remembered": sorted(examination.remembered),
            "notes": list(targets.notes),
            **told,
        }
        sys.stdout.write(json.dumps(answer) + "\n")
    else:
        notes = "".join(f"{note}\n" for note in (*told_lines(summary), *targets.notes))
        show(f"{gate_table(verdicts, examination.remembered)}{notes}\n")
    return 0 if passed else 1


def _read(folder: Path, planned: tuple[str, ...]) -> "Candidate":
    """Read the planned files that are there; anything else in the folder does not count."""
    from bot.coder.port import Candidate

    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", "Give the folder that `generate` wrote to.")
    found = {}
    for path in planned:
        place = folder / path
        if place.is_file() and not place.is_symlink():
            found[path] = place.read_bytes().decode("utf-8", "surrogateescape")
    return Candidate(found, "unknown", "", "sha256:" + "0" * 64)
