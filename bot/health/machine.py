"""A machine and a repository to what a run would find there."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from bot import __version__
from bot.errors import MANUAL, StratwrightError, WorldError
from bot.files import cache_folder
from bot.gates.freqtrade.installation import (
    HOW_TO_INSTALL,
    find_freqtrade,
    freqtrade_version,
)
from bot.gates.table import NAMES
from bot.git.repository import open_repository
from bot.settings import FILE, parse_settings
from sandbox_runner.docker.docker_engine import DockerSandbox, engine_may_answer
from sandbox_runner.port import Sandbox, SandboxUnavailable, open_sandbox
from sandbox_runner.probe import try_isolation

_GATE_TOOLS = {
    "pytest": "pytest",
    "pytest-json-report": "pytest",
    "mypy": "mypy",
    "pandas-stubs": "mypy",
    "flake8": "flake8",
    "bandit": "bandit",
    "detect-secrets": "secrets",
    "TA-Lib": "every strategy",
}


@dataclass(frozen=True)
class Finding:
    """One thing that a run needs, or that is good to know."""

    name: str
    well: bool
    detail: str
    hint: str = ""
    needed: bool = True  # whether `run` cannot work without it


def examine_machine(place: Path | None, sandbox: str = "auto") -> tuple[Finding, ...]:
    """Look at everything that `run` uses, by using it; a server has no repository of its own."""
    repository = _repository(place) if place is not None else ()
    return (
        *_programs(),
        *repository,
        *_sandbox(sandbox),
        _freqtrade(),
        _model(),
        _cache(),
        _gates(),
    )


def _programs() -> Iterator[Finding]:
    yield Finding("stratwright", True, __version__)
    wanted = sys.version_info >= (3, 11)
    yield Finding("python", wanted, platform.python_version(), "3.11 or newer is needed")
    for package, gate in _GATE_TOOLS.items():
        try:
            yield Finding(package, True, f"{metadata.version(package)}  (for {gate})")
        except metadata.PackageNotFoundError:
            yield Finding(package, False, f"for {gate}", f"pip install {package}")


def _freqtrade() -> Finding:
    try:
        packages = find_freqtrade()
    except WorldError as error:
        return Finding("freqtrade", False, error.message, error.hint)
    if packages is not None:
        detail = f"{freqtrade_version(packages)}  (for freqtrade-parity), in {packages}"
        return Finding("freqtrade", True, detail, needed=False)
    detail = "without it the Freqtrade file is written and not delivered"
    return Finding("freqtrade", False, detail, HOW_TO_INSTALL, needed=False)


def _model() -> Finding:
    """Whether a model can be asked about rules in prose; it is not asked here."""
    try:
        installed = f"anthropic {metadata.version('anthropic')}"
    except metadata.PackageNotFoundError:
        detail = "rules in prose need an expression beside them"
        hint = f"pip install '.[model]' in a checkout, or write expressions: {MANUAL}/models.md"
        return Finding("model", False, detail, hint, needed=False)
    if os.environ.get("ANTHROPIC_API_KEY"):
        return Finding("model", True, f"{installed}, a key is set  (for prose)", needed=False)
    detail, hint = f"{installed}, no key", "set ANTHROPIC_API_KEY, or write expressions"
    return Finding("model", False, detail, hint, needed=False)


def _repository(place: Path) -> Iterator[Finding]:
    try:
        repository = open_repository(place)
        base, name = repository.base(), repository.repository_id
        person, pushes = repository.person, repository.has_remote
    except StratwrightError as error:
        yield Finding("repository", False, error.message, error.hint)
        return
    yield Finding(
        "repository", True, f"{name}, base {base.branch or 'detached'} {base.commit[:12]}"
    )
    yield from _settings(repository.read(base.commit, FILE))
    yield Finding("committer", True, person)
    detail = "pushes to origin" if pushes else "no remote: proposals stay here"
    yield Finding("remote", pushes, detail, needed=False)


def _settings(written: bytes | None) -> Iterator[Finding]:
    """Says whether the base branch has settings that can be read, and what models may cost."""
    try:
        coder = parse_settings(written).coder
    except StratwrightError as error:
        yield Finding("settings", False, error.message, error.hint)
        return
    yield Finding("settings", True, FILE if written is not None else "the defaults")
    if coder.enabled and coder.type != "template":
        one, day = coder.max_cost_per_invocation_usd, coder.max_cost_per_day_usd
        detail = (
            f"{one:g} US dollars for a contract, {day:g} a day; on GitHub each run that begins "
            f"before another has booked may add {one:g} for each of its contracts"
        )
        yield Finding("model costs", True, detail, needed=False)


def _sandbox(kind: str) -> Iterator[Finding]:
    try:
        found = open_sandbox(kind)
    except SandboxUnavailable as error:
        yield Finding("sandbox", False, error.message, error.hint)
    except ValueError as error:
        yield Finding("sandbox", False, str(error))
    else:
        yield Finding("sandbox", True, f"{found.name}, isolation tried and found")
        yield from _isolation(found)
        if kind == "auto":
            yield from _engine_left_aside(found)


def _isolation(sandbox: Sandbox) -> Iterator[Finding]:
    try:
        attempts = try_isolation(sandbox)
    except SandboxUnavailable as error:
        yield Finding("isolation", False, error.message, error.hint)
        return
    for attempt in attempts:
        name = f"isolation: {attempt.name}"
        yield Finding(name, attempt.held, attempt.detail, needed=attempt.needed)


def _engine_left_aside(found: Sandbox) -> Iterator[Finding]:
    """Why not Docker, where an engine seems to be there."""
    if engine_may_answer() and not isinstance(found, DockerSandbox):
        try:
            open_sandbox("docker")
        except SandboxUnavailable as error:
            yield Finding("docker", False, error.message, error.hint, needed=False)


def _cache() -> Finding:
    warm = any(cache_folder().glob("mypy-*"))
    detail = "warm" if warm else "cold: the first run takes some seconds longer"
    return Finding("mypy cache", warm, detail, needed=False)


def _gates() -> Finding:
    return Finding("gates", bool(NAMES), ", ".join(NAMES))
