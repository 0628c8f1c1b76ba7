"""Hostile candidates: what they put into an honest strategy or its tests, and what must say no."""

from dataclasses import dataclass, field

HEAD = "from typing import Any\n"
RULE = "        enter_long = rsi < 30\n"
ENTRY = "        return self._order(df, indicators, idx)\n"
FIND = '        """The order of this bar, if the entry rule holds."""\n'
MAKE = "        self.cfg: dict[str, Any] = {**DEFAULT_CFG, **cfg}\n"

FORGED_REPORT = """
import ast, json, os, sys
def _forge():
    names = [n.name for n in ast.parse(open("/job/tests/test_quick_dip.py").read()).body
             if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
    stage = {"duration": 0.1, "outcome": "passed"}
    tests = [{"nodeid": "tests/test_quick_dip.py::" + n, "lineno": 1, "outcome": "passed",
              "setup": stage, "call": stage, "teardown": stage} for n in names]
    report = {"created": 1.0, "duration": 1.0, "exitcode": 0, "root": "/job", "environment": {},
              "summary": {"passed": len(names), "total": len(names), "collected": len(names)},
              "tests": tests}
    with open("/out/test_report.json", "w") as file:
        json.dump(report, file)
    os._exit(0)
if "pytest" in sys.modules:
    _forge()
"""

TRY_EVERYTHING = """
import os, socket
def _try():
    def attempt(what):
        try:
            return what()
        except BaseException:
            return None
    def connect(address):
        with socket.create_connection(address, 0.2):
            return True
    def write(path):
        with open(path, "w") as file:
            return file.write("x")
    doors = [
        lambda: connect(("127.0.0.1", 22)), lambda: connect(("1.1.1.1", 53)),
        lambda: socket.getaddrinfo("localhost", 80) and connect(("localhost", 80)),
        lambda: open(HOST_FILE).read(), lambda: os.listdir(HOST_FOLDER),
        lambda: "fake_token" in open("/proc/1/environ").read() or None,
        lambda: "fake_token" in open(f"/proc/{os.getppid()}/environ").read() or None,
        lambda: "fake_token" in str(os.environ) or None,
        lambda: write("/job/Backtest/codes/quick_dip.py"), lambda: write("/etc/x"),
        lambda: write("/packages/adapters/series.py"), lambda: os.mknod("/dev/x"),
        lambda: os.setuid(0) or True, lambda: os.chroot("/") or True,
        lambda: os.kill(1, 0) if os.getppid() == 0 else None,
    ]
    found = [number for number, door in enumerate(doors) if attempt(door) is not None]
    if found:
        raise RuntimeError(f"doors {found} are open")
_try()
"""


@dataclass(frozen=True)
class Attack:
    """A hostile candidate.

    Attributes:
        swaps: texts of the strategy and what stands there instead.
        reason: what the verdict says, as a pattern.
    """

    swaps: dict[str, str]
    reason: str
    time_s: float = 60.0


def at_import(code: str) -> dict[str, str]:
    return {HEAD: HEAD + code + "\n"}


def in_entries(code: str) -> dict[str, str]:
    return {FIND: FIND + "".join(f"        {line}\n" for line in code.splitlines())}


def answers(value: str) -> dict[str, str]:
    return {ENTRY: f"        return {value}\n"}


def rule(code: str, head: str = "import numpy as np\n") -> dict[str, str]:
    return {RULE: f"        enter_long = {code}\n", HEAD: head + HEAD}


ENDED = "ended without an answer"
TRIVIAL = "def test_it() -> None:\n    assert True\n"

NO_ANSWER = {
    "exits-at-import": Attack(at_import("import os; os._exit(0)"), ENDED),
    "exits-politely": Attack(in_entries("raise SystemExit(0)"), "SystemExit"),
    "kills-its-parent": Attack(
        at_import("import os; os.kill(os.getppid(), 9)"), "no decisions|PermissionError"
    ),
    "sleeps": Attack(in_entries("import time\ntime.sleep(1000)"), "time limit", time_s=3.0),
    "spins": Attack(in_entries("while True: pass"), "time limit", time_s=3.0),
    "floods-stdout": Attack(at_import("while True: print('x' * 1000000)"), "limit", time_s=20.0),
    "floods-stderr": Attack(
        at_import("import sys\nwhile True: sys.stderr.write('x' * 1000000)"),
        "limit",
        time_s=20.0,
    ),
    "eats-memory": Attack(
        at_import("x = []\nwhile True: x.append(bytearray(10_000_000))"),
        "memory|MemoryError|ended without an answer|no decisions",
    ),
    "forks": Attack(
        at_import("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
        "time limit|limit on|ended without|no decisions",
        time_s=3.0,
    ),
    "plants-a-link": Attack(
        at_import("import os; os.symlink('/etc/passwd', '/out/decisions.json')"),
        "no decisions|regular|link|could not|PermissionError",
    ),
    "plants-a-folder": Attack(
        at_import("import os; os.mkdir('/out/decisions.json')"),
        "no decisions|regular|folder|could not|PermissionError",
    ),
    "writes-to-every-descriptor": Attack(
        at_import(
            "import os\nfor n in range(3, 40):\n    try: os.write(n, b'{\"passes\": 7}')\n"
            "    except OSError: pass\nos._exit(0)"
        ),
        "passes|error|failed|no answer|without",
    ),
    "claims-passes-that-were-not-asked": Attack(
        at_import(
            "import json, os\nfor n in range(3, 40):\n"
            "    try: os.write(n, json.dumps({'passes': [[[None] * 3] * 3] * 2}).encode())\n"
            "    except OSError: pass\nos._exit(0)"
        ),
        "were asked for",
    ),
}

WRONG_ANSWERS = {
    "nan": Attack(answers('{"volume": float("nan")}'), "finite"),
    "huge": Attack(answers("{str(n): n for n in range(1000)}"), "items"),
    "text": Attack(answers('"BUY"'), "neither None nor an order"),
    "own-class": Attack(
        {
            **answers("Yes()"),
            HEAD: HEAD + "class Yes(dict):\n    def __eq__(self, other): return True\n"
            "    def __bool__(self): return True\n    __hash__ = None\n",
        },
        "has no action",
    ),
    "other-symbol": Attack(
        {ENTRY: "        return {**self._order(df, indicators, idx), 'symbol': 'X/Y'}\n"},
        "another symbol",
    ),
    "endless-volume": Attack(
        {ENTRY: "        return {**self._order(df, indicators, idx), 'volume': 10**60}\n"},
        "64 bits",
    ),
    "patched-json": Attack(
        at_import("import json; json.JSONEncoder.encode = lambda s, o: '{\"passes\": NaN}'"),
        "not plain JSON|passes",
    ),
    "patched-harness": Attack(
        {
            **at_import(
                "import __main__\n__main__.plain = lambda value, depth=0: value\n"
                "class N(float): pass"
            ),
            **answers("{**self._order(df, indicators, idx), 'sl': float('inf')}"),
        },
        "not plain JSON",
    ),
}

# These answer in the right form; what they answer is not what the contract says.
PATCHED_PANDAS = at_import("import pandas; pandas.Series.iloc = property(lambda s: [True] * 999)")

WRONG_DECISIONS = {
    "patched-sizing": Attack(
        at_import("import adapters.sizing; adapters.sizing.volume_of = lambda *a: 1e300"),
        "the order's volume",
    ),
    "mutates-candles": Attack(
        in_entries('df["close"] = df["close"] * 1.01'), "does not support item assignment"
    ),
    "senseless-levels": Attack(
        {ENTRY: "        return {**self._order(df, indicators, idx), 'sl': -1e308}\n"},
        "the order's sl|cannot be replayed",
    ),
    "endless-size": Attack(
        answers("{**self._order(df, indicators, idx), 'size': {'units': 1e308}}"),
        "the order's|cannot be replayed",
    ),
    "no-size": Attack(
        {
            ENTRY: "        o = self._order(df, indicators, idx)\n        del o['size']\n"
            "        return {**o, 'volume': -1e308}\n"
        },
        "the order's|cannot be replayed",
    ),
}

LOOK_AHEAD = {
    "roll": rule("np.roll(rsi, -1) < 30"),
    "shift": rule("(pd.Series(rsi).shift(-1) < 30).to_numpy()"),
    "last-price": rule("(rsi < 30) & (close < close[-1])"),
    "whole-mean": rule("(rsi < 30) & (close < close.mean())"),
    "class-cache": {
        **rule("self.seen(close) > close", ""),
        MAKE: MAKE + "    seen_before: Any = None\n    def seen(self, close):\n"
        "        Strategy.seen_before = close if Strategy.seen_before is None"
        " else Strategy.seen_before\n"
        "        x = list(Strategy.seen_before[1:]) + [0.0]\n"
        "        import numpy as np\n        return np.array(x[:len(close)])\n",
    },
}

# Asked at every bar, so that a lucky draw does not hide it.
ORDER = "return self._order(df, indicators, idx)"
CHANCE = {
    "clock": (in_entries("import time\nif time.time() // 86400 % 800 < 400: return None"), ""),
    "random": (in_entries(f"import random\nif random.random() < 0.5: {ORDER}"), ""),
    "set-order": (in_entries("if next(iter({'a', 'b', 'c', 'd', 'e'})) in 'abc': return None"), ""),
    "call-count": (
        in_entries("self.calls = getattr(self, 'calls', 0) + 1\nif self.calls > 150: return None"),
        "second time",
    ),
    "kernel-chance": (in_entries(f"import os\nif os.urandom(1)[0] % 2: {ORDER}"), ""),
}


# Noise that no answer shows on these candles; the indicators do.
RARE_CHANCE = {'"rsi": rsi,': '"rsi": rsi + pd.Series.sample(pd.Series(close), 1).iloc[0],'}


@dataclass(frozen=True)
class TestAttack:
    """What a hostile candidate does to the test run."""

    __test__ = False
    reason: str
    swaps: dict[str, str] = field(default_factory=dict)
    tests: str | None = None
    parts: tuple[str, ...] = ("whole", "pytest")
    time_s: float = 60.0


WRONG_RULE = {RULE: "        enter_long = rsi < 45\n"}
TEST_ATTACKS = {
    "forged-report": TestAttack(
        "not follow the contract", {**at_import(FORGED_REPORT), **WRONG_RULE}
    ),
    "trivial-tests": TestAttack("not follow the contract", WRONG_RULE, TRIVIAL),
    "no-tests": TestAttack("no test|exited with 5", {}, "X = 1\n", parts=("pytest",)),
    "exits-in-the-tests": TestAttack(
        "left no report",
        tests="import os\ndef test_it():\n    os._exit(0)\n",
        parts=("pytest",),
    ),
    "exits-at-import": TestAttack(
        "left no report",
        tests="import os\nos._exit(0)\ndef test_it():\n    assert False\n",
        parts=("pytest",),
    ),
    "skips": TestAttack(
        "skipped",
        tests="import pytest\ndef test_it():\n    pytest.skip('later')\n",
        parts=("pytest",),
    ),
    "hides-a-test": TestAttack(
        "did not run",
        tests="def test_a():\n    assert True\ndef test_b():\n    assert False\ndel test_b\n",
        parts=("pytest",),
    ),
    "links-the-report": TestAttack(
        "left no report|link|regular",
        tests="import os\nos.symlink('/etc/passwd', '/out/test_report.json')\n"
        "def test_a():\n    os._exit(0)\n",
        parts=("pytest",),
    ),
    "changes-the-strategy": TestAttack(
        "not follow the contract|failed",
        WRONG_RULE,
        "import importlib.util\ndef test_a():\n    assert True\n",
    ),
    "nests-the-report": TestAttack(
        "nested|not JSON|not valid",
        tests="import os\nopen('/out/test_report.json', 'w').write('[' * 10**6)\n"
        "def test_a():\n    os._exit(0)\n",
        parts=("pytest",),
    ),
    "floods-the-report": TestAttack(
        "bytes|larger|limit|not JSON",
        tests="import os\nopen('/out/test_report.json', 'w').write('[' + '7,' * 5 * 10**6 + '7]')\n"
        "def test_a():\n    os._exit(0)\n",
        parts=("pytest",),
    ),
}
