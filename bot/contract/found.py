"""Writes the values that a search found into a contract's own text, and gives back what was there.

Nothing else of the file changes: only the defaults, and one line that says how they were found.
"""

import json
import re
from collections.abc import Mapping

from bot.contract.digest import contract_digest
from bot.contract.document.source import Form, read_source
from bot.contract.goals import Optimized
from bot.contract.model import Contract
from bot.errors import InputError

Values = Mapping[str, int | float]
_EARLIER = re.compile(r',?\n *"?optimized"?: \{[^\n]*\}(?=\n)')


def as_searched(contract: Contract) -> Contract:
    """Give a contract as it was before the search that its `optimized` tells of.

    Where the contract was changed since, what it tells is of another one: then it is the contract
    itself, without that word.
    """
    found = contract.optimized
    if found is None:
        return contract
    before = _with(contract, found.was)
    return before if contract_digest(before) == found.searched else _with(contract, {})


def is_found(contract: Contract) -> bool:
    """Say whether a contract tells of its own search: nothing but the defaults was changed."""
    found = contract.optimized
    return found is not None and contract_digest(as_searched(contract)) == found.searched


def _with(contract: Contract, values: Values) -> Contract:
    parameters = dict(contract.parameters)
    for name, value in values.items():
        parameters[name] = parameters[name].model_copy(update={"default": value})
    return contract.model_copy(update={"parameters": parameters, "optimized": None})


def with_found(data: bytes, form: Form, values: Values, found: Optimized) -> bytes:
    """Write the values as defaults, and how they were found, into the contract's own text.

    Raises:
        InputError: the contract is written in a way in which that cannot be done.
    """
    source = read_source(data, form)
    if source.root is None:
        raise InputError("the contract cannot be read")
    block = found.model_dump()
    parameters = dict(_mapping(source.root["parameters"]))
    for name, value in values.items():
        parameters[name] = {**_mapping(parameters[name]), "default": value}
    wanted = {**source.root, "parameters": parameters, "optimized": block}
    spans = {source.values["parameters", name, "default"]: values[name] for name in values}
    changes = {(span.start, span.end): json.dumps(value) for span, value in spans.items()}
    text = source.text
    # From the end on, so that the places before stay.
    for start, end in sorted(changes, reverse=True):
        text = text[:start] + changes[start, end] + text[end:]
    text = _added(_EARLIER.sub("", text), json.dumps(block))
    again = read_source(text.encode(), form)
    if again.flaws or again.root != wanted:
        message = "what the search found cannot be written into the contract as it stands here"
        hint = "Write each parameter as {default: 30, range: [15, 40]}; take `optimized` out."
        raise InputError(message, hint)
    return text.encode()


def _added(text: str, block: str) -> str:
    if text.rstrip().endswith("}") and text.lstrip().startswith("{"):
        inner = text.rstrip()[:-1].rstrip()
        return f'{inner},\n  "optimized": {block}\n}}\n'
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}optimized: {block}\n"


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}
