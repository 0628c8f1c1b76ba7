"""`stratwright gate`: the gates alone, on a contract's candidate or on files of somebody else."""

import argparse
import json
import sys
from pathlib import Path

from bot.errors import InputError

HELP = "let the gates judge a candidate, without Git"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file")
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
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")


def run(args: argparse.Namespace) -> int:
    """Judge and print the table; 1 if a gate refused."""
    from bot.coder.port import Candidate
    from bot.coder.template import TemplateCoder
    from bot.contract.digest import contract_digest
    from bot.contract.load import load_contract
    from bot.contract.program import compile_contract
    from bot.evidence import Origin
    from bot.gates.examination import examine
    from bot.gates.port import Case
    from bot.identity import correlation_id
    from bot.market_data import read_market_data
    from bot.places import contract_label, repository_root
    from bot.plan import planned_files
    from bot.report.terminal import gate_table
    from bot.sealing import seal
    from bot.workshop import opened_sandbox, say_on_terminal, warm_mypy_cache
    from bot.written import write_files

    loaded = load_contract(args.contract)
    contract, label = loaded.strategy, contract_label(args.contract)
    program = compile_contract(contract)
    data = read_market_data(contract, repository_root(args.contract), args.data, say_on_terminal)
    planned = planned_files(contract)
    if args.candidate is None:
        candidate = TemplateCoder().write(contract, label)
    else:
        candidate = Candidate(_read(args.candidate, planned), "unknown", "", "sha256:" + "0" * 64)
    digest = contract_digest(contract)
    name = correlation_id("local", label, digest, data.digest, "gate")
    examination = examine(
        contract,
        program,
        Case(candidate.contents, frozenset(planned)),
        data,
        name,
        opened_sandbox(args.sandbox),
        warm_mypy_cache(say_on_terminal),
    )
    if args.out is not None:
        origin = Origin(name, label, digest, loaded.data)
        sealed = seal(contract, program, origin, candidate, data, examination, "no tag")
        write_files(args.out, sealed.evidence.files)
    passed = all(verdict.passed for verdict in examination.verdicts)
    if args.json:
        gates = [verdict.to_dict() for verdict in examination.verdicts]
        sys.stdout.write(json.dumps({"passed": passed, "gates": gates}) + "\n")
    else:
        sys.stdout.write(gate_table(examination.verdicts) + "\n")
    return 0 if passed else 1


def _read(folder: Path, planned: tuple[str, ...]) -> dict[str, str]:
    """The planned files that are there; anything else in the folder does not count."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", "Give the folder that `generate` wrote to.")
    found = {}
    for path in planned:
        place = folder / path
        if place.is_file() and not place.is_symlink():
            found[path] = place.read_bytes().decode("utf-8", "surrogateescape")
    return found
