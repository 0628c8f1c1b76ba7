"""A run of a job sees no other run: not its candles, its notes, its name, its process."""

import json
from typing import Any

import pytest

from sandbox_runner.harness.blind import landlock_version
from sandbox_runner.jobs import decisions_job
from sandbox_runner.port import PYTHON, Job, Limits, Sandbox
from sandbox_runner.request import Run
from tests.sandbox_runner.harness.test_ask_strategy import PATH, SHAPE, candles

NO_LANDLOCK = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
SHORT, LONG = Run("short", "btc", "X", bars=3, at=(0,)), Run("long", "btc", "X", at=(0,))


def seen(sandbox: Sandbox, code: str, *runs: Run, workers: int = 1) -> list[Any]:
    """What `look` returned in each run, or the kind of its error."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    source = f"import glob, os, time\n\ndef look(df):\n{lines}\n" + SHAPE.format(
        entries="return {'seen': look(df)}", exits="return None"
    )
    data = {"btc": candles()}
    job = decisions_job(PATH, source.encode(), {}, data, runs, workers=workers, limits=Limits(60))
    outcome = sandbox.run(job)
    answers = json.loads(outcome.outputs["decisions.json"])["runs"]
    return [
        run["error"]["type"] if "error" in run else run["passes"][0][0][0]["seen"]
        for run in answers
    ]


# Each is refused and changes nothing, so that one run can try them all.
CLOSED = (
    "len(open(glob.glob('/job/candles/*')[0], 'rb').read())",
    "len(open('/job/candles/btc', 'rb').read())",
    "len(open('/job/request.json').read())",
    "len(os.listdir('/proc'))",
    "len(open(f'/proc/{os.getppid()}/environ').read())",
    "len(open(f'/proc/{os.getppid()}/mem', 'rb').read(1))",
    "os.kill(os.getppid(), 0)",
    "os.open('/tmp/note', os.O_CREAT | os.O_WRONLY)",
    "os.mkdir('/dev/shm/note')",
    "os.symlink('note', '/out/note')",
    "len(os.listdir('/out'))",
    "os.truncate('/packages/adapters/series.py', 0)",
)


@NO_LANDLOCK
def test_what_belongs_to_other_runs_is_closed(sandbox: Sandbox) -> None:
    tried = "".join(f"    lambda: {code},\n" for code in CLOSED)
    code = (
        f"found = []\nfor attempt in (\n{tried}):\n"
        "    try:\n        found.append(str(attempt()))\n"
        "    except Exception as error:\n        found.append(type(error).__name__)\n"
        "return found"
    )
    [found] = seen(sandbox, code, SHORT)
    refused = {"PermissionError", "IndexError", "OSError"}
    wrong = {code: said for code, said in zip(CLOSED, found, strict=True) if said not in refused}
    assert wrong == {}


@NO_LANDLOCK
def test_a_longer_run_beside_it_cannot_tell_a_shorter_one(sandbox: Sandbox) -> None:
    """The longer one writes wherever it can, the shorter waits and looks."""
    code = (
        "places = ['/tmp/n', '/out/n', '/dev/shm/n', '/job/n', '/var/tmp/n', '/packages/n']\n"
        "for place in places:\n"
        "    try:\n"
        "        if len(df) > 3:\n"
        "            open(place, 'w').write('the price rises')\n"
        "        else:\n"
        "            time.sleep(0.1)\n"
        "            return open(place).read()\n"
        "    except OSError:\n"
        "        pass\n"
        "return 'nothing'"
    )
    assert seen(sandbox, code, SHORT, LONG, workers=2) == ["nothing", "nothing"]


@NO_LANDLOCK
def test_honest_needs_are_met(sandbox: Sandbox) -> None:
    code = (
        "import decimal, statistics, zoneinfo\n"
        "import pandas as pd\n"
        "pd.Timestamp('2024-01-01', tz='Europe/Berlin')\n"
        "pd.Series([1.0, 2.0]).resample\n"
        "df['close'].rolling(2).corr(df['open'])\n"
        "open('/dev/null', 'w').write('x')\n"
        "open(os.path.join(os.path.dirname(__file__), 'candidate.py')).read()\n"
        "return os.getpid()"
    )
    [found] = seen(sandbox, code, SHORT)
    assert isinstance(found, int)


def test_without_landlock_a_note_is_swept_before_the_next_run(sandbox: Sandbox) -> None:
    """The fallback, with Landlock made invisible to the harness."""
    code = (
        "found = [p for p in ('/tmp/n', '/dev/shm/n', '/out/n') if os.path.exists(p)]\n"
        "for place in ('/tmp/n', '/dev/shm/n', '/out/n'):\n"
        "    open(place, 'w').write('x')\n"
        "return found"
    )
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    source = f"import os\n\ndef look(df):\n{lines}\n" + SHAPE.format(
        entries="return {'seen': look(df)}", exits="return None"
    )
    plain = decisions_job(PATH, source.encode(), {}, {"btc": candles()}, [SHORT, LONG], workers=2)
    start = (
        "import sandbox_runner.harness.blind as b; b.landlock_version = lambda: 0; "
        "from sandbox_runner.harness.ask_strategy import main; main()"
    )
    job = Job((PYTHON, "-c", start), plain.files, collect=plain.collect, timeout_s=60)
    runs = json.loads(sandbox.run(job).outputs["decisions.json"])["runs"]
    assert [run["passes"][0][0][0]["seen"] for run in runs] == [[], []]
