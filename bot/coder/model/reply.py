"""Reads a model's answer: JSON of a fixed form, whose expression is checked as the author's own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field, ValidationError

from bot.coder.model.calls import Frozen, Reply
from bot.contract.answering import prose_of
from bot.contract.document.problems import Fault
from bot.contract.load import check_document
from bot.redaction import inert


def _schema(name: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string"},
            "assumptions": {"type": "array", "items": {"type": "string"}},
            "cannot": {"type": "string"},
        },
        "required": [name, "assumptions", "cannot"],
        "additionalProperties": False,
    }


SCHEMAS = {name: _schema(name) for name in ("expression", "contract")}
_MOST_ASSUMPTIONS = 10
_LONGEST = 300


class Answer(Frozen):
    """Holds what a model makes of a rule: an expression, or why there is none."""

    expression: str = Field(max_length=4000)
    assumptions: tuple[str, ...] = ()
    cannot: str = ""


@dataclass(frozen=True)
class Wrong:
    """Says what is wrong with an answer, as the model is told."""

    words: str


def read_reply(reply: Reply, rule: str, root: Mapping[str | int, object]) -> Answer | Wrong:
    """Parse and check an answer; the contract's own checker judges the expression."""
    if reply.stop_reason == "max_tokens":
        return Wrong("The answer was cut off because it was too long. Answer with the JSON alone.")
    if reply.stop_reason == "refusal":
        return Wrong("The model refused to answer.")
    try:
        given = Answer.model_validate_json(reply.text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        words = f"{place}: {first['msg']}".removeprefix(": ")
        form = "Answer with one JSON object and nothing else: expression, assumptions, cannot."
        return Wrong(f"The answer is not of the form that was asked for: {words}. {form}")
    answer = Answer(
        expression=given.expression.strip(),
        assumptions=tuple(line(text) for text in given.assumptions[:_MOST_ASSUMPTIONS]),
        cannot=line(given.cannot),
    )
    if not answer.expression:
        return answer if answer.cannot else Wrong("expression and cannot are both empty.")
    faults = expression_faults(root, rule, answer.expression)
    if faults:
        return Wrong("\n\n".join(_told(fault, answer.expression) for fault in faults[:5]))
    return answer


def expression_faults(root: Mapping[str | int, object], rule: str, text: str) -> list[Fault]:
    """Check an expression in its contract, with the other open rules as ones that never hold."""
    rules = dict(root["rules"]) if isinstance(root.get("rules"), dict) else {}  # type: ignore[call-overload]
    for name, prose in prose_of(root).items():
        rules[name] = {"prose": prose, "expression": text if name == rule else "never"}
    found = check_document({**root, "rules": rules})
    return [fault for fault in found if fault.where[:2] == ("rules", rule)]


def _told(fault: Fault, expression: str) -> str:
    """Show a mistake with its exact place: the expression, and a caret below the character."""
    parts = [fault.message]
    parts += [f"found {fault.found}"] if fault.found else []
    parts += [f"allowed: {fault.allowed}"] if fault.allowed else []
    parts += [f"did you mean {fault.nearest}?"] if fault.nearest else []
    if fault.offset is None or "\n" in expression:
        return f"{expression}\n{'; '.join(parts)}"
    caret = f"{' ' * fault.offset}^"
    return f"{expression}\n{caret}\ncolumn {fault.offset + 1}: {'; '.join(parts)}"


def line(text: str) -> str:
    """Write a model's sentence on one short line, without control characters."""
    return " ".join(inert(text).split())[:_LONGEST]


def as_json(answer: Answer) -> str:
    """Write an answer as the model is shown its own."""
    return json.dumps(answer.model_dump(mode="json"))
