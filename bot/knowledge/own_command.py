"""Runs a command of ours in a process of its own, within limits of time and size."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bot.errors import WorldError

MOST_BYTES = 4_000_000
_BEAT_S = 5.0
# No token, key or address of the caller's reaches the command.
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "XDG_CACHE_HOME", "STRATWRIGHT_FREQTRADE")


async def run_own(
    arguments: list[str], root: Path, timeout_s: float, beat: Callable[[float], Awaitable[None]]
) -> tuple[int, dict[str, Any]]:
    """Gives the exit code and the object that the command printed as JSON.

    Args:
        arguments: the command with its arguments; `--json` is added.
        beat: called every few seconds with the seconds so far.

    Raises:
        WorldError: it took too long, printed too much or no JSON.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "bot.cli", *arguments, "--json"),
        cwd=root,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout_s):
            printed = await _read(process, beat)
            code = await process.wait()
    except TimeoutError:
        message = f"{arguments[0]} took more than {timeout_s:g} s and was stopped"
        raise WorldError(message, "Use a shorter history, or the command line.") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return code, _parsed(printed, arguments[0])


async def _read(
    process: asyncio.subprocess.Process, beat: Callable[[float], Awaitable[None]]
) -> bytes:
    """Reads all that is printed, telling now and then that it still runs."""
    if process.stdout is None:
        raise WorldError("the command has no output", "Try again.")
    printed, waited = bytearray(), 0.0
    while True:
        try:
            part = await asyncio.wait_for(process.stdout.read(65_536), _BEAT_S)
        except TimeoutError:
            waited += _BEAT_S
            await beat(waited)
            continue
        if not part:
            return bytes(printed)
        printed += part
        if len(printed) > MOST_BYTES:
            raise WorldError("the command printed too much", "Use the command line.")


def _parsed(printed: bytes, command: str) -> dict[str, Any]:
    try:
        answer = json.loads(printed)
    except ValueError:
        raise WorldError(f"{command} gave no answer", "Try it on the command line.") from None
    return answer if isinstance(answer, dict) else {"answer": answer}
