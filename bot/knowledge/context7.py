"""Asks Context7 for current documentation, by its own MCP server; off unless settings turn it on.

The question goes over the network, and what comes back is data of others. An answer is kept for
two weeks; a server that does not answer is left alone for ten minutes, without a word.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.files import cache_folder, write_files
from bot.knowledge.port import LETTERS_PER_TOKEN, Answer

# Names the program `context7-mcp`; else it is looked for on the PATH.
VARIABLE = "STRATWRIGHT_CONTEXT7"
KEPT_S, SILENT_S = 14 * 86_400, 600
_TIMEOUT_S = 20.0
_ID = re.compile(r"library ID: (/[\w./@-]+)")
_PASSED_ON = ("PATH", "HOME", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "CONTEXT7_API_KEY",
              "CONTEXT7_API_URL")  # fmt: skip


@dataclass(frozen=True)
class Context7:
    """The live documentation of libraries; see `search`."""

    program: str
    now: Callable[[], float] = time.time

    def search(self, question: str, library: str, tokens: int) -> tuple[Answer, ...]:
        """Gives at most one passage, cut to a budget; nothing if the server has none or is away."""
        name = hashlib.sha256(f"{library}\n{' '.join(question.split())}".encode()).hexdigest()
        kept = self._kept(f"{name[:32]}.json")
        if kept is None:
            kept = self._asked(question, library)
            told = json.dumps({"at": self.now(), "found": kept})
            write_files(cache_folder() / "context7", {f"{name[:32]}.json": told})
        if not kept:
            return ()
        identity, text = kept
        source = f"Context7 {identity}"
        room = max(0, (tokens - 1) * LETTERS_PER_TOKEN - len(library) - len(source))
        return (Answer(library, "documentation", "Context7", identity, source, text[:room], 0.0),)

    def _kept(self, name: str) -> list[str] | None:
        """What was found before, empty if nothing was; None if it is not known or too old."""
        try:
            told = json.loads((cache_folder() / "context7" / name).read_text("utf-8"))
            found = [str(part) for part in told["found"]]
            age = self.now() - float(told["at"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        fresh = 0 <= age < (KEPT_S if found else SILENT_S)
        return found if fresh and len(found) in (0, 2) else None

    def _asked(self, question: str, library: str) -> list[str]:
        try:
            return asyncio.run(self._resolved(question, library))
        except Exception:  # whatever a stranger's program does, the brain still answers
            return []

    async def _resolved(self, question: str, library: str) -> list[str]:
        """The two tools in turn: which library is meant, then what its documentation says."""
        from mcp import Client, StdioServerParameters, stdio_client

        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        server = StdioServerParameters(command=self.program, args=[], env=passed)
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            async with asyncio.timeout(_TIMEOUT_S), Client(stdio_client(server, nowhere)) as client:

                async def ask(tool: str, **given: str) -> str:
                    answer = await client.call_tool(tool, given)
                    parts = [str(getattr(part, "text", "")) for part in answer.content]
                    failed = answer.is_error or not parts or parts[0].startswith("Error ")
                    return "" if failed else "\n".join(parts)

                found = await ask("resolve-library-id", query=question, libraryName=library)
                identity = _ID.search(found)
                if identity is None:
                    return []
                text = await ask("query-docs", libraryId=identity[1], query=question)
                return [identity[1], text] if text.strip() else []


def open_context7() -> Context7 | None:
    """Finds the program; None if it, or the package `mcp`, is not installed."""
    from importlib.util import find_spec

    program = os.environ.get(VARIABLE) or shutil.which("context7-mcp")
    return Context7(program) if program and find_spec("mcp") else None
