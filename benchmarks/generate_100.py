"""Measures how long 100 contracts take to become code, and how soon `stratwright --help` answers.

Seconds depend on the machine, so each figure is also given as a multiple of the time that a bare
`python -c pass` takes there. The limits are 5 s for the contracts and 0.3 s for the help.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

EXAMPLE = Path("contracts/oversold_dip.yaml")
CONTRACTS = 100
GENERATE_LIMIT_S = 5.0
HELP_LIMIT_S = 0.3
REPEATS = 9


def seconds_of(command: Sequence[str]) -> float:
    """The median time of a program from start to end."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def write_contracts(folder: Path) -> list[Path]:
    """Write contracts that differ in name and numbers, so that no cache can answer twice."""
    text = EXAMPLE.read_text("utf-8")
    paths = []
    for number in range(CONTRACTS):
        changed = (
            text.replace("workflow: oversold-dip", f"workflow: oversold-dip-{number}")
            .replace("name: OversoldDip", f"name: OversoldDip{number}")
            .replace("timeperiod: 200", f"timeperiod: {100 + number}")
        )
        path = folder / f"contract_{number}.yaml"
        path.write_text(changed, "utf-8")
        paths.append(path)
    return paths


def seconds_to_generate(paths: Sequence[Path]) -> float:
    """Load, check and generate every contract in this process; imports are not counted."""
    from bot.coder.template.template_coder import TemplateCoder
    from bot.contract.load import load_contract

    coder = TemplateCoder()
    start = time.process_time()  # one core's seconds, whatever else the machine does
    texts = {
        text
        for path in paths
        for text in coder.write(load_contract(path).contract, path.name).files.values()
    }
    seconds = time.process_time() - start
    if len(texts) < len(paths):
        raise SystemExit("bench: different contracts gave the same file; the figure is worthless")
    return seconds


def main() -> None:
    """Print both figures; exit 1 where one is above its limit."""
    bare = seconds_of([sys.executable, "-c", "pass"])
    with tempfile.TemporaryDirectory() as folder:
        generate = seconds_to_generate(write_contracts(Path(folder)))
    help_page = seconds_of([str(Path(sys.executable).with_name("stratwright")), "--help"])
    print(f"{'what':<28}{'seconds':>9}{'x bare python':>15}{'limit, s':>10}")
    rows = (
        ("python -c pass", bare, None),
        (f"generate {CONTRACTS} contracts", generate, GENERATE_LIMIT_S),
        ("stratwright --help", help_page, HELP_LIMIT_S),
    )
    for what, seconds, limit in rows:
        print(f"{what:<28}{seconds:>9.3f}{seconds / bare:>15.1f}{limit or '':>10}")
    if any(limit is not None and seconds > limit for _, seconds, limit in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
