"""The words that every part of a contract is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict

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


def plain_or_mapping(value: object) -> str:
    """Tell a mapping from a plain value, so that a mistake is reported for that form alone."""
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<plain>"


class Part(BaseModel):
    """A part of a contract: frozen, and no key but its own."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=False, arbitrary_types_allowed=False
    )
