"""Turns the installed TA-Lib into the brain's reference page, by asking the library itself."""

import argparse
import importlib
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

# Through importlib, because the package's type stubs leave out half of what is asked here.
talib: Any = importlib.import_module("talib")
abstract: Any = importlib.import_module("talib.abstract")

PAGE = Path("brain/learnings/LEARN-003-talib.md")
UNSTABLE = "Function has an unstable period"

HEAD = """\
# LEARN-003: TA-Lib, every function

Source: TA-Lib {version} for Python, C library {c_version}, {count} functions, asked by
`python -m tools.ingest_talib`. A test compares this page with the installed library: after an
upgrade, run the command again.

How to read it: `price` inputs take any series through a contract's `input:`; inputs in brackets
are fixed prices and take no `input:`. Arguments are written by these names; the figure is the
default. Lookback is how many bars have no value with the defaults. Functions marked *unstable*
remember all earlier bars: their first values depend on where history begins, so three more
periods of warm-up are given to them.

What catches people out:
- Several outputs need their name in a rule: `bands.upperband`, not `bands`.
- Integer outputs (patterns) are 0 in warm-up, not missing: 100 is bullish, -100 bearish.
- A default with a point is a float (`nbdevup=2.0`), one without is an integer: `14.5` is refused
  for a period.
- A `...matype` is a number: {matypes}.
- One missing value inside the input spoils averages from there to the end of the series.
- `STDDEV` and `BBANDS` divide by n, the rule language's `stdev` by n - 1.
"""


def function_row(name: str) -> tuple[str, str]:
    """The group of a function and its line of the table."""
    function = abstract.Function(name)
    info = function.info
    cells = (
        f"`{name}`",
        str(info["display_name"]).replace("|", "/"),
        inputs_of(info["input_names"]),
        ", ".join(f"`{key}={value}`" for key, value in info["parameters"].items()),
        ", ".join(f"`{output}`" for output in info["output_names"]),
        str(function.lookback),
        "unstable" if UNSTABLE in info["function_flags"] else "",
    )
    return str(info["group"]), "| " + " | ".join(cells) + " |"


def inputs_of(inputs: Mapping[str, Any]) -> str:
    """Free inputs by name, fixed prices in brackets."""
    words = []
    for name, prices in inputs.items():
        fixed = isinstance(prices, list)
        words.append("[" + ", ".join(prices) + "]" if fixed else name)
    return ", ".join(words)


def moving_average_types() -> str:
    """The numbers of TA-Lib's kinds of moving average, as it names them."""
    kinds = {
        value: name
        for name, value in vars(type(talib.MA_Type)).items()
        if isinstance(value, int) and name.isupper()
    }
    return ", ".join(f"{value} {kinds[value]}" for value in sorted(kinds))


def reference_page() -> str:
    """The whole page, for the library that is installed."""
    names = talib.get_functions()
    c_version = talib.__ta_version__.decode("ascii").split()[0]
    rows = sorted(function_row(name) for name in names)
    page = [
        HEAD.format(
            version=talib.__version__,
            c_version=c_version,
            count=len(names),
            matypes=moving_average_types(),
        )
    ]
    for group, members in groupby(rows, key=itemgetter(0)):
        page += [
            f"## {group}\n",
            "| function | what it is | inputs | arguments | outputs | lookback | |",
            "|---|---|---|---|---|---|---|",
            *(row for _, row in members),
            "",
        ]
    return "\n".join(page)


def main() -> None:
    """Read the command line and write the page."""
    parser = argparse.ArgumentParser(description="Write the TA-Lib page of the brain.")
    parser.add_argument("--out", type=Path, default=PAGE)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(reference_page(), "utf-8", newline="\n")
    print(arguments.out)


if __name__ == "__main__":
    main()
