"""The command with a sandbox that remembers, in the workers that the server starts."""

import sys

if __name__ == "__main__":
    from bot.cli import main

    sys.exit(main())

# A worker is a new process, which reads this file again under another name.
import bot.workshop
from tests.remembered import remembering

bot.workshop.open_sandbox = remembering()  # type: ignore[assignment]
