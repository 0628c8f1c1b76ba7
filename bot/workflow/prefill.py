"""Turns an issue in free text into the form's address, filled in with what a parser can read.

Only names of fixed forms are taken: symbols, a timeframe, TA-Lib's functions with a period. The
rest of the text is the author's to write.
"""

import re
from urllib.parse import urlencode

from bot.contract.language import catalog
from bot.contract.symbols import TIMEFRAMES

_SYMBOL = re.compile(r"(?<![\w/])[A-Z0-9]{2,10}/[A-Z]{3,5}(?![\w/])", re.ASCII)
_FRAME = re.compile(
    r"(?<![\w.])(\d{1,2})\s?-?(minutes?|min|hours?|days?|weeks?|[mhdw])\b", re.ASCII
)
_WORDS = {"hourly": "1h", "daily": "1d", "weekly": "1w"}
_INDICATOR = re.compile(
    r"(?<!\w)(?:(\d{1,3})[- ](?:period |bar |day )?)?([A-Za-z][A-Za-z0-9_]{1,15})"
    r"(?:\s?\(?\s?(\d{1,3})\)?)?(?!\w)",
    re.ASCII,
)
_MOST_NAMES = 8
_LONGEST = 1_500


def prefilled(text: str) -> str:
    """Give the query that fills the form in; empty where nothing can be read."""
    fields = {
        "symbols": ", ".join(dict.fromkeys(_SYMBOL.findall(text)[:_MOST_NAMES])),
        "timeframe": _timeframe(text),
        "indicators": "\n".join(_indicators(text)),
    }
    given = urlencode({name: value for name, value in fields.items() if value})
    return f"&{given}" if given and len(given) <= _LONGEST else ""


def _timeframe(text: str) -> str:
    found = [f"{number}{unit[0]}" for number, unit in _FRAME.findall(text)]
    found += [frame for word, frame in _WORDS.items() if re.search(rf"(?i)\b{word}\b", text)]
    return next((frame for frame in found if frame in TIMEFRAMES), "")


def _indicators(text: str) -> list[str]:
    """TA-Lib's functions that the text names in capitals, with the number beside each as period."""
    known, lines = set(catalog.function_names()), dict[str, str]()
    for before, name, after in _INDICATOR.findall(text):
        if name not in known or len(lines) >= _MOST_NAMES:
            continue
        period = before or after
        takes = catalog.describe(name).argument("timeperiod") is not None
        key = f"{name.lower()}_{period}" if period and takes else name.lower()
        arguments = f", timeperiod: {period}" if period and takes else ""
        lines[key] = f"{key}: {{function: {name}{arguments}}}"
    return list(lines.values())
