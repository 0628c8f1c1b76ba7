"""Runs a test file against many versions of a strategy, each in a fork; inside the sandbox.

`python -m sandbox_runner.harness.run_mutants` reads /job/mutants.json

    {"strategy": "Backtest/codes/x.py", "tests": "tests/test_x.py", "seconds": 20, "workers": 2,
     "sources": ["...", ...]}

and writes /out/mutants.json: {"outcomes": [{"outcome": "passed|failed|error|time", "by": "test"}]},
one for each source. The libraries are imported once, before any source is, so that a version
costs the time of its tests alone. As with the harness nothing written here is evidence.
"""

import contextlib
import gc
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox_runner.harness.fresh_children import start, wait

if TYPE_CHECKING:
    import pytest

Data = dict[str, Any]  # the request
REQUEST = "mutants.json"
_WARM = ("pytest", "talib", "pandas.testing", "adapters.series", "adapters.testing")
_PASSED, _FAILED = 0, 1
_MARKET = re.compile(
    rb"\b(market|staged_market)\(bars=(\d{1,6}), seed=(\d{1,6}), minutes=(\d{1,6})\)"
)
_MOST_BARS = 100_000


def main(job: Path = Path("/job"), out: Path = Path("/out")) -> None:
    """Answer the request of a job."""
    request = json.loads((job / REQUEST).read_bytes())
    plugins = importlib.import_module("_pytest.config").default_plugins
    for name in (*_WARM, *(f"_pytest.{plugin}" for plugin in plugins)):
        importlib.import_module(name)
    tests = (job / request["tests"]).read_bytes()
    _warm_market(tests)
    # What is there by now is there to stay: no child looks through it for garbage.
    gc.collect()
    gc.freeze()
    sources, workers = request["sources"], int(request["workers"])
    outcomes: list[dict[str, str]] = []
    for first in range(0, len(sources), workers):
        request["place"] = tempfile.mkdtemp()
        children = [
            _start(request, tests, source.encode()) for source in sources[first : first + workers]
        ]
        outcomes += [_wait(*child) for child in children]
        shutil.rmtree(request["place"], ignore_errors=True)
    (out / REQUEST).write_text(json.dumps({"outcomes": outcomes}))


def _warm_market(tests: bytes) -> None:
    """Make the candles that the tests ask for, as far as that can be read from them."""
    testing = importlib.import_module("adapters.testing")
    for kind, *found in _MARKET.findall(tests)[:4]:
        bars, seed, minutes = map(int, found)
        if bars <= _MOST_BARS:
            getattr(testing, kind.decode())(bars=bars, seed=seed, minutes=minutes)


def _start(request: Data, tests: bytes, source: bytes) -> tuple[int, int]:
    def work(writer: int) -> int:
        signal.alarm(int(request["seconds"]))
        os.setpgid(0, 0)
        return _run(request, tests, source, writer)

    return start(work)


def _run(request: Data, tests: bytes, source: bytes, writer: int) -> int:
    """Runs the tests on one version; what it prints is thrown away."""
    pytest = importlib.import_module("pytest")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    folder = Path(tempfile.mkdtemp(dir=request["place"]))
    for path, content in ((request["strategy"], source), (request["tests"], tests)):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    os.chdir(folder)
    sys.dont_write_bytecode = True
    arguments = [str(folder / request["tests"]), "-x", "-q", "-p", "no:cacheprovider"]
    arguments += ["--noconftest", "-c", os.devnull, f"--rootdir={folder}"]
    # Without this every folder from the root on is looked through.
    arguments.append(f"--confcutdir={folder}")
    arguments += ["--import-mode=importlib", "--tb=no", "--assert=plain"]
    arguments += ["-p", "no:unraisableexception", "-p", "no:threadexception"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return int(pytest.main(arguments, plugins=[_FirstFailure(writer)]))


class _FirstFailure:
    """Writes down which test failed first."""

    def __init__(self, writer: int) -> None:
        self._writer = writer

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        if report.failed:
            os.write(self._writer, report.nodeid.rpartition("::")[2].encode()[:200])

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.failed:
            os.write(self._writer, b"collection")


def _wait(child: int, reader: int) -> dict[str, str]:
    by, code = wait(child, reader, 400)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    words = {_PASSED: "passed", _FAILED: "failed", -signal.SIGALRM: "time"}
    return {"outcome": words.get(code, "error"), "by": by.decode("utf-8", "replace")}


if __name__ == "__main__":
    main()
