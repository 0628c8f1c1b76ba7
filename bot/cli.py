"""Command line to one command's module, with the only place that catches every error."""

import argparse
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from bot import __version__
from bot.commands.failure import show_error
from bot.errors import InputError, StratwrightError

# One module each in bot/commands, imported when it is asked for, so that --help stays quick.
COMMANDS = {
    "run": "plan, write, prove and propose contracts",
    "plan": "check a contract and print its plan",
    "new": "begin a strategy of your own from a template",
    "data": "download candles, list what is there, check it",
    "generate": "write the strategy and the tests of contracts",
    "check": "check what files contain: syntax, imports, secrets",
    "gate": "let the gates judge a candidate, without Git",
    "backtest": "backtest a contract or a strategy file on candles",
    "sweep": "backtest a contract with many values of its parameters",
    "optimize": "search the ranges of a contract's parameters",
    "report": "write out the evidence of a tag or of a refused run",
    "verify": "compute the evidence of a tag again and say whether it holds",
    "eval": "measure how a model reads rules in prose",
    "replay": "rebuild a tag's candidate from a model's stored answers",
    "pr": "list, show, diff, approve or close pull requests",
    "approve": "say yes to a tag's bytes, as a person with an SSH key",
    "halt": "stop a task or everything; nobody has to sign that",
    "rollback": "stop a task and find the tag that was approved before",
    "status": "show what is proposed, blocked, merged, closed or approved",
    "events": "show what happened, or follow it as it happens",
    "event": "one stage of the line for GitHub's event, inside GitHub Actions",
    "serve": "receive GitHub's webhooks and do what the Action does",
    "bridge": "carry signals over Redis to Freqtrade; verify it, trade it",
    "brain": "ask what is known; take in what is installed, check it",
    "mcp": "offer the brain, contracts and gates to agents (MCP)",
    "init": "put workflow, issue form, settings, example into a repository",
    "completion": "print what completes commands in bash, zsh or fish",
    "doctor": "say what is here, what is missing, and which gates will run",
}


class _OneScreen(argparse.HelpFormatter):
    """Help with a column that the longest command fits into: one line for each."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=16)
        self._action_max_length = 14


class Parser(argparse.ArgumentParser):
    """A parser whose complaints take the same way as every other error."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing."""
        raise InputError(message, f"Run {self.prog} --help.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # A year of minutes makes millions of objects and hardly a circle among them.
    gc.set_threshold(100_000, 20, 20)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without UTF-8 shows an escape where it lacks a letter.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run(given)
        sys.stdout.flush()
    except StratwrightError as error:
        code = show_error(error, as_json="--json" in given)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # Whoever read the output has gone; keep the interpreter from complaining on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except Exception:
        code = show_bug(as_json="--json" in given)
    return code


def run(arguments: list[str]) -> int:
    """Parse the arguments and call the command."""
    named = next((word for word in arguments if not word.startswith("-")), "")
    args = build_parser(only=named).parse_args(arguments)
    code: int = args.run(args)
    return code


def build_parser(only: str | None = None) -> Parser:
    """Describe all commands; with `only`, the arguments of that one, which is quicker."""
    parser = Parser(
        prog="stratwright",
        description="Turn contracts into trading strategies, prove them and propose them.",
        epilog="Exit codes: 0 done, 1 refused, 2 bad input, 3 bug, 4 world, 5 safety stop.",
        formatter_class=_OneScreen,
    )
    parser.add_argument("--version", action="version", version=f"stratwright {__version__}")
    parser.set_defaults(build_parser=build_parser)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, words in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=words)
        if only in (None, name):
            module = importlib.import_module(f"bot.commands.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def show_bug(*, as_json: bool) -> int:
    """Say that this is our mistake, and where the traceback is."""
    import traceback

    if os.environ.get("STRATWRIGHT_DEBUG") == "1":
        traceback.print_exc()
        place = "The traceback is above."
    else:
        place = _keep_traceback()
    return show_error(
        StratwrightError("this is a bug in stratwright, not in your input", place), as_json=as_json
    )


def _keep_traceback() -> str:
    import tempfile
    import traceback

    try:
        descriptor, path = tempfile.mkstemp(prefix="stratwright-bug-", suffix=".txt")
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(traceback.format_exc())
    except OSError:
        return "Set STRATWRIGHT_DEBUG=1 to see the traceback."
    return f"Please report it with the traceback in {path}."


if __name__ == "__main__":
    sys.exit(main())
