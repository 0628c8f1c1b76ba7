"""Prints the races: one row an engine, one column a work and size, times and ratios."""

from typing import Any

from benchmarks.engine.race import Result

# Claim, whose time over whose, in which race, and what the issue asks for.
CLAIMS = (
    ("dip, a contract, beside raptorbt's arrays", "dip", "raptorbt", "ours-contract", 5.0),
    ("dip, a strategy file, likewise", "dip", "raptorbt", "ours", 5.0),
    ("cross, a contract, likewise", "cross", "raptorbt", "ours-contract", 5.0),
    ("cross, a strategy file, likewise", "cross", "raptorbt", "ours", 5.0),
    ("dip, a strategy file, beside vectorbt", "dip", "vectorbt", "ours", 8.0),
    ("cross, a strategy file, likewise", "cross", "vectorbt", "ours", 8.0),
    ("event path beside backtesting.py", "dip", "backtesting", "ours-event", 10.0),
    ("df['close'].iloc[idx] beside backtesting.py", "dip", "backtesting", "ours-naive", 1.0),
    ("sweep of 100 sets beside raptorbt's batch", "sweep", "raptorbt", "ours", 10.0),
    ("sweep of 100 sets beside vectorbt", "sweep", "vectorbt", "ours", 20.0),
    ("cold start of a contract beside backtesting.py", "cold", "backtesting", "ours", 1.5),
    ("cold start of a strategy file, likewise", "cold", "backtesting", "ours-file", 1.5),
)


def show(found: dict[str, Any], sizes: list[int]) -> None:
    """The table of all races, then the claims."""
    columns: dict[str, dict[str, Result]] = {
        f"{work} {bars:,}": found[work][bars] for work in ("dip", "cross") for bars in sizes
    }
    columns["sweep 100"] = found["sweep"]
    columns["cold start"] = found["cold"]
    names = dict.fromkeys(name for column in columns.values() for name in column)
    print("\nSeconds of the best turn, and how many times ours (the compiled path) that is")
    print(f"{'':<16}" + "".join(f"{title:>20}" for title in columns))
    for name in names:
        cells = (cell(column, name) for column in columns.values())
        print(f"{name:<16}" + "".join(f"{text:>20}" for text in cells))
    for name, why in reasons(columns).items():
        print(f"{name:<16} {why}")
    claims(found, max(sizes))


def cell(column: dict[str, Result], name: str) -> str:
    """Seconds and ratio, or that there is none."""
    found, ours = column.get(name), column.get("ours")
    if found is None:
        return "-"
    if found.seconds is None:
        return f"({found.why_not})" if found.why_not.startswith("about ") else "failed"
    if name == "ours" or ours is None or not ours.seconds:
        return f"{time_of(found.seconds)}        "
    return f"{time_of(found.seconds)} {found.seconds / ours.seconds:6.1f}x"


def time_of(seconds: float) -> str:
    """Seconds in the unit that fits."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def reasons(columns: dict[str, dict[str, Result]]) -> dict[str, str]:
    """Why somebody failed."""
    return {
        name: f"{title}: {result.why_not}"
        for title, column in columns.items()
        for name, result in column.items()
        if result.why_not and not result.why_not.startswith("about ")
    }


def claims(found: dict[str, Any], largest: int) -> None:
    """Each ratio that is asked for, at the largest size that both did."""
    print("\nAsked for                                         at least   measured")
    for text, race, peer, ours, least in CLAIMS:
        size, column = _column(found, race, peer, ours, largest)
        if column is None:
            print(f"{text:<50} {least:6.1f} x   not measured")
            continue
        ratio = column[peer].seconds / column[ours].seconds
        mark = "" if ratio >= least else "   MISSED"
        print(f"{text:<50} {least:6.1f} x   {ratio:6.1f} x{size}{mark}")


def _column(found: dict[str, Any], race: str, peer: str, ours: str, largest: int) -> Any:
    """The race's results at the largest size at which both have a time."""
    sizes = found[race]
    if race in ("sweep", "cold"):
        sizes = {0: found[race]}
    for bars in sorted(sizes, reverse=True):
        column = sizes[bars]
        if all(column.get(name, Result()).seconds for name in (peer, ours)):
            return (f" ({bars:,} bars)" if bars else ""), column
    return "", None
