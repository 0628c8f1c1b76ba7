"""Holds versions of a strategy against the strategy itself, bar by bar; inside the sandbox.

`python -m sandbox_runner.harness.compare_versions` reads /job/likeness.json

    {"source": "...", "versions": ["...", ...], "bars": 900, "minutes": 60, "seeds": [501, ...],
     "seconds": 60}

and writes /out/likeness.json: {"constant": ["star", ...], "differs": ["", "market 501: star, bar
310", ...]}: the columns that never change on any of the markets, and for each version where it
first differs, empty if nowhere. Compared are all columns, orders and exits. As with the harness
nothing written here is evidence.
"""

import gc
import importlib.util
import json
import os
import signal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adapters.testing import both_answers, market
from sandbox_runner.harness.fresh_children import start, wait

REQUEST = "likeness.json"
_LONGEST_ANSWER = 200
Columns = dict[str, NDArray[Any]]
Look = tuple[Columns, list[object], list[object]]


def main(job: Path = Path("/job"), out: Path = Path("/out")) -> None:
    """Answer the request of a job."""
    request = json.loads((job / REQUEST).read_bytes())
    markets = {seed: market(request["bars"], seed, request["minutes"]) for seed in request["seeds"]}
    own = {seed: look(loaded(request["source"]), frame) for seed, frame in markets.items()}
    gc.collect()
    gc.freeze()
    differs = [
        _in_a_fork(version, own, markets, int(request["seconds"]))
        for version in request["versions"]
    ]
    answer = {"constant": constant([columns for columns, _, _ in own.values()]), "differs": differs}
    (out / REQUEST).write_text(json.dumps(answer))


def loaded(source: str) -> ModuleType:
    """Gives a strategy from its text."""
    spec = importlib.util.spec_from_loader("version", loader=None)
    if spec is None:
        raise ImportError("no module can be made")
    module = importlib.util.module_from_spec(spec)
    exec(compile(source, "version.py", "exec"), module.__dict__)  # noqa: S102 - in the sandbox
    return module


def look(module: ModuleType, frame: pd.DataFrame) -> Look:
    """Everything a strategy says of a market: its columns, its answers, its arrays' answers."""
    strategy = module.Strategy({})
    columns = {
        name: values.to_numpy() for name, values in strategy.prepare_indicators(frame).items()
    }
    return columns, *both_answers(strategy, frame)


def constant(looks: list[Columns]) -> list[str]:
    """Gives the columns that have one and the same value wherever they have one."""
    names = looks[0]
    found = []
    for name in names:
        values = np.concatenate([columns[name].astype(float) for columns in looks])
        values = values[~np.isnan(values)]
        if not len(values) or (values == values[0]).all():
            found.append(name)
    return found


def first_difference(own: Look, other: Look) -> str:
    """Tells what differs first, and at which bar; empty if nothing does."""
    if set(own[0]) != set(other[0]):
        return "columns, bar 0"
    for name, values in own[0].items():
        theirs = other[0][name]
        if len(theirs) != len(values):
            return f"{name}, bar {min(len(values), len(theirs))}"
        apart = ~((values == theirs) | ((values != values) & (theirs != theirs)))
        if apart.any():
            return f"{name}, bar {int(apart.argmax())}"
    for name, mine, others in zip(("methods", "arrays"), own[1:], other[1:], strict=True):
        for bar, (ours, its) in enumerate(zip(mine, others, strict=True)):
            if ours != its:
                return f"answer of its {name}, bar {bar}"
    return ""


def _in_a_fork(
    version: str, own: dict[int, Look], markets: dict[int, pd.DataFrame], seconds: int
) -> str:
    def compare(writer: int) -> int:
        signal.alarm(seconds)
        module = loaded(version)
        for seed, frame in markets.items():
            found = first_difference(own[seed], look(module, frame))
            if found:
                os.write(writer, f"market {seed}: {found}"[:_LONGEST_ANSWER].encode())
                break
        return 0

    told, code = wait(*start(compare), 4 * _LONGEST_ANSWER)
    return told.decode("utf-8", "replace") or ("" if code == 0 else "it fails, bar 0")


if __name__ == "__main__":
    main()
