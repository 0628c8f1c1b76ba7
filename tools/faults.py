"""The four matrices of GitHub under fire: faults, crashes, duplicates, strangers.

    python -m tools.faults [--matrix NAME] [--flow NAME] [--workers N] [--sample N] [--minutes M]

Each cell lets one thing go wrong at one call of one flow against a GitHub on loopback, then runs
the event again without it. A cell is right if the disturbed run ended as it should or said what to
do, if nothing untrue was told, and if branch, tag, pull request, comments, checks, approvals and
deployments end as they do without the fault. Exit code 1 if any cell is wrong.
"""

import argparse
import atexit
import multiprocessing
import multiprocessing.util
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fire.flows import FLOWS
from tests.fire.matrices import DEPLOYS, MATRICES, Task, Tried, Worker, table, tasks

_FLOWS = [*(flow.name for flow in FLOWS), *DEPLOYS]
_PARTS = 8
_worker: list[Any] = []


def main() -> int:
    """Try the cells and print the matrices."""
    args = _arguments()
    until = time.monotonic() + args.minutes * 60
    flows = [name for name in _FLOWS if not args.flow or name in args.flow]
    todo = tasks(args.matrix or MATRICES, flows, _PARTS)
    found: list[Tried] = []
    with tempfile.TemporaryDirectory(prefix="stratwright-heard-") as heard:
        memory = args.memory or Path(heard)
        context = multiprocessing.get_context("spawn")
        with context.Pool(args.workers, _begin, (memory, args.sample, until)) as pool:
            for part in pool.imap_unordered(_work, todo):
                found += part
                for each in part:
                    if each.why:
                        print(f"WRONG {each.matrix}: {each.row}, {each.column}: {each.why}")
                _progress(found)
            pool.close()
            pool.join()
    for matrix in args.matrix or MATRICES:
        print(f"\n{table(matrix, found)}")
    return 1 if any(each.why for each in found) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--matrix", action="append", choices=MATRICES, help="only this one")
    parser.add_argument("--flow", action="append", choices=_FLOWS)
    parser.add_argument("--workers", type=int, default=2, help="processes; default: 2")
    parser.add_argument("--sample", type=int, default=1, help="one fault in so many; default: all")
    parser.add_argument("--minutes", type=float, default=120, help="leave out what comes after")
    parser.add_argument("--memory", type=Path, help="where the sandbox's outcomes are kept")
    return parser.parse_args()


def _begin(memory: Path, sample: int, until: float) -> None:
    worker = Worker(memory)
    # Pool workers end without atexit; multiprocessing has its own list of last things.
    multiprocessing.util.Finalize(worker, worker.close, exitpriority=10)
    atexit.register(worker.close)
    _worker[:] = [worker, sample, until]


def _work(task: Task) -> list[Tried]:
    worker, sample, until = _worker
    return list(worker.work(task, sample, until))


def _progress(found: list[Tried]) -> None:
    tried = sum(1 for each in found if not each.left_out)
    wrong = sum(1 for each in found if each.why)
    sys.stderr.write(f"{tried} cells tried, {wrong} wrong\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
