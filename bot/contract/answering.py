"""Puts expressions beside a contract's rules in prose, and changes nothing else of its file."""

import json
from collections.abc import Mapping

from bot.contract.coherence import NOT_ANSWERED
from bot.contract.document.problems import ContractError, Where
from bot.contract.document.source import Form, Source, read_source
from bot.contract.model import Contract
from bot.errors import InputError

RULES = ("enter_long", "exit_long", "enter_short", "exit_short")


def open_questions(error: ContractError) -> bool:
    """Say whether all that is wrong with a contract is prose without an expression."""
    return bool(error.problems) and all(each.message == NOT_ANSWERED for each in error.problems)


def prose_of(root: Mapping[str | int, object]) -> dict[str, str]:
    """Give the rules of a document that are in prose and have no expression, in order."""
    rules = root.get("rules")
    found = {name: rules.get(name) for name in RULES} if isinstance(rules, dict) else {}
    return {
        name: str(rule["prose"])
        for name, rule in found.items()
        if isinstance(rule, dict) and "prose" in rule and rule.get("expression") is None
    }


def with_answers(data: bytes, form: Form, answers: Mapping[str, str]) -> bytes:
    """Write each expression into the contract's own text, behind the prose that it answers.

    Raises:
        InputError: the rule is written in a way in which nothing can be put behind it.
    """
    source = read_source(data, form)
    if source.root is None:
        raise InputError("the contract cannot be read")
    wanted = {**source.root, "rules": _answered(source.at(("rules",)), answers)}
    text = source.text
    # From the end on, so that the places before stay.
    for name in sorted(answers, key=lambda rule: -source.values["rules", rule].start):
        text = _inserted(text, source, ("rules", name), answers[name])
    written = text.encode()
    again = read_source(written, form)
    if again.flaws or again.root != wanted:
        message = "an expression cannot be put beside the prose as it is written here"
        raise InputError(message, 'Write the rule as {prose: "..."} on a line of its own.')
    return written


def answered_prose(contract: Contract) -> dict[str, tuple[str, str]]:
    """Give prose and expression of the rules that have both."""
    rules = {name: getattr(contract.rules, name) for name in RULES}
    return {
        name: (rule.prose, rule.expression)
        for name, rule in rules.items()
        if rule is not None and not isinstance(rule, str) and rule.expression is not None
    }


def _answered(rules: object, answers: Mapping[str, str]) -> dict[object, object]:
    known = dict(rules) if isinstance(rules, dict) else {}
    return known | {name: {**known[name], "expression": text} for name, text in answers.items()}


def _inserted(text: str, source: Source, where: Where, expression: str) -> str:
    whole, prose = source.values[where], source.values[*where, "prose"]
    quoted = json.dumps(expression)
    if text[whole.start] == "{":
        key = '"expression"' if text[source.keys[*where, "prose"].start] == '"' else "expression"
        return f"{text[: prose.end]}, {key}: {quoted}{text[prose.end :]}"
    start = source.keys[*where, "prose"].start
    column = start - (text.rfind("\n", 0, start) + 1)
    line = f"{' ' * column}expression: {quoted}"
    end = text.find("\n", max(prose.end - 1, prose.start))
    if end < 0:
        return f"{text}\n{line}\n"
    return f"{text[: end + 1]}{line}\n{text[end + 1 :]}"
