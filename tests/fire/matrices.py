"""The four matrices as lists of jobs that workers share, and their counts as text."""

import hashlib
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.fire import deploys, duplicates, strangers
from tests.fire.bench import Bench, Kept, open_bench
from tests.fire.cells import FAULTS, KILLS, Cell, Reference, refer, try_cell
from tests.fire.flows import FLOWS
from tests.memory_disk import memory_disk

MATRICES = ("faults", "crashes", "duplicates", "strangers")
KINDS = {"faults": FAULTS, "crashes": KILLS}
DEPLOYS = {flow.name: flow for flow in deploys.FLOWS}
OFTEN = {"20 times, 5 at once": 0, "20 times, 5 at once, 2 of them killed": 2}


@dataclass(frozen=True)
class Task:
    """A part of a matrix: one row of it, every so-many-th cell beginning with one."""

    matrix: str
    row: str
    first: int = 0
    step: int = 1


@dataclass(frozen=True)
class Tried:
    """One cell that was tried, or left out for want of time."""

    matrix: str
    row: str
    column: str
    why: str = ""
    end: str = ""
    left_out: bool = False


def tasks(matrices: Iterable[str], flows: Iterable[str], parts: int) -> list[Task]:
    """Deal the matrices out, so that what is left out for want of time is spread over all."""
    wanted, names, found = set(matrices), list(flows), []
    if "strangers" in wanted:
        found.append(Task("strangers", ""))
    every = {flow.name for flow in FLOWS} <= {*names}
    wished = [c.name for c in duplicates.CASES if every or c.name.partition(":")[0] in names]
    cases = [Task("duplicates", name) for name in wished]
    asked = [name for name in names if name in DEPLOYS]
    cases += [Task("duplicates", f"{name}: {more}") for name in asked for more in OFTEN]
    for part in range(parts):
        for matrix in sorted(wanted & set(KINDS)):
            found += [Task(matrix, name, part, parts) for name in names]
        found += cases[part::parts] if "duplicates" in wanted else []
    return found


def chosen(cell: Cell, sample: int) -> bool:
    """Whether a cell belongs to the sample of one in so many; the same ones on every machine."""
    text = f"{cell.flow}|{cell.call}|{cell.kind}"
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % sample == 0


class Worker:
    """One process's server, with the references that it has made so far."""

    def __init__(self, memory: Path) -> None:
        self._stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="stratwright-faults-", dir=memory_disk()))
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.bench: Bench = self._stack.enter_context(open_bench(self.folder / "world", memory))
        self.empty: Kept = self.bench.keep()
        self._references: dict[str, Reference] = {}
        self._stages: dict[str, deploys.Stage] = {}
        self._pid = os.getpid()

    def close(self) -> None:
        """Stop the server and remove the folders."""
        if os.getpid() == self._pid:
            self._stack.close()

    def reference(self, name: str) -> Reference:
        """A flow without faults, run once."""
        if name not in self._references:
            flow = next(each for each in FLOWS if each.name == name)
            self._references[name] = refer(self.bench, flow, self.empty)
        return self._references[name]

    def stage(self, name: str) -> deploys.Stage:
        """A flow of the deploy workflow without faults, run once."""
        if name not in self._stages:
            folder = self.folder / f"deploy-{len(self._stages)}"
            self._stages[name] = deploys.open_stage(folder, DEPLOYS[name], self._stack)
        return self._stages[name]

    def work(self, task: Task, sample: int, until: float) -> Iterator[Tried]:
        """Try the cells of a task until the time is over."""
        flow, _, more = task.row.partition(": ")
        if task.matrix in KINDS:
            yield from self._cells(task, sample, until)
        elif task.matrix == "duplicates" and flow in DEPLOYS:
            late = time.monotonic() > until
            why = "" if late else self.stage(flow).often(OFTEN[more])
            yield Tried(task.matrix, task.row, "", why, left_out=late)
        elif task.matrix == "duplicates":
            case = next(each for each in duplicates.CASES if each.name == task.row)
            if time.monotonic() > until:
                yield Tried(task.matrix, case.name, "", left_out=True)
            else:
                yield Tried(task.matrix, case.name, "", case.attempt(self.bench, self.empty))
        else:
            yield from self._strangers()

    def _cells(self, task: Task, sample: int, until: float) -> Iterator[Tried]:
        if time.monotonic() > until and task.row not in {**self._references, **self._stages}:
            yield Tried(task.matrix, task.row, "", left_out=True)  # how many nobody has counted
            return
        mine = (self.stage if task.row in DEPLOYS else self.reference)(task.row)
        cells = [c for c in mine.cells(KINDS[task.matrix]) if chosen(c, sample)]
        for cell in cells[task.first :: task.step]:
            if time.monotonic() > until:
                yield Tried(task.matrix, cell.flow, cell.kind, left_out=True)
                continue
            found = (
                mine.try_cell(cell)
                if isinstance(mine, deploys.Stage)
                else try_cell(self.bench, mine, cell)
            )
            why = found.why and f"call {cell.call}, {found.what}: {found.why}"
            yield Tried(task.matrix, cell.flow, cell.kind, why, found.end)

    def _strangers(self) -> Iterator[Tried]:
        self.bench.go_back(self.empty)
        start = strangers.prepare(self.bench)
        for case in strangers.CASES:
            why = strangers.try_case(self.bench, start, case)
            yield Tried("strangers", case.name, case.reason, why)
        for job in strangers.LOST:
            why = strangers.lose_before(self.bench, start, job)
            yield Tried("strangers", f"permission lost before {job}", "no-permission", why)
        stage = self.stage(deploys.FLOWS[0].name)
        stage.go_back()
        for name, code, why in deploys.try_strangers(stage.scene):
            yield Tried("strangers", name, code, why)


def table(matrix: str, found: list[Tried]) -> str:
    """A matrix as text: right/tried for each row and column."""
    mine = [each for each in found if each.matrix == matrix]
    columns = list(KINDS.get(matrix, ("cases",)))
    rows = list(dict.fromkeys(each.row for each in mine)) if matrix in KINDS else [matrix]
    tried: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for each in mine:
        key = (each.row, each.column) if matrix in KINDS else (matrix, "cases")
        tried[key] += not each.left_out
        right[key] += not each.left_out and not each.why
    lines = [_line(matrix, [*columns, "all"])]
    for row in rows:
        counts = [(right[row, column], tried[row, column]) for column in columns]
        counts.append((sum(r for r, _ in counts), sum(t for _, t in counts)))
        lines.append(_line(row, [f"{r}/{t}" if t else "-" for r, t in counts]))
    return "\n".join([*lines, total(matrix, mine)])


def _line(name: str, parts: list[str]) -> str:
    return f"{name:<26}" + "".join(f"{part:>16}" for part in parts)


def total(matrix: str, mine: list[Tried]) -> str:
    """The counts of a matrix on one line."""
    tried = [each for each in mine if not each.left_out]
    wrong = sum(1 for each in tried if each.why)
    at_once = sum(1 for each in tried if each.end == "at once")
    left = len(mine) - len(tried)
    ends = f", {at_once} of them in the disturbed run itself" if matrix == "faults" else ""
    more = f"; {left} or more not tried for want of time" if left else ""
    return f"{matrix}: {len(tried)} tried, {len(tried) - wrong} right{ends}, {wrong} wrong{more}"
