"""`stratwright bridge`: signals over Redis to Freqtrade: verify it, signal by contract, trade."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bot.redaction import inert

if TYPE_CHECKING:
    from bot.approval.desk import Desk
    from bot.approval.record import Record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    from bot.commands.approve import add_desk

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = actions.add_parser("verify", help="run the gates G1 to G4 for real")
    verify.add_argument("--cycles", type=int, default=5, metavar="N", help="timed; default: 5")
    verify.add_argument("--json", action="store_true", help="print the gates as JSON")
    signal = actions.add_parser("signal", help="one cycle with a contract as the source")
    signal.add_argument("contract", type=Path, metavar="CONTRACT")
    signal.add_argument("--logs", type=Path, default=Path("decision_logs"), metavar="DIR")
    trade = actions.add_parser("trade", help="start Freqtrade with orders that are never doubled")
    trade.add_argument("tag", nargs="?", metavar="TAG", help="an approved tag; for real money")
    trade.add_argument("--config", type=Path, required=True, metavar="FILE", help="Freqtrade's")
    trade.add_argument("--userdir", type=Path, metavar="DIR", help="Freqtrade's")
    trade.add_argument("--db-url", metavar="URL", help="Freqtrade's")
    add_desk(trade)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    actions = {"verify": _verify, "signal": _signal, "trade": _trade}
    return actions[args.action](args)


def _verify(args: argparse.Namespace) -> int:
    """Print the four gates; 1 if one failed."""
    from bot.errors import InputError
    from bot.workshop import say_on_terminal
    from integration.bridge_gates import verify

    if args.cycles < 1:
        raise InputError("--cycles has to be 1 or more", "Leave it out for 5.")
    gates = []
    for gate in verify(_environment(), args.cycles, say_on_terminal):
        gates.append(gate)
        if not args.json:
            word = "passed" if gate.passed else "FAILED"
            sys.stdout.write(f"{gate.name}  {word}  {inert(gate.figure)}\n")
            sys.stdout.flush()
    if args.json:
        rows = [{"gate": g.name, "passed": g.passed, "figure": g.figure} for g in gates]
        sys.stdout.write(json.dumps(rows) + "\n")
    return 0 if all(gate.passed for gate in gates) else 1


def _signal(args: argparse.Namespace) -> int:
    """Decide once by a contract; print NO_TRADE or the signal."""
    from bot.commands.bridge_contract import ContractSource
    from integration.config.config import load_config
    from integration.scripts.run_cycle import NO_TRADE, run_cycle

    cfg = load_config()
    source = ContractSource(args.contract, cfg["symbol"], cfg["timeframe"])
    signal = run_cycle(args.logs, source, source.count)
    sys.stdout.write(f"{signal.model_dump_json() if signal else NO_TRADE}\n")
    return 0


def _trade(args: argparse.Namespace) -> int:
    """Start the safe launcher in Freqtrade's environment; an approval is used if a tag is named."""
    from bot.commands.approve import open_desk
    from integration.adapter.freqtrade_config import STRATEGIES, STRATEGY
    from integration.adapter.loopback import HOUSE
    from integration.adapter.safe_freqtrade import APPROVED, digest_of_file

    variables = {**os.environ, "PYTHONPATH": str(HOUSE)}
    variables.pop(APPROVED, None)
    name, folder = STRATEGY, str(STRATEGIES)
    with tempfile.TemporaryDirectory(prefix="stratwright-approved-") as private:
        if args.tag:
            record, file = approved_file(open_desk(args), args.tag, Path(private))
            name, folder = file.stem, private
            allowed = {"strategy": digest_of_file(file), "symbols": record.limits.symbols}
            allowed |= {"brokers": record.limits.brokers, "capital": record.limits.capital}
            variables[APPROVED] = json.dumps(allowed)
        python = str(_environment() / "bin" / "python")
        command = [python, "-m", "integration.adapter.safe_freqtrade", "trade"]
        command += ["-c", str(args.config), "--strategy", name, "--strategy-path", folder]
        command += ["--userdir", str(args.userdir)] if args.userdir else []
        command += ["--db-url", args.db_url] if args.db_url else []
        return subprocess.run(command, env=variables, check=False).returncode  # noqa: S603


def approved_file(desk: "Desk", tag: str, folder: Path) -> tuple["Record", Path]:
    """Use the approval of a tag, and write its Freqtrade file where nothing else lies.

    Raises:
        ApprovalRefused: with every reason.
        SafetyStop: in CI, or the tag has no Freqtrade file.
    """
    from bot.approval.admission import begin
    from bot.approval.surroundings import nobody_here
    from bot.errors import SafetyStop

    here = nobody_here(os.environ, has_terminal=True)
    if here and here.code == "in-ci":
        raise SafetyStop(str(here), "Trade from a host of your own.")
    record = begin(desk, tag, "live").record
    # The check above has held every file that the evidence names to its digest.
    statement = desk.repository.read(record.commit, f"artifacts/{record.scope}/provenance.json")
    names = [each["name"] for each in json.loads(statement or b"{}")["subject"]]
    own = [name for name in names if name.startswith("Backtest/freqtrade/")]
    if len(own) != 1:
        hint = "Approve a contract with targets: [adapter, freqtrade]."
        raise SafetyStop(f"{tag} has no Freqtrade file of its own", hint)
    file = folder / Path(own[0]).name
    file.write_bytes(desk.repository.read(record.commit, own[0]) or b"")
    return record, file


def _environment() -> Path:
    """Find the environment that has Freqtrade.

    Raises:
        WorldError: there is none.
    """
    from bot.errors import WorldError
    from bot.gates.freqtrade.installation import HOW_TO_INSTALL, VARIABLE, find_freqtrade

    if find_freqtrade() is None:
        raise WorldError("Freqtrade is not installed", HOW_TO_INSTALL)
    return Path(os.environ.get(VARIABLE) or sys.prefix).resolve()
