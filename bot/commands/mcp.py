"""`stratwright mcp`: the brain, contracts, backtests and gates as MCP tools, over stdio."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from bot.errors import InputError, WorldError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "--repository", type=Path, metavar="DIR", help="default: the one around this folder"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the client goes away."""
    from bot.files import repository_root

    if find_spec("mcp") is None:
        raise WorldError("the package mcp is not installed", "pip install '.[mcp]' in a checkout")
    root = args.repository or repository_root(Path("x"))
    if not root.is_dir():
        raise InputError(f"{root} is not a folder", "Give --repository a checkout.")
    from bot.knowledge.mcp_server import make_server

    make_server(root).run("stdio")
    return 0
