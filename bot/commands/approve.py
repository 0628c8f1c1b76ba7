"""`stratwright approve`: a person says yes to a tag's bytes, with their own SSH key."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.redaction import inert

if TYPE_CHECKING:
    from bot.approval.checks import Facts
    from bot.approval.claims import Claim
    from bot.approval.desk import Desk
    from bot.approval.record import Record
    from bot.git.repository import Repository

_DIGITS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("tag", metavar="TAG", help="ai/<workflow>/<task>/<correlation_id>")
    parser.add_argument("--mode", choices=("paper", "dry-run", "live"), default="paper")
    parser.add_argument("--account", metavar="NAME", help="of the host's file; default: its only")
    parser.add_argument("--capital", default="1000", metavar="AMOUNT", help="default: 1000")
    parser.add_argument("--max-order", metavar="AMOUNT", help="default: the capital")
    parser.add_argument("--currency", default="USDT", help="default: USDT")
    parser.add_argument("--broker", action="append", metavar="NAME", help="default: paper")
    parser.add_argument("--symbol", action="append", metavar="NAME", help="default: the contract's")
    parser.add_argument("--history", type=int, default=0, metavar="BARS", help="default: warm-up")
    parser.add_argument("--days", type=int, default=7, help="how long it may run; default: 7")
    parser.add_argument("--start-within", type=int, default=24, metavar="HOURS", help="at most 24")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; shown with the lock")
    parser.add_argument("--with", dest="others", action="append", metavar="WHO", help="also signs")
    parser.add_argument("--token", metavar="TOKEN", help="sign this record, which waits for you")
    parser.add_argument("--replace", default="", metavar="TOKEN", help="end that approval")
    parser.add_argument("--older", action="store_true", help="a tag that the branch has left")
    parser.add_argument("--check", action="store_true", help="only say whether it may start here")
    parser.add_argument("--key", type=Path, metavar="FILE", help="default: ~/.ssh/id_ed25519")
    parser.add_argument("--as", dest="who", metavar="WHO", help="default: your mail in Git")
    add_desk(parser)
    parser.add_argument("--sandbox", default="auto", help="where verify runs code; default: auto")
    parser.add_argument("--wheels", action="append", metavar="DIR|index", help="as for verify")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_desk(parser: argparse.ArgumentParser) -> None:
    """Describe where repository and host are."""
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument(
        "--host-file",
        type=Path,
        metavar="FILE",
        help="the host's own file; default: ~/.config/stratwright/approval.yml",
    )


def run(args: argparse.Namespace) -> int:
    """Approve, sign what waits, or only say what would be refused."""
    from bot.approval.reasons import ApprovalRefused
    from bot.approval.surroundings import nobody_here
    from bot.errors import SafetyStop

    desk = open_desk(args)
    if args.check:
        return _check(args, desk)
    has_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if refusal := nobody_here(os.environ, has_terminal=has_terminal):
        raise SafetyStop(str(refusal), refusal.advice)
    try:
        claim = _approve(args, desk)
    except ApprovalRefused as error:
        if args.json:
            sys.stdout.write(json.dumps({"approved": False, **_refused(error.refusals)}) + "\n")
            return error.exit_code
        raise
    return _tell(args, desk, claim)


def open_desk(args: argparse.Namespace) -> "Desk":
    """Open repository, host and clock."""
    from bot.approval.desk import Desk
    from bot.approval.host import host_path
    from bot.approval.host_state import open_state
    from bot.clock import MACHINE_CLOCK
    from bot.git.repository import open_repository

    repository = open_repository(args.repository, to_write=False)
    state = open_state(repository.repository_id)
    return Desk(repository, host_path(args.host_file), state, MACHINE_CLOCK)


def verify_tag(args: argparse.Namespace, desk: "Desk", tag: str, commit: str = "") -> str:
    """Run the line again for a tag, as `stratwright verify` does, and give the outcome."""
    from bot.workflow.verifying import verify_commit
    from bot.workshop import open_prover, say_on_terminal

    say_on_terminal(f"verifying {tag}")
    return verify_commit(
        desk.repository,
        tag,
        commit,
        lambda: open_prover(args.sandbox, say_on_terminal),
        args.wheels,
        args.sandbox,
        say_on_terminal,
    )


def _approve(args: argparse.Namespace, desk: "Desk") -> "Claim":
    from bot.approval.grant import Wish, countersign, grant
    from bot.approval.host import read_host
    from bot.approval.record import digest_of
    from bot.errors import InputError
    from bot.locks import pins

    host = read_host(desk.host_file, desk.repository.root)
    who = args.who or desk.repository.git.run("config", "user.email").text
    accounts = host.file.accounts
    account = args.account or (accounts[0] if len(accounts) == 1 else "")
    if not who or not account:
        raise InputError("who approves, or which account, is not clear", "Give --as and --account.")
    door = _Terminal(args.key or Path.home() / ".ssh" / "id_ed25519", desk.repository)

    def checked(tag: str, commit: str) -> str:
        return verify_tag(args, desk, tag, commit)

    if args.token:
        return countersign(desk, args.tag, args.token, door, checked)
    wish = Wish(
        mode=args.mode,
        account=account,
        capital=args.capital,
        max_order=args.max_order or args.capital,
        currency=args.currency,
        brokers=tuple(args.broker or ("paper",)),
        approvers=(who, *(args.others or ())),
        symbols=tuple(args.symbol or ()),
        history_bars=args.history,
        run_days=args.days,
        start_hours=args.start_within,
        reason=args.reason,
        replaces=args.replace,
        older=args.older,
    )
    lock = digest_of(pins.GITHUB.read_bytes())
    return grant(desk, args.tag, wish, door, checked, lock)


class _Terminal:
    """A person at a terminal, with a key that ssh-keygen can use."""

    def __init__(self, key: Path, repository: "Repository") -> None:
        self._key = key
        self._repository = repository

    def confirm(self, record: "Record", facts: "Facts") -> None:
        from bot.approval.reasons import refuse
        from bot.approval.subject import name_of
        from bot.commands.report import summary_at
        from bot.report.headline import figure_line
        from bot.workflow.deploy_words import record_rows

        digits = record.digest.removeprefix("sha256:")[:_DIGITS]
        shown = summary_at(self._repository, record.commit, name_of(record.tag)[0].branch)
        rows = {**record_rows(record), "result": figure_line(shown)}
        lines = [f"  {name:<10}{value}" for name, value in rows.items()]
        text = "\n".join(["You are about to approve:", *lines, f"  digest    {digits}"])
        sys.stderr.write(inert(text) + "\nType the digest to sign: ")
        sys.stderr.flush()
        if sys.stdin.readline().strip() != digits:
            raise refuse("digest-not-typed")

    def sign(self, data: bytes) -> str:
        from bot.approval.ssh_keygen import sign_with

        return sign_with(self._key, data)


def _tell(args: argparse.Namespace, desk: "Desk", claim: "Claim") -> int:
    """Publish what was granted, and say what is still missing."""
    from bot.approval.admission import announce, told

    record = claim.record
    refusals = announce(desk, record)
    if args.json:
        answer = {"approved": not refusals, **told(record), **_refused(refusals)}
        sys.stdout.write(json.dumps(answer) + "\n")
    elif refusals:
        sys.stdout.write(f"signed {record.token}; it is not in force yet:\n")
        sys.stdout.write(_lines(refusals))
    else:
        sys.stdout.write(f"approved {record.tag} for {record.mode}: {record.token}\n")
    return 0


def _check(args: argparse.Namespace, desk: "Desk") -> int:
    from bot.approval.admission import admit

    admission = admit(desk.look(args.tag).facts, args.tag, args.mode)
    token = admission.claim.record.token if admission.claim else ""
    if args.json:
        answer = {"approved": not admission.refusals, "approval_token": token}
        sys.stdout.write(json.dumps({**answer, **_refused(admission.refusals)}) + "\n")
    elif admission.refusals:
        sys.stdout.write(f"{args.tag} may not start here in {args.mode}:\n")
        sys.stdout.write(_lines(admission.refusals))
    else:
        sys.stdout.write(f"{args.tag} may start here in {args.mode}: {token}\n")
    return 1 if admission.refusals else 0


def _refused(refusals: "tuple[object, ...]") -> dict[str, object]:
    rows = [
        {"code": getattr(each, "code", ""), "detail": getattr(each, "detail", "")}
        for each in refusals
    ]
    return {"refusals": rows}


def _lines(refusals: "tuple[object, ...]") -> str:
    return "".join(inert(f"  {each}\n    {getattr(each, 'advice', '')}\n") for each in refusals)
