"""Asks questions in fresh children of this process, so that no answer knows of another one."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from sandbox_runner.harness.blind import landlock_version, sweep

Question = Callable[[], dict[str, object]]


def answer_all(questions: Sequence[Question], workers: int, file: Path) -> None:
    """Asks each question in a child of its own, `workers` at a time, and writes {"runs": [...]}.

    Without Landlock they go one at a time, and what a run has written is removed in between.
    """
    closed = landlock_version() > 0
    at_once = workers if closed else 1
    answers: list[bytes] = []
    for first in range(0, len(questions), at_once):
        children = [start(_writing(question)) for question in questions[first : first + at_once]]
        answers += [_listen(child, reader) for child, reader in children]
        _end_strays()
        if not closed:
            sweep()
    file.write_bytes(b'{"runs":[' + b",".join(answers) + b"]}")


def start(work: Callable[[int], int]) -> tuple[int, int]:
    """Starts a child that ends with the exit code of its work, which is given a pipe to write to.

    The result is the child's number, and the end of the pipe to read from.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.close(reader)
            code = work(writer)
        finally:
            os._exit(code)
    os.close(writer)
    return child, reader


def wait(child: int, reader: int, most: int = -1) -> tuple[bytes, int]:
    """Waits for a child: what it wrote, at most so many bytes, and its exit code."""
    with open(reader, "rb") as pipe:
        content = pipe.read(most)
    _, status = os.waitpid(child, 0)
    return content, os.waitstatus_to_exitcode(status)


def _writing(question: Question) -> Callable[[int], int]:
    def work(writer: int) -> int:
        content = memoryview(json.dumps(question(), separators=(",", ":")).encode())
        while content:
            content = content[os.write(writer, content) :]
        return 0

    return work


def _listen(child: int, reader: int) -> bytes:
    content, code = wait(child, reader)
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(content), dict):
            return content
    message = f"the process ended without an answer (exit code {code})"
    return json.dumps({"error": {"type": "NoAnswer", "message": message, "line": None}}).encode()


def _end_strays() -> None:
    """Ends what a run has left behind: it would see the next run's files and processes."""
    while True:
        children = Path("/proc/self/task", str(os.getpid()), "children")
        strays = children.read_text("ascii").split() if children.exists() else []
        if not strays:
            return
        for stray in strays:
            with suppress(ProcessLookupError):
                os.kill(int(stray), signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(int(stray), 0)
