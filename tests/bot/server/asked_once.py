"""The command with a sandbox that remembers, in the server and in the workers that it starts."""

import sys

import bot.workshop
from bot.cli import main
from tests.remembered import remembering

bot.workshop.open_sandbox = remembering()  # type: ignore[assignment]

if __name__ == "__main__":
    sys.exit(main())
