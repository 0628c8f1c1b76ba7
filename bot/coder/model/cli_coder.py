"""Lets the Claude Code CLI write the files of a contract, and reads honestly what it says."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.coder.model.brief import cli_text
from bot.coder.model.client import KEY, refuse_clear
from bot.coder.model.file_coder import FileCoder, Round
from bot.coder.model.loop import NotWritten
from bot.coder.model.meter import Meter
from bot.coder.model.session import Exchange, Said
from bot.errors import InputError, StratwrightError, WorldError
from bot.redaction import inert, known_secrets, redact, redact_all

_MOST_BYTES = 10_000_000
_OFF = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")  # fmt: skip
_HANDED = ("PATH", "LANG", "TZ", "ANTHROPIC_BASE_URL", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
_OURS = ("mcp__stratwright__search_brain", "mcp__stratwright__explain")
_COUNTED = {"inputTokens": "input_tokens", "outputTokens": "output_tokens",
            "cacheCreationInputTokens": "cache_creation_input_tokens",
            "cacheReadInputTokens": "cache_read_input_tokens"}  # fmt: skip


class _NotStarted(WorldError):
    """The program did not even begin, so it cost nothing."""


def find_program(named: str) -> str | None:
    """Find the user's `claude`, else the one in the wheel `claude-agent-sdk`."""
    found = shutil.which(named)
    if found or named != "claude":
        return found
    spec = importlib.util.find_spec("claude_agent_sdk")
    bundled = Path(spec.origin).parent / "_bundled" / "claude" if spec and spec.origin else None
    return str(bundled) if bundled and os.access(bundled, os.X_OK) else None


class CliCoder(FileCoder):
    """Writes files by Claude Code: its own tools, without a shell, in a folder of its own."""

    name = "cli"

    def work(self, todo: Round, meter: Meter) -> None:
        """Let the CLI work in the round's folder.

        Raises:
            NotWritten: it says that something went wrong, or a tool was denied.
            WorldError: it did not answer.
        """
        program, words = self._program(), todo.words + self.wrong_words()
        environment(todo.tree)  # without a key nothing is booked
        # What it may cost at most is set aside as a whole; the CLI is told, and held to it.
        left = meter.budget.most_here - meter.budget.spent
        booked = meter.budget.set_aside(max(left, 1))
        paid: int | None = None
        failed = "it was stopped"
        try:
            with tempfile.TemporaryDirectory() as home:
                command = self._command(program, words, todo.tree, Path(home), left)
                self._bench.say(f"claude code writes, round {todo.number}")
                raw = _run(command, todo.tree, Path(home), meter.remaining())
            answer = _read(raw)
            paid, failed = _cost(answer, meter), ""
        except StratwrightError as error:
            paid = 0 if isinstance(error, _NotStarted) else None
            failed = error.message[:1000]
            raise
        finally:
            spent = meter.budget.settle(booked, paid)
            if failed:
                made = Exchange(round=todo.number, asked=words, failed=failed, cost=spent)
                self._exchanges.append(made)
        told = json.dumps(redact_all(answer, known_secrets()), sort_keys=True)[:200_000]
        said = Said(text=told, stop_reason=str(answer.get("subtype"))[:100], usage={})
        self._exchanges.append(Exchange(round=todo.number, asked=words, said=said, cost=spent))
        wrong = trouble(answer)
        if wrong:
            raise NotWritten(f"Claude Code: {inert(wrong)[:500]}")

    def told(self) -> tuple[str, str]:
        """Gives our instructions; its tools are its own."""
        return cli_text(), ""

    def _program(self) -> str:
        named, root = self._bench.settings.cli_path, self._bench.root
        program = find_program(named)
        if program is None:
            hint = "Install Claude Code, or pip install claude-agent-sdk; or write coder: agent."
            raise InputError(f"coder: cli needs the program {named}", hint)
        # The settings come from the repository, and it is given the key.
        places = (Path(program).absolute(), Path(program).resolve())
        if root and any(place.is_relative_to(root.resolve()) for place in places):
            hint = "Name a program of this machine, as claude."
            raise InputError(f"cli_path {named} is a file of the repository itself", hint)
        return program

    def _command(self, program: str, words: str, tree: Path, home: Path, left: int) -> list[str]:
        settings = self._bench.settings
        tools = ",".join(tool for tool in settings.allowed_tools if tool != "Bash")
        config = home / "mcp.json"
        ours = {"command": sys.executable, "args": ["-I", "-m", "bot.cli", "mcp", "--repository",
                                                    str(tree)]}  # fmt: skip
        config.write_text(json.dumps({"mcpServers": {"stratwright": ours}}))
        return [
            program, "-p", words, "--append-system-prompt", cli_text(),
            "--output-format", settings.output_format,
            # What is allowed by name is allowed everywhere: files only by the mode, in the folder.
            "--allowedTools", ",".join(_OURS), "--tools", tools,
            "--permission-mode", "acceptEdits", "--max-turns", str(settings.max_turns),
            "--add-dir", str(tree), "--model", settings.model,
            "--max-budget-usd", f"{left / 1e6:.6f}", "--mcp-config", str(config),
            "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence",
            "--restricted",
        ]  # fmt: skip


def environment(home: Path) -> dict[str, str]:
    """Give the CLI a home of its own and the key; nothing else of ours."""
    key = os.environ.get(KEY)
    if not key:
        raise InputError(f"no key for a model is set: {KEY} is empty")
    refuse_clear(os.environ.get("ANTHROPIC_BASE_URL", ""))
    handed = {name: os.environ[name] for name in _HANDED if name in os.environ}
    return {**handed, KEY: key, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"),
            **dict.fromkeys(_OFF, "1")}  # fmt: skip


def _run(command: list[str], tree: Path, home: Path, timeout_s: float) -> bytes:
    with tempfile.TemporaryFile() as out:
        try:
            process = subprocess.Popen(  # noqa: S603 - the program that the settings name
                command, cwd=tree, env=environment(home), stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            message = f"Claude Code cannot be started: {error.strerror}"
            raise _NotStarted(message, "Look at coder.cli_path; or write coder: agent.") from None
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            hint = "Raise coder.timeout_seconds, or run again."
            raise WorldError(f"Claude Code took longer than {timeout_s:g} s", hint) from None
        finally:
            # It may have started servers of tools.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        return out.read(_MOST_BYTES)


def _read(raw: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(raw)
        if not isinstance(answer, dict):
            raise ValueError
    except (ValueError, RecursionError):
        shown = inert(redact(raw[:200].decode("utf-8", "replace"), known_secrets()))
        raise WorldError(f"Claude Code gave no answer that can be read: {shown!r}") from None
    return answer


def trouble(answer: dict[str, Any]) -> str:
    """Say what went wrong; `subtype` alone is no witness, it says success of a dead service too."""
    if answer.get("is_error") is not False:
        return f"{answer.get('subtype')}: {answer.get('result') or answer.get('errors')}"
    denied = answer.get("permission_denials")
    if not isinstance(denied, list) or denied:
        return f"a tool was denied: {json.dumps(denied)[:300]}"
    return "" if answer.get("subtype") == "success" else str(answer.get("subtype"))


def _cost(answer: dict[str, Any], meter: Meter) -> int | None:
    """Count by our own prices and by its own word, and take the larger; None if it says neither."""
    said = answer.get("total_cost_usd")
    used = answer.get("modelUsage")
    if not isinstance(said, int | float) or not 0 <= said < 1e6 or not isinstance(used, dict):
        return None
    counts = dict.fromkeys(_COUNTED.values(), 0)
    for row in used.values():
        for name, ours in _COUNTED.items():
            count = row.get(name, 0) if isinstance(row, dict) else 0
            counts[ours] += count if isinstance(count, int) and count > 0 else 0
    return max(int(said * 1e6 + 1), meter.price.of(counts))
