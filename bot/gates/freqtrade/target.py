"""The gate `freqtrade-parity`: Freqtrade itself signals and trades as the contract says."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from bot.contract.code_paths import FREQTRADE_FOLDER
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.gates.answer_reader import NoAnswer, plain_text, raise_for
from bot.gates.asking import ask
from bot.gates.freqtrade.parity import (
    Expectation,
    Signals,
    Trade,
    differing_signal,
    differing_trade,
)
from bot.gates.port import Verdict
from bot.gates.questions import perturb
from sandbox_runner.answer_cache import Memory
from sandbox_runner.jobs import FREQTRADE_ANSWER, freqtrade_job
from sandbox_runner.port import JOB_FOLDER, Limits, Outcome, Sandbox

NAME = "freqtrade-parity"


class _Answer(TypedDict):
    """Holds what Freqtrade did with some candles."""

    signals: Mapping[str, Signals]
    trades: list[Trade]


def examine_freqtrade(
    contract: Contract,
    program: Program,
    files: Mapping[str, bytes],
    data: MarketData,
    sandbox: Sandbox,
    limits: Limits,
    packages: Path | None = None,
    memory: Memory | None = None,
) -> tuple[Verdict, bool]:
    """Load the strategy in Freqtrade, inside the sandbox, and compare what it does there.

    Signals are compared bar by bar, on the candles and on other prices at the same times; trades
    one by one, with those of the `freqtrade` fill profile. The answer also says whether the verdict
    is on a remembered answer. A recorded one needs no `packages`, the folder with Freqtrade;
    without `memory` none is used or kept.

    Raises:
        WorldError: the sandbox failed.
    """
    path = contract.freqtrade_file
    if path not in files:
        return _refused("no file", f"{path} is missing", path), False
    real = Expectation(contract, program, data.frames)
    others = perturb(data, files[path])
    other = Expectation(
        contract, program, {name.removeprefix("other "): frame for name, frame in others.items()}
    )
    folder = f"{JOB_FOLDER}/{FREQTRADE_FOLDER}"
    requests = [real.request(folder), other.request(folder, backtest=False)]
    question = json.dumps(requests).encode()
    job = freqtrade_job(path, files[path], question, packages=packages, limits=limits)
    outcome, remembered = ask(job, sandbox, memory, packages)
    return judge_freqtrade(outcome, real, other, path), remembered


def judge_freqtrade(outcome: Outcome, real: Expectation, other: Expectation, path: str) -> Verdict:
    """Compare Freqtrade's answers with the contract's own."""
    try:
        raise_for(outcome)
        answers = _answers(outcome)
    except NoAnswer as error:
        return _refused("no answer", f"Freqtrade gave no answer: {error.reason}", path)
    try:
        signals = real.signals()
        trades = real.trades()
        difference = differing_signal(answers[0]["signals"], signals)
        if not difference:
            elsewhere = differing_signal(answers[1]["signals"], other.signals())
            difference = f"on other prices, {elsewhere}" if elsewhere else ""
        difference = difference or differing_trade(answers[0]["trades"], trades)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        return _refused("no answer", f"Freqtrade's answer is malformed: {error!r}"[:200], path)
    if difference:
        return _refused("differs", difference, path)
    bars = sum(len(marks) for pair in signals.values() for marks in pair.values())
    return Verdict(NAME, True, f"{bars} signals, {len(trades)} trades")


def _answers(outcome: Outcome) -> list[_Answer]:
    content = outcome.outputs.get(FREQTRADE_ANSWER)
    if content is None:
        last_words = outcome.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        reason = outcome.refused.get(FREQTRADE_ANSWER, "it wrote none")
        raise NoAnswer(": ".join([reason, *(plain_text(words) for words in last_words)]))
    try:
        answers = json.loads(content)
    except ValueError:
        raise NoAnswer("it is no JSON") from None
    if not isinstance(answers, list) or len(answers) != 2:
        raise NoAnswer("it does not have two parts")
    return answers


def _refused(figure: str, reason: str, path: str) -> Verdict:
    step = "compare the file's columns with the contract's rules at that bar"
    return Verdict(NAME, False, figure, reason, path, step)
