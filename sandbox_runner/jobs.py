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
    Job,
    Limits,
)
from sandbox_runner.request import DECISIONS_FILE, REQUEST_FILE, Request, Run
from sandbox_runner.rules import STYLE, USUAL_LIMITS, read_block

TEST_REPORT = "test_report.json"
MUTANTS_FILE = "mutants.json"
LIKENESS_FILE = "likeness.json"
FREQTRADE_ANSWER = "freqtrade.json"
_FREQTRADE_REQUEST = "request.json"
TOOLS = ("flake8", "mypy", "bandit")
_SECONDS_EACH = 60  # for one version of a strategy
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
    """Asks a strategy for its decisions; `harness/ask_strategy.py` writes `decisions.json`.

    `candles` are packed frames (`pack_candles`) by a name without folders, as in `Run.candles`;
    each run adds its symbol to `cfg`.
    """
    unknown = {run.candles for run in runs} - set(candles)
    if unknown:
        raise ValueError(f"no candles are called {sorted(unknown)[0]!r}")
    placed = [replace(run, candles=f"candles/{run.candles}") for run in runs]
    files = {f"candles/{name}": content for name, content in candles.items()}
    files[REQUEST_FILE] = Request(strategy, cfg, placed, workers).to_bytes()
    job = _harness_job("ask_strategy", {**files, strategy: source}, DECISIONS_FILE, limits)
    return replace(job, hash_seed=hash_seed)


def _harness_job(module: str, files: Mapping[str, bytes], answer: str, limits: Limits) -> Job:
    """Runs a module of the harness, which writes one file."""
    command = (PYTHON, "-m", f"sandbox_runner.harness.{module}")
    return _limited(Job(command, files, collect=(answer,)), limits)


def _limited(job: Job, limits: Limits) -> Job:
    return replace(job, timeout_s=limits.time_s, memory_mb=limits.memory_mb)


def pytest_job(tests: str, files: Mapping[str, bytes], limits: Limits = USUAL_LIMITS) -> Job:
    """Runs one test file, which is among `files` by its repository path.

    The job writes `test_report.json` (pytest-json-report).
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
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return _limited(Job(command, files, (TEST_REPORT,), environment=environment), limits)


def mutants_job(
    strategy: str, tests: str, content: bytes, sources: Sequence[str], *, workers: int = 2
) -> Job:
    """Runs one test file against many versions of its strategy, `workers` of them side by side.

    `strategy` and `tests` are repository paths; `harness/run_mutants.py` writes `mutants.json`.
    """
    request = {
        "strategy": strategy,
        "tests": tests,
        "sources": list(sources),
        "workers": workers,
        "seconds": _SECONDS_EACH,
    }
    files = {MUTANTS_FILE: json.dumps(request).encode(), tests: content}
    return _harness_job("run_mutants", files, MUTANTS_FILE, USUAL_LIMITS)


def likeness_job(
    source: str, versions: Sequence[str], *, bars: int, minutes: int, seeds: Sequence[int]
) -> Job:
    """Holds versions of a strategy against the strategy itself on a random market for each seed.

    `harness/compare_versions.py` writes `likeness.json`.
    """
    request = {
        "source": source,
        "versions": list(versions),
        "bars": bars,
        "minutes": minutes,
        "seeds": list(seeds),
        "seconds": _SECONDS_EACH,
    }
    files = {LIKENESS_FILE: json.dumps(request).encode()}
    return _harness_job("compare_versions", files, LIKENESS_FILE, USUAL_LIMITS)


def freqtrade_job(
    strategy: str,
    source: bytes,
    request: bytes,
    *,
    packages: Path | None = None,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Asks Freqtrade for the signals and the trades of a strategy, `Backtest/freqtrade/X.py`.

    `packages` is site-packages of an environment with Freqtrade, none to ask a record;
    `harness/ask_freqtrade.py` reads the request and writes `freqtrade.json`.
    """
    question, answer = f"{JOB_FOLDER}/{_FREQTRADE_REQUEST}", f"{OUT_FOLDER}/{FREQTRADE_ANSWER}"
    files = {strategy: source, _FREQTRADE_REQUEST: request}
    job = _harness_job("ask_freqtrade", files, FREQTRADE_ANSWER, limits)
    return _beside(packages, replace(job, command=(*job.command, question, answer)))


def columns_job(files: Mapping[str, bytes], answer: str, packages: Path, limits: Limits) -> Job:
    """Asks Freqtrade for the columns of strategies; `harness/ask_lookahead.py` says how."""
    return _beside(packages, _harness_job("ask_lookahead", files, answer, limits))


def _beside(packages: Path | None, job: Job) -> Job:
    """Gives a job the packages of an environment with Freqtrade, if any."""
    # Ours come first: nothing of Freqtrade's environment has the name of one of them.
    environment = {"PYTHONPATH": f"{PACKAGES_FOLDER}:{SHARED_FOLDER}/freqtrade"}
    shared = {} if packages is None else {"freqtrade": packages}
    return replace(job, shared=shared, environment=environment)


def tool_job(
    tool: str,
    files: Mapping[str, bytes],
    targets: Iterable[str],
    *,
    mypy_cache: Path | None = None,
    limits: Limits = USUAL_LIMITS,
) -> Job:
    """Lets one of `TOOLS` read the targets among the files and print its findings.

    flake8 prints `path:line:column: code text`, mypy and bandit print JSON. `mypy_cache` is a
    folder from `mypy_cache.warm_cache`; it is only read.
    """
    judged = tuple(targets)
    if tool not in TOOLS:
        raise ValueError(f"no tool is called {tool!r}; known: {', '.join(TOOLS)}")
    if not judged:
        raise ValueError(f"{tool} needs at least one file to read")
    settings = f"{_SETTINGS}/{_MYPY_CONFIG}"
    commands = {
        "flake8": (
            *("flake8", "--isolated", "--disable-noqa", "--jobs=1"),
            f"--max-line-length={read_block(STYLE, 'style')['max_line_length']}",
        ),
        "mypy": (
            *("sandbox_runner.harness.type_check", "--strict", "--output=json"),
            *(f"--config-file={JOB_FOLDER}/{settings}", "--no-error-summary", "--no-color-output"),
        ),
        "bandit": ("bandit", "--quiet", "--format=json", "--exit-zero", "--ignore-nosec"),
    }
    job = Job(
        command=(PYTHON, "-m", *commands[tool], *judged),
        files={**files, settings: b"[mypy]\n"} if tool == "mypy" else files,
        shared={} if mypy_cache is None else {"mypy": mypy_cache},
        environment={"MYPYPATH": _TYPES} if tool == "mypy" else {},
    )
    return _limited(job, limits)
