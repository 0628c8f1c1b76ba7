"""Small repositories, and lines in their own process."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.bus.port import TASK_EVENTS, Event, open_bus
from bot.coder.port import Candidate, Failure
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.model import AnyContract
from bot.files import cache_folder
from bot.forge.port import open_forge
from bot.git.repository import open_repository
from bot.pipeline import Result, run_line
from bot.proof.edges import Prover, Workshop
from bot.proof.findings import Verification
from bot.proof.verification import Checker, verify
from sandbox_runner.mypy_cache import warm_cache
from sandbox_runner.port import Sandbox, open_sandbox
from tests.bot.git.worlds import World, commit_file, make_world, quiet_environment, sh
from tests.remembered import Remembering, remember_examinations
from tests.templates import copy_template

HOUSE = Path(__file__).resolve().parents[2]
CANDLES = HOUSE / "tests/fixtures/sample_btc.csv"
BARS = 400
STEPS = (
    *("written", "proven", "sealed", "locked", "objects"),
    *("pushed", "refs", "committed", "submitted"),
)

CONTRACT = """\
version: "1.0"
workflow: {workflow}
task: {task}
kind: strategy
name: QuickDip
description: Buy short dips.
market: {{symbols: [BTC/USDT], timeframe: 1h}}
data: {{source: csv, path: {data}}}
indicators:
  rsi: {{function: RSI, timeperiod: 5}}
rules:
  enter_long: rsi < {oversold}
  exit_long: rsi > 60
risk:
  stop_loss: 0.02
targets: [adapter]
{more}"""


def contract_text(
    workflow: str = "dip",
    task: str = "strategy",
    oversold: int = 30,
    data: str = "data/btc.csv",
    more: str = "",
) -> str:
    return CONTRACT.format(
        workflow=workflow, task=task, oversold=oversold, data=data, more=more and f"{more}\n"
    )


def candles_text(bars: int = BARS) -> str:
    return "".join(CANDLES.read_text("utf-8").splitlines(keepends=True)[: bars + 1])


def line_world(folder: Path, *, remote: bool = True, bars: int = BARS, more: str = "") -> World:
    """A trader's repository with one contract and its candles, committed and pushed."""
    key = "line", remote, bars, more
    copy_template(folder, key, lambda place: _make_line(place, remote, bars, more))
    return World(folder / "work", folder / "remote.git")


def _make_line(folder: Path, remote: bool, bars: int, more: str) -> None:
    world = make_world(folder, remote=remote)
    commit_file(world.work, "data/btc.csv", candles_text(bars))
    commit_file(world.work, "contracts/dip.yaml", contract_text(more=more))
    if remote:
        sh(world.work, "push", "-q", "origin", "main")


def open_shop(world: World, sandbox: Sandbox, **edges: Any) -> Workshop:
    repository = open_repository(world.work)
    coder = edges.pop("coder", TemplateCoder())
    parts = {name: edges.pop(name) for name in ("limits", "memory") if name in edges}
    prover = Prover(sandbox, warm_cache(cache_folder()), say=edges.get("say", str), **parts)
    return Workshop(
        repository=repository,
        forge=open_forge("local", repository),
        bus=open_bus(repository.folder),
        open_coder=lambda contract: coder,
        open_prover=lambda: prover,
        **edges,
    )


def run(world: World, sandbox: Sandbox, path: str = "contracts/dip.yaml", **edges: Any) -> Result:
    """One contract through the line, in this process."""
    return run_line(world.work / path, open_shop(world, sandbox, **edges))


def checked(work: Path, tag: str, sandbox: Sandbox, **edges: Any) -> Verification:
    """What `verify` finds, with this sandbox."""
    world = World(work, work.with_name("remote.git"))
    repository = open_repository(work, to_write=False)
    checker = Checker(
        lambda contract: TemplateCoder(),
        lambda: open_shop(world, sandbox, **edges).open_prover(),
    )
    return verify(tag, repository, checker)


def events(world: World) -> list[Event]:
    return list(open_bus(world.work / ".git/stratwright").read(TASK_EVENTS))


@dataclass(frozen=True)
class ChangedCoder:
    """The template coder, with its files changed on the way out."""

    change: Callable[[dict[str, str]], Mapping[str, str]]
    rounds: int = 1
    name: str = "template"

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        candidate = TemplateCoder().write(contract, contract_path)
        return replace(candidate, files=self.change(dict(candidate.files)))


def snapshot(world: World) -> dict[str, Any]:
    """Everything of a repository that a refused run must not change."""
    files = [path for path in world.work.rglob("*") if ".git" not in path.parts]
    return {
        "refs": world.refs(),
        "head": (world.work / ".git/HEAD").read_bytes(),
        "index": _content(world.work / ".git/index"),
        "config": (world.work / ".git/config").read_bytes(),
        "files": {str(path): _content(path) for path in sorted(files)},
        "objects": {side: count_objects(side) for side in (world.work, world.remote)},
    }


def _content(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return os.readlink(path)
    return path.read_bytes() if path.is_file() else None


def count_objects(folder: Path) -> list[str]:
    """The names of all objects of a repository, reachable or not."""
    if not folder.exists():
        return []
    listed = sh(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return sorted(listed.split())


def delivered(world: World) -> dict[str, str]:
    """Our refs on both sides."""
    return {name: oid for name, oid in world.refs().items() if "/ai/" in name}


def _child(work: str, memory: str, path: str, die_at: str, answer: str, regenerate: bool) -> None:
    os.environ.update(quiet_environment())
    world = World(Path(work), Path(work).with_name("remote.git"))
    sandbox = Remembering(Path(memory), open_sandbox()) if memory else open_sandbox()
    if memory:
        remember_examinations(Path(memory))

    def at(step: str) -> None:
        if step == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    result = run(world, sandbox, path, at=at, regenerate=regenerate)
    Path(answer).write_text(json.dumps(result.to_dict()), "utf-8")


_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.e2e.lines"])


@dataclass(frozen=True)
class Child:
    """A line in a process of its own."""

    process: Any
    answer: Path

    def kill(self) -> None:
        self.process.kill()

    def end(self, timeout_s: float = 400.0) -> dict[str, Any] | None:
        """Wait for it; what it answered, None if it was killed."""
        self.process.join(timeout_s)
        assert self.process.exitcode is not None, "it did not end"
        if self.process.exitcode == -signal.SIGKILL:
            return None
        assert self.process.exitcode == 0
        result: dict[str, Any] = json.loads(self.answer.read_text("utf-8"))
        return result


def start(
    world: World,
    memory: Path | None,
    path: str = "contracts/dip.yaml",
    die_at: str = "",
    *,
    regenerate: bool = False,
) -> Child:
    """Start a line in a process of its own; without a memory its sandbox is asked anew."""
    answers = world.work.with_name("answers")
    answers.mkdir(exist_ok=True)
    answer = answers / f"{len(list(answers.iterdir()))}.json"
    answer.touch()
    arguments = (str(world.work), str(memory or ""), path, die_at, str(answer), regenerate)
    process = _PROCESSES.Process(target=_child, args=arguments)
    process.start()
    return Child(process, answer)


def stratwright(
    folder: Path, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """The command as a user types it."""
    return subprocess.run(
        [sys.executable, "-m", "bot.cli", *arguments],
        cwd=folder,
        env={**quiet_environment(), "PYTHONPATH": str(HOUSE), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
