"""A strategy file to a backtest of it: its code in the sandbox, its results computed outside."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings, read_all
from adapters.strategy_loop import replay_decisions
from Backtest.candles import columns_of
from Backtest.sim_errors import BacktestError
from Backtest.simbroker import SimBroker
from bot.contract.code_paths import CODES_FOLDER
from bot.errors import InputError, RefusedError
from bot.gates.answer_reader import NoAnswer, read_answers
from bot.proof.judge import Judgement, with_tear_sheet
from sandbox_runner.harness.packed_candles import pack_candles
from sandbox_runner.jobs import decisions_job
from sandbox_runner.port import Sandbox
from sandbox_runner.request import Run


def backtest_file(
    path: Path,
    data: str,
    sandbox: Sandbox,
    watch: Callable[[SimBroker, int], None] | None = None,
) -> Judgement:
    """Ask a strategy file, of the shape that `generate` writes, for its decisions and replay them.

    `{symbol}` in `data` stands for each symbol; `watch` is given the broker and the number of
    candles before the first of them.

    Raises:
        InputError: the file or the candles cannot be read.
        RefusedError: the strategy failed or gave no usable answer.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    cfg = read_default_cfg(source, path)
    try:
        frame = read_all(data, cfg)
        frames = _frames(frame, cfg)
        decisions = _decide(source, cfg, frames, sandbox)
        broker = SimBroker(**broker_settings(cfg))
        if watch is not None:
            watch(broker, len(frame))
        summary = replay_decisions(SimBrokerAdapter(broker), frame, cfg, decisions)
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    except NoAnswer as error:
        place = path.name if error.line is None else f"{path.name}:{error.line}"
        raise RefusedError(f"{place}: {error.reason}", "Mend the strategy.") from None
    candles = {symbol: columns_of(part) for symbol, part in frames.items()}
    return with_tear_sheet(Judgement(summary, broker), candles)


def read_default_cfg(source: bytes, path: Path) -> dict[str, Any]:
    """DEFAULT_CFG as the file writes it, read without running the file.

    Raises:
        InputError: there is none, or it is not made of literals.
    """
    try:
        body = ast.parse(source).body
        for node in body:
            named = isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "DEFAULT_CFG"
            if named and isinstance(node, ast.AnnAssign) and node.value is not None:
                cfg = ast.literal_eval(node.value)
                if isinstance(cfg, dict):
                    return cfg
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    hint = "Give a contract, or a file in the shape that `stratwright generate` writes."
    raise InputError(f"{path} has no DEFAULT_CFG of plain values", hint)


def _frames(frame: pd.DataFrame, cfg: dict[str, Any]) -> dict[str, pd.DataFrame]:
    if "symbol" not in frame.columns:
        return {str(cfg.get("contract_symbol", cfg.get("symbol", "ASSET"))): frame}
    parts = {str(name): part for name, part in frame.groupby("symbol", sort=False)}
    return {
        name: part.drop(columns="symbol").reset_index(drop=True) for name, part in parts.items()
    }


def _decide(
    source: bytes, cfg: dict[str, Any], frames: dict[str, pd.DataFrame], sandbox: Sandbox
) -> dict[str, Any]:
    names = {symbol: f"{number}.candles" for number, symbol in enumerate(frames)}
    runs = tuple(Run(symbol, names[symbol], symbol) for symbol in frames)
    job = decisions_job(
        f"{CODES_FOLDER}/strategy.py",
        source,
        cfg,
        {names[symbol]: pack_candles(part) for symbol, part in frames.items()},
        runs,
    )
    lengths = {names[symbol]: len(part) for symbol, part in frames.items()}
    answers = read_answers(sandbox.run(job), runs, lengths)
    return {run.symbol: answer.record() for run, answer in zip(runs, answers, strict=True)}
