"""The kinds of value a contract holds: each checks one value and says in words what is allowed."""

import keyword
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from bot.contract.document.problems import nearest, odd_characters, quoted

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAME_SCHEMA = {"type": "string", "pattern": f"^{NAME.pattern}$"}
_NUMERIC = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(%?)\s*", re.ASCII)


def wrong(
    message: str, value: object = ..., *, allowed: str = "", near: str = "", at: str = ""
) -> PydanticCustomError:
    """Make the error that a check raises; `at` names the key of a mapping that is to blame."""
    found = "" if value is ... else quoted(value)
    context = {"message": message, "found": found, "allowed": allowed, "nearest": near, "at": at}
    return PydanticCustomError("contract", "{message}", context)


@dataclass(frozen=True)
class Checked:
    """Describes a value that one function checks, with the JSON Schema that editors use.

    `bounds` are those of a number in whose place a parameter's name may stand.
    """

    check: Callable[[object], object]
    schema: dict[str, object] = field(default_factory=dict, hash=False)
    bounds: "Bounds | None" = None

    def __get_pydantic_core_schema__(self, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic call the function and nothing else."""
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, __: GetJsonSchemaHandler
    ) -> dict[str, object]:
        """Publish the schema as it is."""
        return dict(self.schema)


def amount(
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    fraction: bool = False,
    nameable: bool = False,
) -> Checked:
    """Describe a number within bounds; `fraction` gives advice on percents, `nameable` allows
    a parameter's name in its place.
    """
    bounds = Bounds(above, least, below, most, fraction)
    number: dict[str, object] = {"type": "number", **bounds.schema()}
    if not nameable:
        return Checked(bounds.check, number)
    return Checked(_or_name(bounds.check), {"anyOf": [number, _NAME_SCHEMA]}, bounds)


def _or_name(check: Callable[[object], float]) -> Callable[[object], float | str]:
    """Let a parameter's name stand in a number's place."""

    def either(value: object) -> float | str:
        if isinstance(value, str) and NAME.fullmatch(value):
            return value
        try:
            return check(value)
        except PydanticCustomError as error:
            context = dict(error.context or {})
            context["allowed"] += " or a parameter's name"
            raise PydanticCustomError("contract", "{message}", context) from None

    return either


@dataclass(frozen=True)
class Bounds:
    """Holds the numbers that a field takes."""

    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None
    fraction: bool = False

    def schema(self) -> dict[str, float]:
        """Give the bounds to editors."""
        keys = ("exclusiveMinimum", "minimum", "exclusiveMaximum", "maximum")
        return {key: bound for key, bound in zip(keys, self._all, strict=True) if bound is not None}

    @property
    def _all(self) -> tuple[float | None, ...]:
        return self.above, self.least, self.below, self.most

    def holds(self, value: float) -> bool:
        """Tell whether a number is within the bounds."""
        return (
            math.isfinite(value)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.below is None or value < self.below)
            and (self.most is None or value <= self.most)
        )

    def words(self) -> str:
        """Say what is allowed."""
        words = ("above", "at least", "below", "at most")
        pairs = zip(words, self._all, strict=True)
        bounds = [f"{word} {bound:g}" for word, bound in pairs if bound is not None]
        text = f"a number {' and '.join(bounds)}".strip()
        return text + (" (a fraction: 0.02 is 2 %)" if self.fraction else "")

    def check(self, value: object) -> float:
        """Take a number within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            advice = self.unquote(value)
            message = "expected a number without quotes" if advice else "expected a number"
            raise wrong(message, value, allowed=self.words(), near=advice)
        if not self.holds(value):
            raise wrong("out of bounds", value, allowed=self.words(), near=self.advice(value))
        # 0.0 and -0.0 are one value, and one number in the digest.
        return float(value) + 0.0

    def unquote(self, value: object) -> str:
        """Give the number that stands in a text, or nothing."""
        match = _NUMERIC.fullmatch(value[:40]) if isinstance(value, str) else None
        if not match:
            return ""
        number = float(match[1]) / (100 if match[2] else 1)
        return f"{number:g}" if self.holds(number) else self.advice(number)

    def advice(self, value: float) -> str:
        """Give the number within the bounds that was probably meant, or nothing."""
        guesses = (-value, value / 100, -value / 100) if self.fraction else (-value,)
        return next((f"{guess:g}" for guess in guesses if self.holds(guess)), "")


def whole(least: int, most: int, *, nameable: bool = False) -> Checked:
    """Describe an integer within bounds."""
    words = f"a whole number from {least} to {most:,}"
    number: dict[str, object] = {"type": "integer", "minimum": least, "maximum": most}

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            near = ""
            if isinstance(value, float) and value.is_integer():
                near = f"{value:.0f}"
            elif isinstance(value, str) and value.isascii() and value.isdigit():
                near = value[:20]
            raise wrong("expected a whole number", value, allowed=words, near=near)
        if not least <= value <= most:
            raise wrong("out of bounds", value, allowed=words)
        return value

    if nameable:
        return Checked(_or_name(check), {"anyOf": [number, _NAME_SCHEMA]})
    return Checked(check, number)


def choice(*names: str, meant: dict[str, str] | None = None) -> Checked:
    """Describe one word of a list; `meant` maps what people write instead."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        guess = (meant or {}).get(str(value).casefold(), "") or nearest(value, names)
        raise wrong(
            "unknown word" if value is not None else "nothing is given",
            value,
            allowed=", ".join(names),
            near=guess,
        )

    return Checked(check, {"type": "string", "enum": list(names)})


def kind_of(own: str) -> Checked:
    """Describe the word that says what a contract asks for."""
    kinds = ("strategy", "module")

    def check(value: object) -> str:
        if value != own:
            near = nearest(value, kinds)
            raise wrong("unknown kind", value, allowed=", ".join(kinds), near=near)
        return own

    return Checked(check, {"const": own})


def check_flag(value: object) -> bool:
    """Take true or false and nothing else."""
    if isinstance(value, bool):
        return value
    meant = {"true": ("yes", "on", "1", "true"), "false": ("no", "off", "0", "false")}
    word = str(value).casefold()
    near = next((flag for flag, words in meant.items() if word in words), "")
    raise wrong("expected true or false", value, allowed="true, false", near=near)


def text(longest: int, *, empty: bool = False) -> Checked:
    """Describe free text of limited length."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise wrong("expected text", value, near=_quoted_number(value))
        if not empty and not value.strip():
            raise wrong("the text is empty")
        if len(value) > longest:
            raise wrong(f"the text has {len(value)} characters; at most {longest} are allowed")
        return value

    schema: dict[str, object] = {"type": "string", "maxLength": longest}
    return Checked(check, schema if empty else schema | {"minLength": 1})


def pattern(regex: str, what: str, guess: Callable[[str], str] = lambda _: "") -> Checked:
    """Describe text of a fixed form in ASCII; `guess` repairs common slips."""
    form = re.compile(regex, re.ASCII)

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise wrong("expected text", value, allowed=what)
        if not form.fullmatch(value):
            repaired = guess(value[:64])
            near = repaired if form.fullmatch(repaired) else ""
            message = f"not the right form{odd_characters(value)}"
            raise wrong(message, value, allowed=what, near=near)
        return value

    return Checked(check, {"type": "string", "pattern": f"^(?:{regex})$"})


def check_rule(value: object) -> str:
    """Take an expression of the rule language as text; its meaning is checked elsewhere."""
    if isinstance(value, bool):
        near = "always" if value else "never"
        raise wrong("expected an expression", value, near=near)
    if not isinstance(value, str):
        raise wrong(
            "expected an expression",
            value,
            allowed="an expression such as rsi < 30, or {prose: ...}",
        )
    if not value.strip():
        raise wrong("the expression is empty")
    if len(value) > 4000:
        raise wrong(f"the expression has {len(value)} characters; at most 4000 are allowed")
    return value


def check_version(value: object) -> str:
    """Take the version of the contract language, which is text."""
    if value == "1.0":
        return "1.0"
    if isinstance(value, int | float) and not isinstance(value, bool) and value == 1:
        raise wrong('the version is text; write version: "1.0" with the quotes', value)
    raise wrong("unknown version", value, allowed='"1.0"')


def check_number(value: object) -> int | float:
    """Take any finite number as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise wrong("expected a number", value, near=Bounds().unquote(value))
    return value


def check_argument(value: object) -> int | float | str:
    """Take a TA-Lib argument: a number, a parameter's name or the name of an average."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", value, re.ASCII):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        near = Bounds().unquote(value)
        raise wrong("expected a number or a parameter's name", value, near=near)
    # 14.0 and 14 ask for the same indicator; its declared type decides how it is written.
    return int(value) if float(value).is_integer() else value


def check_range(value: object) -> tuple[int | float, int | float]:
    """Take [low, high] with low below high."""
    what = "two numbers, [low, high] with low below high"
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise wrong("expected a range", value, allowed=what)
    for end in value:
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            raise wrong("expected a number", end, allowed=what)
    low, high = value
    if low >= high:
        near = f"[{high}, {low}]" if low > high else ""
        raise wrong(f"the range [{low}, {high}] is empty", allowed=what, near=near)
    return low, high


def check_input(value: object) -> str | tuple[str, ...]:
    """Take the name of a series, or a list of names for functions of several inputs."""
    names = value if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise wrong("expected a series", value, allowed="a name such as high, or a list of names")
    return value if isinstance(value, str) else tuple(str(name) for name in names)


def check_minutes(value: object) -> int:
    """Take minutes in the trade, which JSON can only write as text."""
    if isinstance(value, str) and re.fullmatch(r"0|[1-9][0-9]{0,7}", value, re.ASCII):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**8:
        raise wrong("expected minutes", value, allowed="a whole number of minutes from 0")
    return value


def check_pascal(value: object) -> str:
    """Take a name such as OversoldDip."""
    if not isinstance(value, str):
        raise wrong("expected text", value, allowed="a name such as OversoldDip")
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,63}", value, re.ASCII):
        words = re.findall(r"[A-Za-z0-9]+", value[:64])
        guess = "".join(word[:1].upper() + word[1:] for word in words)
        near = guess if guess[:1].isalpha() and value.isascii() else ""
        message = f"not PascalCase{odd_characters(value)}"
        raise wrong(message, value, allowed="a name such as OversoldDip", near=near)
    if keyword.iskeyword(value):
        raise wrong(f"{value} is a word of Python itself", allowed="another name")
    return value


def _quoted_number(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'"{value}"' if number else ""
