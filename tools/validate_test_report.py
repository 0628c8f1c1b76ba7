"""Turns a test_report.json into an exit code: 0 valid, 1 not valid, 2 not there."""

import argparse
import sys
from pathlib import Path

if __package__ in (None, ""):
    # Run by its path, as the architecture document writes it: the house is one folder up.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sandbox_runner.test_report import NotAReport, find_problems, read_report


def main(arguments: list[str] | None = None) -> int:
    """Check one report and say what is wrong with it."""
    parser = argparse.ArgumentParser(description="Check a pytest JSON report against its schema.")
    parser.add_argument("path", type=Path, help="for example artifacts/test_report.json")
    path = parser.parse_args(arguments).path
    try:
        content = path.read_bytes()
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror}. Run the tests first.", file=sys.stderr)
        return 2
    try:
        report = read_report(content)
        problems = find_problems(report)
    except NotAReport as error:
        problems = [str(error)]
    if problems:
        for problem in problems:
            print(f"{path}: {problem}", file=sys.stderr)
        return 1
    summary = report["summary"]
    print(f"{path}: valid, {summary['total']} tests, {summary.get('passed', 0)} passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
