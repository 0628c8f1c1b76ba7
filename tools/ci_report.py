"""Turns the reports of CI's test run into its last lines and its exit code.

`python -m tools.ci_report REPORT [AGAIN]`: AGAIN is the report of the failed tests run once more,
one after the other. A test that failed among others and passed alone is unsteady: it is named
every time, and more than three of them are a failure.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

MOST_UNSTEADY = 3

Results = dict[str, str]


def read(report: Path) -> Results:
    """Read what became of each test: passed, failed, error or skipped."""
    found = {}
    # Written by pytest a moment ago, in a folder of ours.
    for case in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        worst = next((kind for kind in ("error", "failure", "skipped") if kind in kinds), "passed")
        found[f"{case.get('classname')}::{case.get('name')}"] = worst
    return found


def judge(first: Results, again: Results) -> tuple[list[str], bool]:
    """Say what to print, and whether CI passes."""
    unsteady = sorted(
        name
        for name, result in first.items()
        if result in {"failure", "error"} and again.get(name) == "passed"
    )
    count = Counter(first.values())
    lines = [
        f"ci: {len(first)} tests, {count['passed']} passed, {count['failure']} failed, "
        f"{count['error']} errors, {count['skipped']} skipped"
    ]
    lines += [f"ci: UNSTEADY, failed among others and passed alone: {name}" for name in unsteady]
    if count["skipped"]:
        lines.append("ci: a skipped test proves nothing; install what it needs.")
    if len(unsteady) > MOST_UNSTEADY:
        lines.append(f"ci: at most {MOST_UNSTEADY} tests may be unsteady.")
    steady = len(unsteady) <= MOST_UNSTEADY
    return lines, bool(first) and steady and count["passed"] + len(unsteady) == len(first)


def main() -> int:
    """Print the lines."""
    first, *again = (read(Path(name)) for name in sys.argv[1:])
    lines, passes = judge(first, again[0] if again else {})
    print(*lines, sep="\n")
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
