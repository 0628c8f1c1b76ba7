"""Turns what came out of the sandbox into decisions: it is read strictly and nothing is trusted."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from bot.contract.language.contract_decisions import Decisions, Order
from sandbox_runner.port import Outcome
from sandbox_runner.request import DECISIONS_FILE, LONG_ID, SHORT_ID, Run

_NEEDED = ("action", "symbol", "type", "volume")
_SIZES = ("equity", "risk", "units")
_LEVELS = ("fraction", "distance")
_MINUTES = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_LARGEST = 2**63
_RULES = ("enter_long", "exit_long", "enter_short", "exit_short")


class NoAnswer(Exception):
    """The strategy gave no usable answer; says why, and at which of its own lines if known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True)
class Answers:
    """Holds what one run answered, bar by bar: orders, and whether each side would leave."""

    bars: Sequence[int]  # the bars that were asked about
    later: Sequence[int]  # the bars that were asked about after the first pass
    # One tuple of answers for each time the conversation was held.
    passes: tuple[tuple["Answer", ...], ...]
    # What stands for the indicators of each pass; only compared, never believed.
    indicators: tuple[str, ...] = ()
    # The bars at which each rule holds, as the strategy offers them for all at once.
    signals: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def record(self) -> Decisions:
        """Gives the first pass as the record that the broker replays."""
        answers = list(zip(self.bars, self.passes[0], strict=True))
        return {
            "entries": {str(bar): answer.order for bar, answer in answers if answer.order},
            "exit_long": [bar for bar, answer in answers if answer.leave_long],
            "exit_short": [bar for bar, answer in answers if answer.leave_short],
        }


@dataclass(frozen=True)
class Answer:
    """Holds one bar's answer."""

    order: Order | None
    leave_long: bool
    leave_short: bool


QUIET = Answer(None, False, False)


def read_answers(
    outcome: Outcome, runs: Sequence[Run], lengths: Mapping[str, int]
) -> list[Answers]:
    """Read the answers of the runs of a job.

    Raises:
        NoAnswer: the job or a run failed, or an answer is not of the agreed form.
    """
    return all_answered(read_each(outcome, runs, lengths))


def all_answered(found: Iterable[Answers | NoAnswer]) -> list[Answers]:
    """Gives the answers of runs, where none failed.

    Raises:
        NoAnswer: the first run that failed.
    """
    read = []
    for answers in found:
        if isinstance(answers, NoAnswer):
            raise answers
        read.append(answers)
    return read


def read_each(
    outcome: Outcome, runs: Sequence[Run], lengths: Mapping[str, int]
) -> list[Answers | NoAnswer]:
    """Reads the answers of the runs of a job; in the place of a run that failed, why.

    `lengths` says how many bars each file of candles has.

    Raises:
        NoAnswer: the job failed.
    """
    raise_for(outcome)
    content = outcome.outputs.get(DECISIONS_FILE)
    if content is None:
        why = outcome.refused.get(DECISIONS_FILE, "they were not asked for")
        raise NoAnswer(f"no decisions came out of the strategy's process: {why}")
    try:
        document = json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise NoAnswer("the decisions are not plain JSON") from None
    found = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(found, list) or len(found) != len(runs):
        raise NoAnswer("the decisions do not answer what was asked")
    read: list[Answers | NoAnswer] = []
    for raw, run in zip(found, runs, strict=True):
        try:
            read.append(_read_run(raw, run, lengths[run.candles]))
        except NoAnswer as error:
            read.append(error)
    return read


def raise_for(outcome: Outcome) -> None:
    """Stop where the sandbox ended the job.

    Raises:
        NoAnswer: with the limit that was hit.
    """
    if outcome.timed_out:
        raise NoAnswer("the time limit was reached and the sandbox was stopped")
    if outcome.out_of_memory:
        raise NoAnswer("the memory limit was reached and the sandbox was stopped")
    if outcome.exit_code is None:
        raise NoAnswer("the sandbox was stopped: a limit on output or processes was reached")


def _read_run(raw: object, run: Run, length: int) -> Answers:
    if not isinstance(raw, dict):
        raise NoAnswer("a run is not an object")
    if "error" in raw:
        raise _strategy_error(raw["error"])
    count = length if run.bars is None else run.bars
    asked = range(count) if run.at is None else run.at
    later = asked if run.later is None else run.later
    passes = raw.get("passes")
    if not isinstance(passes, list) or len(passes) != run.passes:
        raise NoAnswer("a run has not the passes that were asked for")
    read = []
    for number, one in enumerate(passes):
        bars = later if number else asked
        if not isinstance(one, list) or len(one) != len(bars):
            raise NoAnswer(f"answers for {len(bars)} bars were asked for, others came")
        pairs = zip(one, bars, strict=True)
        read.append(
            tuple(
                QUIET if answer is None else _read_answer(answer, bar, run.symbol)
                for answer, bar in pairs
            )
        )
    digests = raw.get("indicators", [])
    if not isinstance(digests, list) or not all(
        isinstance(d, str) and len(d) < 100 for d in digests
    ):
        raise NoAnswer("a run's indicators are malformed")
    return Answers(asked, later, tuple(read), tuple(digests), _read_signals(raw, run, count))


def _read_signals(raw: Mapping[str, object], run: Run, count: int) -> dict[str, list[int]]:
    """Reads the bars of each rule, rising and within the candles."""
    if not run.signals:
        return {}
    found = raw.get("signals")
    if not isinstance(found, dict) or not set(found) <= set(_RULES):
        raise NoAnswer("a run has no signals, or signals of another form")
    for bars in found.values():
        whole = isinstance(bars, list) and all(type(bar) is int for bar in bars)
        if not whole or bars != sorted(set(bars)) or not all(0 <= bar < count for bar in bars):
            raise NoAnswer("a run's signals are malformed")
    return found


def _strategy_error(error: object) -> NoAnswer:
    if not isinstance(error, dict):
        return NoAnswer("the strategy failed")
    kind, message, line = (error.get(key) for key in ("type", "message", "line"))
    words = [word for word in (kind, message) if isinstance(word, str) and word]
    known = isinstance(line, int) and not isinstance(line, bool) and 0 < line < 1_000_000
    text = plain_text(": ".join(words) or "an error without a name", 260)
    return NoAnswer(f"the strategy failed with {text}", line if known else None)


def plain_text(text: str, most: int = 200) -> str:
    """Puts a stranger's text on one line, without anything that a terminal or a log would obey."""
    shown = "".join(c if c.isprintable() else " " for c in text[: most * 2])
    return " ".join(shown.split())[:most]


def _read_answer(raw: object, bar: int, symbol: str) -> Answer:
    if not isinstance(raw, list) or len(raw) != 3:
        raise NoAnswer(f"the answer for bar {bar} is malformed")
    order, long, short = raw
    return Answer(
        _read_order(order, bar, symbol),
        _read_exit(long, LONG_ID, bar),
        _read_exit(short, SHORT_ID, bar),
    )


def _read_exit(raw: object, position_id: str, bar: int) -> bool:
    if raw is None:
        return False
    if not isinstance(raw, dict) or raw.get("position_id") != position_id:
        raise NoAnswer(f"find_exits at bar {bar} answered neither None nor its own position")
    return True


def _read_order(raw: object, bar: int, symbol: str) -> Order | None:
    """Reads an order of exactly the agreed form: what the broker gets must not surprise it."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise NoAnswer(f"find_entries at bar {bar} answered neither None nor an order")
    unknown = sorted(set(raw) - set(_PARTS))
    if unknown:
        raise NoAnswer(f"the order at bar {bar} has an unknown key {unknown[0][:40]!a}")
    missing = [key for key in _NEEDED if key not in raw]
    if missing:
        raise NoAnswer(f"the order at bar {bar} has no {missing[0]}")
    for key, value in raw.items():
        if not _PARTS[key](value):
            raise NoAnswer(f"the order at bar {bar} has a {key} that is not of the agreed form")
    if raw["symbol"] != symbol:
        raise NoAnswer(f"the order at bar {bar} is for another symbol than {symbol}")
    order = cast(Order, raw)
    if "roi" in raw:
        order["roi"] = {int(minutes): profit for minutes, profit in raw["roi"].items()}
    return order


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < _LARGEST


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 200


def _is_one_of(names: Sequence[str]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        if not isinstance(value, dict) or len(value) != 1:
            return False
        ((name, number),) = value.items()
        return name in names and _is_number(number)

    return check


def _is_size(value: object) -> bool:
    if isinstance(value, dict) and "risk" in value and "cap" in value:
        return len(value) == 2 and all(map(_is_number, value.values()))
    return _is_one_of(_SIZES)(value)


def _is_trail(value: object) -> bool:
    if not isinstance(value, dict) or "fraction" not in value:
        return False
    numbers = {key: item for key, item in value.items() if key != "only_after_activation"}
    return (
        set(numbers) <= {"fraction", "activate_at"}
        and all(_is_number(number) for number in numbers.values())
        and isinstance(value.get("only_after_activation", False), bool)
    )


def _is_roi(value: object) -> bool:
    return isinstance(value, dict) and all(
        _MINUTES.fullmatch(minutes) and _is_number(profit) for minutes, profit in value.items()
    )


_PARTS: Mapping[str, Callable[[object], bool]] = {
    "action": lambda value: value in ("BUY", "SELL"),
    "symbol": _is_text,
    "type": lambda value: value == "MARKET",
    "volume": _is_number,
    "sl": _is_number,
    "tp": _is_number,
    "comment": _is_text,
    "stop": _is_one_of(_LEVELS),
    "target": _is_one_of(_LEVELS),
    "trail": _is_trail,
    "roi": _is_roi,
    "size": _is_size,
}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def same_decisions(found: Decisions, expected: Decisions) -> str:
    """Say where two records of decisions differ first; empty if they are the same.

    Numbers may differ in the last digits (1e-9), everything else not at all.
    """
    for rule, left, right in (
        ("exit_long", found["exit_long"], expected["exit_long"]),
        ("exit_short", found["exit_short"], expected["exit_short"]),
    ):
        odd = sorted(set(left) ^ set(right))
        if odd:
            wanted = "says yes" if odd[0] in right else "says no"
            return f"bar {odd[0]}: the contract's {rule} {wanted}, the strategy differs"
    mine, theirs = found["entries"], expected["entries"]
    bars = sorted(set(mine) ^ set(theirs), key=int)
    if bars:
        wanted = "wants an entry" if bars[0] in theirs else "wants no entry"
        return f"bar {bars[0]}: the contract {wanted}, the strategy differs"
    for bar in mine:
        difference = _difference(mine[bar], theirs[bar])
        if difference:
            return f"bar {bar}: the order's {difference}"
    return ""


def _difference(found: object, expected: object, path: str = "") -> str:
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted({*found, *expected}, key=str):
            if key not in found or key not in expected:
                return f"{path}{key} is {'missing' if key not in found else 'not in the contract'}"
            deeper = _difference(found[key], expected[key], f"{path}{key}.")
            if deeper:
                return deeper
        return ""
    numbers = [
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in (found, expected)
    ]
    if all(numbers):
        same = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    else:
        same = found == expected and not any(numbers)
    label = path.rstrip(".")
    return "" if same else f"{label} is {str(found)[:60]}, the contract says {str(expected)[:60]}"
