"""Reads what a sentence says of a symbol, and why the installed package does not bear it out."""

import re
from collections.abc import Callable, Iterator

from bot.knowledge.facts import Fact

CODE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\(([^()]*)\)")
_GIVEN = re.compile(r"(\w+)\s*=\s*('[^']*'|\"[^\"]*\"|[\w.+-]+)")
_VALUE = r"-?\d+(?:\.\d+)?\b(?!\.\d)|True\b|False\b"
_DEFAULTS = re.compile(rf"\bdefaults?\b[^.;\d-]*?((?:(?:{_VALUE})(?:,? and |, )?)+)")
_BY_DEFAULT = re.compile(rf"\bis ({_VALUE}) by default")
_BARS = re.compile(r"(?:warm-?up|lookback|needs|first)\b[^.\d]*(\d+) (?:bars?|candles?|values?)\b")
_RANGE = re.compile(r"(?:may be|between|from|range)\b[^.\d]*(\d+) (?:to|and) (\d+)\b")
_OUTPUTS = re.compile(
    r"\b(?:has|gives|returns) (one|two|three|four|five|\d+) (?:outputs?|series)\b"
)
_WORDS = ("one", "two", "three", "four", "five")
_NUMBERS = {word: str(number) for number, word in enumerate(_WORDS, 1)}
_IS_A = re.compile(r"\b(?:is an? |inherits from|derives from|is a subclass of|is below)")
_DENIED = re.compile(r"\b(?:cannot|has no|have no|not|lacks?|without)\b")
_ON = re.compile(r"; on ([a-z, ]+)$")
_EXCHANGES = re.compile(r"\b(?:binance|bybit|okx|kraken|coinbase)\b")
_TAKES = re.compile(
    r"\b(?:takes|accepts|is called with|has an? (?:parameter|argument))( only)?\b(.*)", re.DOTALL
)
_TYPES = {"list": "array", "mapping": "object", "text": "string", "bool": "boolean"}
_TYPE = re.compile(
    r"\b(?:must be|is) an? (string|text|number|integer|bool|boolean|object|mapping|array|list)\b"
)
_GROUPS = "cycle|math|momentum|overlap|pattern|price|statistic|volatility|volume"


def wrong_calls(text: str, named: Callable[[str], list[Fact]], *, in_code: bool) -> Iterator[
    tuple[str, str]
]:  # fmt: skip
    """Every call that the real ones cannot be; prose shows defaults, code may give others."""
    for match in _CALL.finditer(text):
        facts = [fact for fact in named(match[1]) if "(" in fact.call]
        wrong = [_wrong_argument(match[2], fact.call, in_code=in_code) for fact in facts]
        if facts and all(wrong):
            yield f"`{match[0]}`", f"{wrong[0]}: `{facts[0].call}`"


def _taken(call: str) -> list[str]:
    """The names of a call's arguments, in order."""
    inner = call.partition("(")[2].rpartition(")")[0]
    return re.findall(r"(?:^|, )\*{0,2}(\w+)", inner)


def _needed(call: str) -> list[str]:
    return [name for name in _taken(call) if f"{name}=" not in call]


def _wrong_argument(given: str, call: str, *, in_code: bool) -> str:
    taken, defaults = _taken(call), dict(_GIVEN.findall(call))
    for name, value in _GIVEN.findall(given):
        if name not in taken and "**" not in call:
            return f"it takes no {name}"
        if not in_code and name in defaults and _plain(value) != _plain(defaults[name]):
            return f"the default of {name} is {defaults[name]}"
    placed = [part.strip() for part in given.split(",") if part.strip() and "=" not in part]
    needed = _needed(call)
    if not all(map(str.isidentifier, placed)) or not placed or (":" in call and in_code):
        return ""
    if len(placed) < len(needed) and "=" not in given and "*" not in call:
        return f"it takes {', '.join(needed)}"
    if not in_code and {*placed} & {*taken} and placed != taken[: len(placed)]:
        return f"its arguments are {', '.join(taken)}"
    return ""


def _plain(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value.strip("'\"")


def _default(sentence: str, fact: Fact) -> str:
    told = _DEFAULTS.search(sentence) or _BY_DEFAULT.search(sentence)
    given = [value for _, value in _GIVEN.findall(fact.call)] if "<" not in fact.symbol else []
    in_words = re.search(r"\(default (\S+)\)", fact.says)
    known = {_plain(value) for value in ([in_words[1]] if in_words else given)}
    if told and not known and fact.kind == "attribute":
        return "it has no default"
    claimed = {_plain(value) for value in re.findall(_VALUE, told[1])} if told else set()
    return f"`{fact.call}` {in_words[0] if in_words else ''}" if known and claimed - known else ""


def _warmup(sentence: str, fact: Fact) -> str:
    bars, real = _BARS.search(sentence), re.search(r"warm-up (\d+) bars", fact.says)
    wrong = bars and real and int(bars[1]) - int(real[1]) not in (0, 1)
    return f"its warm-up is {real[1]} bars" if wrong and real else ""


def _stability(sentence: str, fact: Fact) -> str:
    claimed = re.search(r"\bis (not )?(un)?stable\b|\bdepends on where", sentence)
    real = re.search(r"\b(un)?stable\b", fact.says)
    if not claimed or not real:
        return ""
    unstable = "depends" in claimed[0] or (claimed[1] is None) == (claimed[2] is not None)
    return "" if unstable == (real[0] == "unstable") else f"it is {real[0]}"


def _outputs(sentence: str, fact: Fact) -> str:
    given = re.search(r"\breturns an? `?(bool|float|int|str|dict)\b", sentence)
    back = fact.call.partition("->")[2]
    if not back or fact.kind == "callback":
        return f"it returns {back.strip()}" if given and back and given[1] not in back else ""
    real = re.findall(r"\w+", back)
    counted, named = _OUTPUTS.search(sentence), list[str]()
    if re.search(r"`\S+` (?:returns|gives|outputs)\b", sentence):
        named = [code for code in CODE.findall(sentence)[1:] if NAME.fullmatch(code)]
    wrong = counted and _NUMBERS.get(counted[1], counted[1]) != str(len(real))
    return f"its outputs are {', '.join(real)}" if wrong or {*named} - {*real} else ""


def _arguments(sentence: str, fact: Fact) -> str:
    match, taken = _TAKES.search(sentence), _taken(fact.call)
    named = [code for code in CODE.findall(match[2]) if code.isidentifier()] if match else []
    wrong = {*named} - {*taken} or (match and match[1] and {*_needed(fact.call)} - {*named})
    return f"`{fact.call}`" if named and taken and wrong else ""


def _range(sentence: str, fact: Fact) -> str:
    claimed, real = _RANGE.search(sentence), re.findall(r"\w+ (\d+) to (\d+)\b", fact.says)
    return fact.says if claimed and real and claimed.groups() not in real else ""


def _kind(sentence: str, fact: Fact) -> str:
    groups = re.findall(
        r"\b(?:is one of|belongs to|is among)(?: the)? ([A-Z]\w+ [A-Z]\w+)", sentence
    )
    if fact.kind.istitle() and groups and groups[0] != fact.kind:
        return f"it is one of the {fact.kind}"
    group = re.search(rf"\bis an? ({_GROUPS}) (?:indicator|function)\b", sentence, re.IGNORECASE)
    if fact.kind.istitle() and group and group[1].title() not in fact.kind:
        return f"it is one of the {fact.kind}"
    old = re.search(r"\b(?:is|was) (?:deprecated|obsolete|gone|removed|an old)\b", sentence)
    new = fact.kind.startswith("old") and re.search(r"\bis (?:the|a) (?:new )?callback\b", sentence)
    return f"it is a {fact.kind}" if new or (old and fact.kind in ("callback", "attribute")) else ""


def _setting(sentence: str, fact: Fact) -> str:
    """Type, choices and limits of a setting, which stand in its last sentence."""
    told = fact.says.rpartition(". ")[2]
    if fact.kind != "setting" or not told:
        return ""
    kind, choice = _TYPE.search(sentence), re.search(r"\bis one of ([\w, ]+)", sentence)
    limit = re.search(r"\bat (most|least) (-?\d+(?:\.\d+)?)", sentence)
    real = re.search(rf"\b{'to' if limit and limit[1] == 'most' else 'from'} (-?[\d.]+)", told)
    given = re.search(r"one of ([\w, ]+)", told)
    wrong = (
        (kind and _TYPES.get(kind[1], kind[1]) not in told)
        or (choice and given and {*choice[1].split(", ")} - {*given[1].split(", ")})
        or (limit and real and float(limit[2]) != float(real[1]))
    )
    return told if wrong else ""


def _required(sentence: str, fact: Fact) -> str:
    claimed = re.search(r"\bis (required|optional)\b", sentence)
    real = re.search(r"\((required|default)", fact.says)
    wrong = claimed and real and (claimed[1] == "required") != (real[1] == "required")
    return fact.says if wrong else ""


# What a sentence is held to: about its first symbol, and where it is about that one alone.
CLAIMS = (_stability, _outputs, _arguments)
CLAIMS_OF_ONE = (_default, _warmup, _range, _kind, _required, _setting)


def wrong_relations(sentence: str, named: Callable[[str], list[Fact]]) -> Iterator[str]:
    """Why what a sentence says of several symbols does not hold: errors, exchanges, absence."""
    known = [(code, named(code)[0]) for code in CODE.findall(sentence) if named(code)]
    errors = [(code, fact) for code, fact in known if fact.kind == "error"]
    if re.search(r"\bare (?:both |all )?`", sentence):  # the last is above the others
        errors = [*errors[-1:], *errors[:-1]]
    for other in errors[1:]:
        under = re.search(r"\bbelow it\b|\bare (?:both |all )?`", sentence)
        below, above = (other, errors[0]) if under else (errors[0], other)
        told = under or _IS_A.search(sentence)
        if told and not re.search(rf"\b{re.escape(above[0])}\b", below[1].says):
            yield f"`{below[0]}` {below[1].says}"
    for code, fact in known:
        has, exchanges = _ON.search(fact.says), _EXCHANGES.findall(sentence.lower())
        one = has and len({*exchanges}) == 1 and len(known) < 3
        if one and has and (exchanges[0] in has[1]) == bool(_DENIED.search(sentence)):
            yield f"`{code}` is on {has[1]}"


def wrong_absence(sentence: str, package: str, facts: tuple[Fact, ...]) -> Iterator[str]:
    """Why a package's symbols are not missing, or not as many, as a sentence says."""
    if not re.search(rf"\b{re.escape(package)}\b", sentence, re.IGNORECASE):
        return
    for name in re.findall(r"\b(?:[Tt]here is no|has no|lacks) `([\w.]+)`", sentence):
        if any(name == fact.symbol for fact in facts):
            yield f"{package} has `{name}`"
    for number, noun in re.findall(r"\b(\d+) (function|callback|error|command)s\b", sentence):
        real = sum(noun in fact.kind or (noun == "function" and "->" in fact.call)
                   for fact in facts if not fact.kind.startswith("old"))  # fmt: skip
        if real and real != int(number):
            yield f"it has {real}"
