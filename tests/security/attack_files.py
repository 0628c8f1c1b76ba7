"""The attacks of `attacks/*.txt` as whole strategy files.

`python tests/security/attack_files.py FOLDER` writes them out. A block begins with its name and
what it attempts; its parts go behind the imports, before the class, and into prepare_indicators.
The first line of a file says which layer must refuse what stands in it.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEAD = '''"""A dip buyer with one idea of its own."""

from typing import Any

import numpy as np
import pandas as pd
import talib

from adapters import series
from adapters.base_adapter import BaseAdapter
from adapters.strategy_loop import replay
'''
TOP = '''
DEFAULT_CFG: dict[str, Any] = {"oversold": 35, "rsi_period": 14, "symbol": "BTC/USDT"}


def flat(values: Any, periods: int = 1) -> Any:
    """Nothing of the values is left."""
    return values * 0


'''
BODY = '''class Strategy:
    """Buys oversold dips."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        """Take the settings."""
        self.cfg: dict[str, Any] = {**DEFAULT_CFG, **cfg}

    def prepare_indicators(self, df: pd.DataFrame) -> dict[str, pd.Series]:
        """Compute the indicator and the rule."""
        close = series.column(df, "close")
        rsi = talib.RSI(close, timeperiod=self.cfg["rsi_period"])
        enter_long = rsi < np.float64(self.cfg["oversold"])
'''
TAIL = '''        return series.by_name(df, {"rsi": rsi, "enter_long": enter_long})

    def find_entries(
        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int
    ) -> dict[str, Any] | None:
        """The order of this bar."""
        if not indicators["enter_long"].iloc[idx]:
            return None
        return {"action": "BUY", "symbol": self.cfg["symbol"], "volume": 1.0, "type": "MARKET"}


def run_backtest(adapter: BaseAdapter, df: pd.DataFrame, cfg: dict[str, Any]) -> dict[str, Any]:
    """Replay the candles."""
    return replay(Strategy, adapter, df, {**DEFAULT_CFG, **cfg})
'''


@dataclass(frozen=True)
class Attack:
    """A strategy file, what is wrong with it, and the lines on which that stands."""

    name: str
    attempts: str
    rule: str
    text: str
    lines: frozenset[int]


def whole(imports: str = "", top: str = "", body: str = "") -> tuple[str, frozenset[int]]:
    """A strategy file with these parts, and the lines they take."""
    text, lines = "", set()
    indented = re.sub(r"^(?=.)", " " * 8, body, flags=re.MULTILINE)
    spaced = f"{top}\n\n" if top else ""
    for part, own in (
        (HEAD, False),
        (imports, True),
        (TOP, False),
        (spaced, True),
        (BODY, False),
        (indented, True),
        (TAIL, False),
    ):
        first = text.count("\n") + 1
        text += part
        if own:
            lines.update(range(first, text.count("\n") + 1))
    return text, frozenset(lines)


def attacks() -> list[Attack]:
    """Every attack of the folder."""
    found = []
    for path in sorted((HERE / "attacks").glob("*.txt")):
        rule, *blocks = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for block in blocks:
            title, *parts = re.split(r"^--- ", block, flags=re.MULTILINE)
            name, attempts = title.strip().split(" | ", 1)
            named = {}
            for part in parts:
                kind, code = part.split("\n", 1)
                named[kind] = code.strip("\n") + "\n"
            text, lines = whole(**named)
            found.append(Attack(name, attempts, rule.strip(), text, lines))
    return found


def write(folder: Path) -> dict[str, Attack]:
    """Write every attack into a folder; returns them by the path of their file."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for attack in attacks():
        path = folder / f"{attack.name}.py"
        path.write_text(attack.text, encoding="utf-8")
        written[str(path)] = attack
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]))
