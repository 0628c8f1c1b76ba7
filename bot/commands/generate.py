"""`stratwright generate`: contracts to the files of their candidates, under a folder."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.contract.document.problems import Problem
    from bot.contract.load import LoadedContract


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "contracts", nargs="+", type=Path, metavar="CONTRACT", help="a .yaml or .json file"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder to write the files under"
    )
    parser.add_argument("--json", action="store_true", help="print the files as JSON")


def run(args: argparse.Namespace) -> int:
    """Write all files, or none if any contract has a mistake."""
    from bot.files import contract_label, write_files
    from bot.settings import Settings
    from bot.workshop import open_coder

    files: dict[str, str] = {}
    origin: dict[str, Path] = {}
    for loaded in _load(args.contracts):
        coder = open_coder(loaded.strategy, Settings())
        candidate = coder.write(loaded.strategy, contract_label(loaded.path))
        for path, text in candidate.files.items():
            if path in origin:
                message = f"{origin[path]} and {loaded.path} both write {path}"
                raise InputError(message, "Give one of the contracts another name.")
            origin[path] = loaded.path
            files[path] = text
    write_files(args.out, files)
    if args.json:
        listed = [{"path": path, "contract": origin[path].as_posix()} for path in files]
        answer = json.dumps({"out": str(args.out), "files": listed}, indent=2)
    else:
        answer = "\n".join(str(args.out / path) for path in files)
    sys.stdout.write(answer + "\n")
    return 0


def _load(paths: list[Path]) -> list["LoadedContract"]:
    """Load every contract; the problems of all are told together."""
    from bot.contract.document.problems import ContractError
    from bot.contract.load import load_contract

    loaded: list[LoadedContract] = []
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            contract = load_contract(path)
        except ContractError as error:
            problems += error.problems
            continue
        problems += _needs_a_model(contract)
        loaded.append(contract)
    if problems:
        raise ContractError(problems)
    return loaded


def _needs_a_model(loaded: "LoadedContract") -> list["Problem"]:
    """Find what the template cannot write."""
    from bot.contract.document.problems import Fault
    from bot.contract.model import Contract

    contract = loaded.contract
    if isinstance(contract, Contract):
        return []
    message = "a module is written by a model, and none is set up"
    return [loaded.problem(Fault(("kind",), message, allowed="kind: strategy"))]
