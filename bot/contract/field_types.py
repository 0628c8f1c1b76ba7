"""Names the types that every part of a contract is made of."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field

from bot.contract.code_paths import ID, ID_WORDS, guess_id
from bot.contract.fields import Checked, amount, check_flag, check_rule, pattern, text

Number = int | float
NumberOrName = float | str
Id = Annotated[str, pattern(ID, ID_WORDS, guess_id)]
Flag = Annotated[bool, Checked(check_flag, {"type": "boolean"})]
Fraction = Annotated[NumberOrName, amount(above=0, below=1, fraction=True, nameable=True)]
Gain = Annotated[NumberOrName, amount(above=0, fraction=True, nameable=True)]
Line = Annotated[str, text(1000)]
Rule = Annotated[str, Checked(check_rule, {"type": "string", "minLength": 1, "maxLength": 4000})]


def says(meaning: str, *examples: object, default: Any = ..., **more: Any) -> Any:
    """Describes a field for readers and editors; without a default it has to be given."""
    return Field(default=default, description=meaning, examples=list(examples), **more)


def optional(meaning: str, *examples: object) -> Any:
    """Describes a field that may be left out."""
    return says(meaning, *examples, default=None)


def plain_or_mapping(value: object) -> str:
    """Tell a mapping from a plain value, so that a mistake is reported for that form alone."""
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<plain>"


class Part(BaseModel):
    """A part of a contract: frozen, and no key but its own.

    `later` names the fields that came after the first contracts: while they are not given they do
    not count in the digest, so that the digests of older contracts stay.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=False, arbitrary_types_allowed=False
    )


def places_of(part: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Go through the places below a part: each with the part, or the check, that stands there.

    The keys of a mapping and the items of a list are `*`.
    """
    for name, field in part.model_fields.items():
        for inner in (field.annotation, *field.metadata):
            for below, what in _inside(inner):
                yield (name, *below), what


def _inside(annotation: object) -> Iterator[tuple[tuple[str, ...], object]]:
    kind, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, Checked):
        yield (), annotation
    elif isinstance(annotation, type) and kind is None and issubclass(annotation, Part):
        yield (), annotation
        yield from places_of(annotation)
    elif kind in (dict, tuple):
        value = inner[-1] if kind is dict else inner[0]
        yield from ((("*", *below), what) for below, what in _inside(value))
    else:
        for each in inner:
            yield from _inside(each)
