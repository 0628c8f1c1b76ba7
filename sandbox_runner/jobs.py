"""Turns what a gate wants to know into a job for a sandbox; pure values, nothing runs here.

The linters only parse and never execute a candidate, yet they run inside as well: a parser can be
made to crash or to eat all memory, and a candidate's folder could hold a configuration or a
plugin. They are told to read none, and to overlook no line that asks for it (`noqa`, `nosec`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_runner.port import (
    JOB_FOLDER,
    OUT_FOLDER,
    PACKAGES_FOLDER,
    PYTHON,
    SHARED_FOLDER,
    USUAL_LIMITS,
    Job,
    Limits,
)
from sandbox_runner.request import DECISIONS_FILE, REQUEST_FILE, Request, Run

TEST_REPORT = "test_report.json"
MUTANTS_FILE = "mutants.json"
LIKENESS_FILE = "likeness.json"
FREQTRADE_ANSWER = "freqtrade.json"
_FREQTRADE_REQUEST = "request.json"
TOOLS = ("flake8", "mypy", "bandit")
_MYPY_CONFIG = "mypy.ini"
# Kept apart from the candidate's paths, which mirror the repository.
_SETTINGS = ".stratwright"
# Our packages, and our stubs of Freqtrade, which ships no types and need not be installed.
_TYPES = f"{PACKAGES_FOLDER}:{PACKAGES_FOLDER}/sandbox_runner/stubs"


def decisions_job(
    strategy: str,
    source: bytes,
    cfg: Mapping[str, object],
    candles: Mapping[str, bytes],
    runs: Sequence[Run],
    *,
    workers: int = 1,
    hash_seed: int = 0,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Ask a strategy for its decisions.

    Args:
        strategy: its repository path, `Backtest/codes/x.py`.
        source: the bytes that were checked.
        cfg: the settings it gets, plain JSON values; each run adds its symbol.
        candles: packed frames (`pack_candles`) by a name without folders.
        runs: what to ask; `Run.candles` is a name of `candles`.
        workers: how many runs go side by side.
        hash_seed: Python's hash seed inside.
        limits: time and memory for the whole job.

    Returns:
        A job that writes `decisions.json`, see `harness/ask_strategy.py`.
    """
    unknown = {run.candles for run in runs} - set(candles)
    if unknown:
        raise ValueError(f"no candles are called {sorted(unknown)[0]!r}")
    placed = [replace(run, candles=f"candles/{run.candles}") for run in runs]
    files = {f"candles/{name}": content for name, content in candles.items()}
    files[REQUEST_FILE] = Request(strategy, cfg, placed, workers).to_bytes()
    return Job(
        command=(PYTHON, "-m", "sandbox_runner.harness.ask_strategy"),
        files={**files, strategy: source},
        collect=(DECISIONS_FILE,),
        hash_seed=hash_seed,
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )


def pytest_job(
    tests: str,
    files: Mapping[str, bytes],
    *,
    hash_seed: int = 0,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Run one test file.

    Args:
        tests: its repository path, `tests/test_x.py`.
        files: it, the strategy and the data they read, by repository path.
        hash_seed: Python's hash seed inside.
        limits: time and memory for the whole job.

    Returns:
        A job that writes `test_report.json` (pytest-json-report).
    """
    if tests not in files:
        raise ValueError(f"{tests!r} is not among the files of the job")
    command = (
        *(PYTHON, "-m", "pytest", tests, "-q", "-p", "no:cacheprovider", "--noconftest"),
        *("-c", "/dev/null", f"--rootdir={JOB_FOLDER}", "--import-mode=importlib"),
        # Plugins are named one by one, because what is installed must not change a verdict.
        *("-p", "pytest_metadata.plugin", "-p", "pytest_jsonreport.plugin"),
        *("--json-report", f"--json-report-file={OUT_FOLDER}/{TEST_REPORT}"),
        *("--json-report-omit", "collectors", "log", "streams"),
    )
    return Job(
        command=command,
        files=files,
        collect=(TEST_REPORT,),
        environment={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        hash_seed=hash_seed,
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )


def mutants_job(
    strategy: str,
    tests: str,
    content: bytes,
    sources: Sequence[str],
    *,
    workers: int = 2,
    seconds_each: int = 60,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Run one test file against many versions of its strategy.

    Args:
        strategy: the strategy's repository path.
        tests: the test file's repository path.
        content: the test file.
        sources: the versions.
        workers: how many go side by side.
        seconds_each: for one version.
        limits: time and memory for the whole job.

    Returns:
        A job that writes `mutants.json`, see `harness/run_mutants.py`.
    """
    request = {
        "strategy": strategy,
        "tests": tests,
        "sources": list(sources),
        "workers": workers,
        "seconds": seconds_each,
    }
    job = _asked("run_mutants", MUTANTS_FILE, request, limits)
    return replace(job, files={**job.files, tests: content})


def likeness_job(
    source: str,
    versions: Sequence[str],
    *,
    bars: int,
    minutes: int,
    seeds: Sequence[int],
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Hold versions of a strategy against the strategy itself on random markets.

    Args:
        source: the strategy.
        versions: others of it.
        bars: of a market.
        minutes: the length of a candle.
        seeds: the markets.
        limits: time and memory for the whole job.

    Returns:
        A job that writes `likeness.json`, see `harness/compare_versions.py`.
    """
    request = {
        "source": source,
        "versions": list(versions),
        "bars": bars,
        "minutes": minutes,
        "seeds": list(seeds),
        "seconds": 60,
    }
    return _asked("compare_versions", LIKENESS_FILE, request, limits)


def _asked(module: str, file: str, request: Mapping[str, object], limits: Limits) -> Job:
    """A module of ours that reads a request and writes its answer to a file of the same name."""
    return Job(
        command=(PYTHON, "-m", f"sandbox_runner.harness.{module}"),
        files={file: json.dumps(request).encode()},
        collect=(file,),
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )


def freqtrade_job(
    strategy: str,
    source: bytes,
    request: bytes,
    *,
    packages: Path | None = None,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Ask Freqtrade for the signals and the trades of a strategy.

    Args:
        strategy: its repository path, `Backtest/freqtrade/X.py`.
        source: the bytes that were checked.
        request: what `harness/ask_freqtrade.py` is asked.
        packages: site-packages of an environment with Freqtrade; none to ask a record.
        limits: time and memory for the whole job.

    Returns:
        A job that writes `freqtrade.json`.
    """
    # Ours come first: nothing of Freqtrade's environment has the name of one of them.
    environment = {"PYTHONPATH": f"{PACKAGES_FOLDER}:{SHARED_FOLDER}/freqtrade"}
    question, answer = f"{JOB_FOLDER}/{_FREQTRADE_REQUEST}", f"{OUT_FOLDER}/{FREQTRADE_ANSWER}"
    return Job(
        command=(PYTHON, "-m", "sandbox_runner.harness.ask_freqtrade", question, answer),
        files={strategy: source, _FREQTRADE_REQUEST: request},
        collect=(FREQTRADE_ANSWER,),
        shared={} if packages is None else {"freqtrade": packages},
        environment=environment,
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )


def tool_job(
    tool: str,
    files: Mapping[str, bytes],
    targets: Iterable[str],
    *,
    mypy_cache: Path | None = None,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Let flake8, mypy or bandit read some of the files.

    Args:
        tool: one of `TOOLS`.
        files: the candidate by repository path.
        targets: the paths that are judged.
        mypy_cache: a folder from `mypy_cache.warm_cache`; only read.
        limits: time and memory for the whole job.

    Returns:
        A job that prints the tool's findings: flake8 `path:line:column: code text`, mypy and
        bandit JSON.
    """
    judged = tuple(targets)
    if tool not in TOOLS:
        raise ValueError(f"no tool is called {tool!r}; known: {', '.join(TOOLS)}")
    if not judged:
        raise ValueError(f"{tool} needs at least one file to read")
    settings = f"{_SETTINGS}/{_MYPY_CONFIG}"
    commands = {
        "flake8": ("flake8", "--isolated", "--disable-noqa", "--max-line-length=100", "--jobs=1"),
        "mypy": (
            *("sandbox_runner.harness.type_check", "--strict", "--output=json"),
            *(f"--config-file={JOB_FOLDER}/{settings}", "--no-error-summary", "--no-color-output"),
        ),
        "bandit": ("bandit", "--quiet", "--format=json", "--exit-zero", "--ignore-nosec"),
    }
    return Job(
        command=(PYTHON, "-m", *commands[tool], *judged),
        files={**files, settings: b"[mypy]\n"} if tool == "mypy" else files,
        shared={} if mypy_cache is None else {"mypy": mypy_cache},
        environment={"MYPYPATH": _TYPES} if tool == "mypy" else {},
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )
