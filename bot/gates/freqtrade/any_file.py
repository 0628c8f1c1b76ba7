"""Turns anybody's Freqtrade strategy file into verdicts on its content and on looking ahead."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from bot.contract.code_paths import FREQTRADE_FOLDER
from bot.gates.freqtrade.lookahead import judge_freqtrade_lookahead, strategy_classes
from bot.gates.port import Case, Verdict
from bot.gates.table import STATIC
from sandbox_runner.answer_cache import Memory
from sandbox_runner.port import Sandbox

# Nobody planned the paths of somebody's own file.
_GATES = tuple(gate for gate in STATIC if gate.name != "constitution")
BEHAVIOUR = ("determinism", "lookahead")


@dataclass(frozen=True)
class Examined:
    """Holds what the gates said of one strategy class."""

    path: str
    name: str
    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Tells whether every gate let it pass."""
        return all(verdict.passed for verdict in self.verdicts)


def examine_freqtrade_file(
    path: str,
    source: bytes,
    candles: pd.DataFrame,
    sandbox: Sandbox,
    memory: Memory | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[Examined, ...]:
    """Judge every strategy class of a file.

    It is somebody's own file, so what the static gate refuses is told and the strategy is asked all
    the same: nothing but the sandbox stands between it and the machine, and that is made for it.

    Raises:
        WorldError: there is no Freqtrade here, or the sandbox failed.
    """
    file_name = path.rpartition("/")[2]
    inner = f"{FREQTRADE_FOLDER}/{file_name}"
    case = Case({inner: source}, frozenset({inner}))
    static = tuple(gate.judge(case) for gate in _GATES)
    names = strategy_classes(source)
    if not names:
        return (Examined(path, file_name, (*static, *_unrun("there is no class below IStrategy"))),)
    say(f"{path}: Freqtrade computes {', '.join(names)} in the sandbox")
    judged = judge_freqtrade_lookahead(names, path, source, candles, sandbox, memory)
    return tuple(Examined(path, name, (*static, *judged[name])) for name in names)


def _unrun(cause: str) -> tuple[Verdict, ...]:
    step = "mend what the first refused gate names"
    return tuple(
        Verdict(name, False, "not run", f"not run: {cause}", "", step) for name in BEHAVIOUR
    )
