"""Throw mutated contracts at the loader: nothing but our own errors may come out, and soon.

python tools/fuzz_contracts.py --count 100000 --seed 1
"""

import argparse
import copy
import json
import random
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bot.contract.document.source import Form
from bot.contract.load import parse_contract
from bot.errors import InputError

SLOWEST_S = 2.0
CONTRACT = {
    "version": "1.0",
    "workflow": "oversold-dip",
    "task": "strategy",
    "kind": "strategy",
    "name": "OversoldDip",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h", "type": "futures"},
    "data": {"source": "csv", "path": "data/btc.csv"},
    "parameters": {"oversold": {"default": 30, "range": [15, 40]}, "stop": {"default": 0.02}},
    "indicators": {
        "rsi": {"function": "RSI", "timeperiod": 14},
        "bands": {"function": "BBANDS", "timeperiod": 20, "nbdevup": 2.0},
        "wave": {"expression": "mean(hl2, 5) - mean(hl2, 34)"},
    },
    "rules": {
        "enter_long": "rsi < oversold and close > bands.lowerband",
        "exit_long": "rsi > 70 or crossed_below(close, bands.middleband)",
        "enter_short": "rsi > 90",
    },
    "risk": {
        "stop_loss": "stop",
        "take_profit": {"atr": 2.0, "timeperiod": 14},
        "trailing_stop": {"distance": 0.01, "activate_at": 0.05},
        "roi": {"0": 0.04, "60": 0.02},
        "size": {"risk": 0.01},
    },
    "acceptance": {"min_trades": 10},
}
VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    2,
    10**15,
    0.5,
    -0.0,
    1e300,
    "",
    "x",
    "1h",
    "BTC/USDT",
    "../..",
    "2%",
    "stop",
    "rsi",
    "close[1]",
    "not",
    "(" * 60,
    "a" * 300,
    "x\ny",
    "é",
    "\U0001d7cf",
    [],
    [1, 2],
    ["a"],
    {},
    {"prose": "x"},
    {"atr": 1},
    {"function": "SMA"},
    {"expression": "rsi"},
    {"a": {"b": [1]}},
    "close > 1 > 2",
    "min(1,",
    "rsi if x else y",
    "lambda: 0",
    "x" + ".y" * 40,
    "1e999",
    "-" * 200 + "1",
    "mean(close, 99999999)",
    "__import__('os')",
    "kind",
    "module",
)
PIECES = (
    b": ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"  ",
    b"\t",
    b"&a",
    b"*a",
    b"!!str ",
    b"<<: ",
    b"? ",
    b"| ",
    b">",
    b"'",
    b'"',
    b"\\u202e",
    b"\xff",
    b"\x00",
    b"\xe2\x80\xae",
    b".nan",
    b"-.inf",
    b"NaN",
    b"1e999",
    b"---\n",
    b"...",
    b"%YAML 1.2\n",
    b"#",
    b",",
    b"\\UFFFFFFFF",
    b"\r",
    b"\xc2\x85",
    b"0x1F",
    b"9" * 50,
    b"null",
    b"rules",
    b"risk",
    b"\xef\xbb\xbf",
)


def mutated_document(chance: random.Random) -> object:
    """Change a few places of a good contract."""
    document: object = copy.deepcopy(CONTRACT)
    for _ in range(chance.randint(0, 4)):
        document = _change(document, chance)
    return document


def _change(node: object, chance: random.Random) -> object:
    deeper = chance.random() < 0.8
    if isinstance(node, dict) and node:
        key = chance.choice(list(node))
        if deeper:
            node[key] = _change(node[key], chance)
        elif chance.random() < 0.3:
            del node[key]
        elif chance.random() < 0.5:
            node[_broken_word(str(key), chance)] = node[key]
        else:
            node[chance.choice(("files", "after", "notes", "costs", "lot", "0"))] = _value(chance)
        return node
    if isinstance(node, list) and node and deeper:
        index = chance.randrange(len(node))
        node[index] = _change(node[index], chance)
        return node
    if isinstance(node, str) and chance.random() < 0.6:
        return _broken_word(node, chance)
    return _value(chance)


def _value(chance: random.Random) -> object:
    return copy.deepcopy(chance.choice(VALUES))


def _broken_word(word: str, chance: random.Random) -> str:
    index = chance.randint(0, len(word))
    piece = chance.choice(
        ("", "(", ")", " and ", "[", "]", "[-1]", "<", "=", ".", "é", "'", "0", " ")
    )
    return word[:index] + piece + word[index + chance.randint(0, 2) :]


def one_input(chance: random.Random) -> tuple[bytes, Form]:
    """Draw one file: a mutated document, its bytes broken, or a soup of tokens."""
    form: Form = chance.choice(("yaml", "json"))
    style = chance.random()
    if style < 0.05:
        return bytes(chance.randrange(256) for _ in range(chance.randint(0, 60))), form
    if style < 0.15:
        return b"".join(chance.choice(PIECES) for _ in range(chance.randint(1, 60))), form
    document = mutated_document(chance)
    flow = chance.choice((True, False, None))
    if form == "json":
        data = json.dumps(document, indent=chance.choice((None, 1))).encode()
    else:
        data = yaml.dump(
            document, default_flow_style=flow, allow_unicode=True, Dumper=_DUMPER
        ).encode()
    if style < 0.5:
        for _ in range(chance.randint(1, 3)):
            index = chance.randint(0, len(data))
            data = data[:index] + chance.choice(PIECES) + data[index + chance.randint(0, 3) :]
    return data, form


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _too_slow(_: int, __: FrameType | None) -> None:
    raise TimeoutError(f"no answer within {SLOWEST_S} s")


def main() -> int:
    """Run and report; exit 1 at the first input that breaks the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    signal.signal(signal.SIGALRM, _too_slow)
    accepted, slowest, started = 0, 0.0, time.monotonic()
    for number in range(args.count):
        data, form = one_input(chance)
        before = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, SLOWEST_S)
        try:
            parse_contract(data, form, Path(f"fuzz.{form}"))
            accepted += 1
        except InputError:
            pass
        except Exception as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.stderr.write(f"input {number} ({form}): {error!r}\n{data!r}\n")
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.monotonic() - before)
    seconds = time.monotonic() - started
    sys.stdout.write(
        f"{args.count} inputs in {seconds:.0f} s: {accepted} accepted, "
        f"{args.count - accepted} refused, slowest {slowest * 1000:.0f} ms, no other error\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
