"""An issue form's answers to the text of a contract, or to what is wrong with the answers.

Strict: the headings of our form, each once and in order, and nothing else. One-line answers reach
the contract as quoted text; answers in YAML are checked to be whole by themselves and are indented
under their key. What the contract then says is judged by its loader as any other.
"""

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from bot.contract.code_paths import file_stem, guess_id
from bot.contract.document.source import read_source
from bot.errors import InputError

# The labels of bot/workflow/templates/strategy_form.yml, in its order; a test keeps them equal.
HEADINGS = {
    "name": "Name",
    "description": "Description",
    "symbols": "Symbols",
    "timeframe": "Timeframe",
    "market_type": "Market type",
    "data": "Candles",
    "parameters": "Parameters",
    "indicators": "Indicators",
    "enter_long": "Enter long",
    "exit_long": "Exit long",
    "enter_short": "Enter short",
    "exit_short": "Exit short",
    "stop_loss": "Stop loss",
    "take_profit": "Take profit",
    "other": "Anything else",
}
OPEN_THE_FORM = "Open a new issue with the form and leave its headings as they are."
_NOTHING = ("", "_No response_", "None")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"```(?:ya?ml)?\n(.*?)\n?```", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_ATR = re.compile(r"\{[a-z0-9_:., ]{1,80}\}", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_RISK = re.compile(r"risk\s*:")
# Without quotes and comments in it, so that its commas and brackets are YAML's own.
_INLINE_RISK = re.compile(r"risk\s*:\s+\{([^'\"#]*)\}\s*", re.ASCII)
_OWN_KEYS = frozenset({"version", "workflow", "task", "kind", "market", "rules", *HEADINGS})


@dataclass(frozen=True)
class FormContract:
    """A contract's text, made of an issue."""

    path: str  # where it goes in the repository; an issue has one path for ever
    text: str  # the contract, not checked yet


def contract_path(number: int, folder: str = "contracts") -> str:
    """Where the contract of an issue lies."""
    return f"{folder}/issue_{number}.yaml"


def contract_from_form(number: int, body: str, path: str = "") -> FormContract:
    """Write the contract that an issue's answers ask for, by default below `contracts/`.

    Raises:
        InputError: the body is not our form, filled in.
    """
    answers = read_answers(body)
    name = _line(answers, "name")
    workflow = guess_id(file_stem(name)) or f"issue-{number}"
    symbols = [part.strip() for part in _line(answers, "symbols").split(",") if part.strip()]
    candles = _line(answers, "data")
    source = "feather" if candles.lower().endswith(".feather") else "csv"
    lines = [
        f"# Made from the answers in issue {number}.",
        'version: "1.0"',
        f"workflow: {workflow}",
        "task: strategy",
        "kind: strategy",
        f"name: {_quoted(name)}",
    ]
    if description := _line(answers, "description"):
        lines.append(f"description: {_quoted(description)}")
    lines += [
        "market:",
        f"  symbols: [{', '.join(map(_quoted, symbols))}]",
        f"  timeframe: {_quoted(_line(answers, 'timeframe'))}",
        f"  type: {_quoted(_line(answers, 'market_type') or 'spot')}",
        "data:",
        f"  source: {source}",
        f"  path: {_quoted(candles)}",
    ]
    for key in ("parameters", "indicators"):
        lines += _section(key, _yaml(answers, key))
    lines.append("rules:")
    for key in ("enter_long", "exit_long", "enter_short", "exit_short"):
        if rule := _line(answers, key):
            lines.append(f"  {key}: {_quoted(rule)}")
    other = _yaml(answers, "other")
    lines.append("risk:")
    for key in ("stop_loss", "take_profit"):
        if level := _line(answers, key):
            lines.append(f"  {key}: {_level(level)}")
    risk, rest = _split_risk(other)
    lines += [*risk, *rest]
    return FormContract(path or contract_path(number), "\n".join(lines) + "\n")


def read_answers(body: str) -> dict[str, str]:
    """Cut a body into its answers.

    Raises:
        InputError: a heading is missing, twice, or not in its place.
    """
    lines = body.replace("\r\n", "\n").split("\n")
    places = []
    for key, heading in HEADINGS.items():
        found = [index for index, line in enumerate(lines) if line == f"### {heading}"]
        if len(found) != 1:
            state = "missing" if not found else "there more than once"
            raise InputError(
                f"the heading “{heading}” of the strategy form is {state}",
                OPEN_THE_FORM,
            )
        places.append((found[0], key))
    if [index for index, _ in places] != sorted(index for index, _ in places):
        raise InputError(
            "the headings of the strategy form are not in their order",
            OPEN_THE_FORM,
        )
    if any(line.strip() for line in lines[: places[0][0]]):
        raise InputError(
            "there is text above the first heading of the strategy form",
            "Write it as a comment; the form's answers alone become the contract.",
        )
    ends = [index for index, _ in places[1:]] + [len(lines)]
    return {
        key: "\n".join(lines[start + 1 : end]).strip()
        for (start, key), end in zip(places, ends, strict=True)
    }


def _line(answers: Mapping[str, str], key: str) -> str:
    """A one-line answer without what the issue's page does not show."""
    answer = _COMMENT.sub("", answers[key]).strip()
    if answer in _NOTHING:
        return ""
    if "\n" in answer or len(answer) > 2000:
        raise InputError(
            f"the answer to “{HEADINGS[key]}” is not one line",
            "Write it on one line, or leave it out.",
        )
    return answer


def _yaml(answers: Mapping[str, str], key: str) -> list[str]:
    """An answer in YAML, checked to be one whole mapping."""
    answer = answers[key]
    fenced = _FENCE.fullmatch(answer)
    text = fenced[1] if fenced else answer
    if text.strip() in _NOTHING:
        return []
    source = read_source(text.encode("utf-8", "replace"), "yaml")
    if source.flaws or source.root is None:
        flaw = source.flaws[0] if source.flaws else None
        line = source.line_and_column(flaw.index)[0] if flaw else 1
        words = flaw.message if flaw else "it is not a mapping"
        message = f"the answer to “{HEADINGS[key]}”, line {line}: {words}"
        raise InputError(message, "Write keys and values as in the form's example.")
    taken = sorted(str(name) for name in source.root if key == "other" and name in _OWN_KEYS)
    if taken:
        message = f"“{HEADINGS[key]}” says {taken[0]}, which has its own place in the form"
        raise InputError(message, "Say it there, or push a contract file instead.")
    return text.split("\n")


def _section(key: str, lines: list[str]) -> list[str]:
    return [f"{key}:", *(f"  {line}" if line.strip() else "" for line in lines)] if lines else []


def _split_risk(lines: list[str]) -> tuple[list[str], list[str]]:
    """Take `risk:` apart from the other keys: its lines go on under the form's own."""
    risk: list[str] = []
    rest: list[str] = []
    inside = False
    for line in lines:
        if line and not line[0].isspace() and not line.startswith("#"):
            inside = _RISK.match(line) is not None
            if inline := _INLINE_RISK.fullmatch(line):
                risk += _entries(inline[1])
                continue
            if inside and line.split("#")[0].rstrip() == "risk:":
                continue
            if inside:
                raise InputError(
                    f"“{HEADINGS['other']}” gives risk on one line that cannot be taken apart",
                    "Write risk: alone on its line and its keys below, two spaces in.",
                )
        (risk if inside else rest).append(line)
    indented = [
        f"  {line}" for line in textwrap.dedent("\n".join(risk)).split("\n") if line.strip()
    ]
    return indented, [line for line in rest if line.strip()]


def _entries(inside: str) -> list[str]:
    """The entries of a one-line mapping, each on a line: cut at commas outside of brackets."""
    parts, depth = [""], 0
    for char in inside:
        depth += (char in "{[") - (char in "}]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _level(text: str) -> str:
    plain = _NUMBER.fullmatch(text) or _ATR.fullmatch(text) or _NAME.fullmatch(text)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """A text that YAML reads as exactly this text."""
    return json.dumps(text, ensure_ascii=False)
