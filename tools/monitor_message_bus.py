"""Prints the events of a channel as JSON lines, as they come, until stopped.

Run it in a repository: `python tools/monitor_message_bus.py --channel task.events`.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

if __package__ in (None, ""):
    # Started by its path: only this folder is on the path then, not the house.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.commands.events import add_channel, show
from bot.errors import StratwrightError


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow a channel and give the exit code."""
    parser = argparse.ArgumentParser(description="Print the events of a channel as JSON lines.")
    add_channel(parser)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--follow", action="store_true", help="wait for more until stopped (default)")
    mode.add_argument("--once", action="store_true", help="print what is there and end")
    args = parser.parse_args(arguments)
    try:
        show(args, follow=not args.once, as_json=True)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has gone
        return 141
    except StratwrightError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
