"""The command in a process that has loaded everything: it forks for each call, as quick as a shell.

    python -m tests.e2e.ready SOCKET

Act starts the command some forty times, and each time Python would load the same libraries for two
seconds. Arguments, variables, folder and streams are the caller's; what the command remembers while
it runs ends with its process, as it does elsewhere.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bot.workflow.hub import HOUSE

# Run by Python without its library of packages, in a few milliseconds.
CALLER = """import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as link:
    link.connect({place!r})
    socket.send_fds(link, [b"."], [0, 1, 2])
    asked = {{"arguments": sys.argv[1:], "variables": dict(os.environ), "folder": os.getcwd()}}
    link.sendall(json.dumps(asked).encode())
    link.shutdown(socket.SHUT_WR)
    said = link.recv(1)
sys.exit(said[0] if said else 137)
"""


@contextlib.contextmanager
def ready_command() -> Iterator[str]:
    """Start it; gives a program that calls it, for `python -I -S`."""
    with tempfile.TemporaryDirectory(prefix="ready-") as folder:
        place = str(Path(folder) / "socket")
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.ready", place], cwd=HOUSE, stdout=subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield CALLER.format(place=place)
        finally:
            process.kill()
            process.communicate()


def serve(place: str) -> None:
    """Load what the stages need, then answer each call in a child."""
    import bot.commands.event
    import bot.workflow.stages
    import bot.workflow.writing
    import bot.workshop  # noqa: F401
    import tests.remembered  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(16)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            link, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                answer(link)
            link.close()


def answer(link: socket.socket) -> None:
    """Be the command for one caller, and end."""
    code = 3
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, streams, _, _ = socket.recv_fds(link, 1, 3)
        asked = json.loads(link.makefile("rb").read())
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["variables"])
        code = command(asked["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        link.send(bytes([code]))
        os._exit(code)


def command(arguments: list[str]) -> int:
    """The command with one leg, and a sandbox that is asked each question once in a test run."""
    import bot.workshop
    from bot.cli import main
    from bot.workflow import items
    from tests.remembered import remembering

    items.LEGS = items.LEGS[:1]
    bot.workshop.open_sandbox = remembering()  # type: ignore[assignment]
    return main(arguments)


if __name__ == "__main__":
    serve(sys.argv[1])
