"""`stratwright plan`: a contract's mistakes, or the plan made of it."""

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.plan.todo import TodoList

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("contract", type=Path, metavar="CONTRACT", help="a .yaml or .json file")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the plan."""
    from bot.contract.load import load_contract
    from bot.contract.model import Contract
    from bot.files import contract_label
    from bot.plan.todo import make_plan

    loaded = load_contract(args.contract)
    candles = None
    if isinstance(loaded.contract, Contract):
        from bot.contract.language.program import compile_contract
        from bot.contract.language.warmup import warmup

        candles = warmup(compile_contract(loaded.contract))
    plan = make_plan(loaded.contract, contract_label(args.contract), candles)
    text = json.dumps(plan.to_dict(), indent=2, ensure_ascii=False) if args.json else table(plan)
    sys.stdout.write(text + "\n")
    return 0


def table(plan: "TodoList") -> str:
    """Write the plan for people."""
    head = {
        "plan": f"{plan.name} ({plan.kind})",
        "contract": f"{plan.contract} ({plan.contract_digest[:19]})",
        "branch": plan.branch,
        "after": ", ".join(plan.after),
        "warm-up": "" if plan.warmup is None else f"{plan.warmup} candles",
    }
    lines = [f"{label:<10}{value}" for label, value in head.items() if value]
    for number, todo in enumerate(plan.todos, start=1):
        lines += ["", f"{number}. {todo.title}"]
        after = ", ".join(todo.depends_on)
        rows = {
            "done when": todo.acceptance,
            "files": todo.files,
            "signatures": todo.signatures,
            "tests": todo.tests,
            "brain": todo.brain,
            "after": (after,) if after else (),
        }
        for label, values in rows.items():
            lines += _row(label, values)
    return "\n".join(lines)


def _row(label: str, values: tuple[str, ...]) -> list[str]:
    lines = []
    for value in values:
        lines += textwrap.wrap(
            value,
            _WIDTH,
            initial_indent=f"   {label:<12}",
            subsequent_indent=" " * 17,
            break_long_words=False,
            break_on_hyphens=False,
        )
        label = ""
    return lines
