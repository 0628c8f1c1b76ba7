"""`stratwright serve`: GitHub's webhooks in, the same work as the Action's; as a GitHub App."""

import argparse
import json
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments; secrets come from the environment or files, never from here."""
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=port, default=8765, help="default: 8765; 0 takes a free one")
    parser.add_argument(
        "--state",
        type=Path,
        default=Path("stratwright-state"),
        metavar="DIR",
        help="queue, clones and locks; default: stratwright-state",
    )
    parser.add_argument(
        "--workers", type=workers, default=1, help="deliveries worked on at once; default: 1"
    )
    parser.add_argument(
        "--grace", type=seconds, default=30.0, metavar="SECONDS",
        help="how long workers may finish when the server is asked to stop; default: 30",
    )  # fmt: skip
    parser.add_argument("--sandbox", default="auto", help="which to use; default: auto")
    parser.add_argument(
        "--aside", action="store_true", help="only list the deliveries that were given up, and why"
    )
    parser.add_argument("--json", action="store_true", help="with --aside: print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Serve until the process is asked to end."""
    if args.aside:
        return list_aside(args)
    from bot.errors import InputError

    try:
        from bot.server.serving import serve
    except ImportError:
        raise InputError(
            "the extra `serve` is not installed", "Install it: pip install '.[serve]' in a checkout"
        ) from None
    from bot.server.settings import read_server_settings
    from bot.workshop import say_on_terminal

    settings = read_server_settings(args.state, args.sandbox)
    serve(settings, args.host, args.port, args.workers, args.grace, say_on_terminal)
    return 0


def list_aside(args: argparse.Namespace) -> int:
    """Print what was given up; GitHub's “Redeliver” queues one again."""
    from dataclasses import asdict

    from bot.errors import InputError
    from bot.redaction import inert
    from bot.server.queue import FILE, Queue

    if not (args.state / FILE).exists():
        raise InputError(f"there is no queue in {args.state}", "Name its folder: --state DIR.")
    queue = Queue(args.state)
    rows = queue.aside()
    queue.close()
    if args.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows]) + "\n")
        return 0
    for row in rows:
        about = f"{row.id}  {row.repository}  {row.event}  [{row.reason}]"
        sys.stdout.write(inert(f"{about}  {' '.join(row.detail.split())}") + "\n")
    if not rows:
        sys.stdout.write("nothing was set aside\n")
    return 0


def port(text: str) -> int:
    """A port's number."""
    if not text.isdecimal() or not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


def workers(text: str) -> int:
    """How many; none only receives."""
    if not text.isdecimal() or not 0 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 64")
    return int(text)


def seconds(text: str) -> float:
    """A span of time."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds up to 3600")
    return value
