"""Names what goes to a model and what comes back, whoever carries it."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

MOST_TOKENS = 8_000
MOST_CHARACTERS = 20_000


class Frozen(BaseModel):
    """Is read strictly, because a stranger may have written it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Message(Frozen):
    """Holds one turn."""

    role: str
    content: str


class Request(Frozen):
    """Holds everything that is sent, but for the key."""

    model: str
    max_tokens: int
    system: str
    messages: tuple[Message, ...]
    temperature: float | None = None
    answer: str = Field("expression", pattern="^(expression|contract)$")  # what is asked for

    @property
    def size(self) -> int:
        """Gives its size in bytes, which no count of tokens passes."""
        return len(self.model_dump_json().encode())


class Reply(Frozen):
    """Holds what a model answered, and what it counted."""

    text: str = Field(max_length=MOST_CHARACTERS)
    stop_reason: str = Field(max_length=100)
    usage: Mapping[str, int]


class CallFailed(Exception):
    """A call brought no answer.

    Attributes:
        reason: what happened, in words without secrets.
        again: whether another try may help, and after how many seconds.
        billed: whether it may have been paid for all the same.
    """

    def __init__(self, reason: str, again: float | None = None, *, billed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.billed = billed


class Model(Protocol):
    """Answers requests."""

    def ask(self, request: Request, timeout_s: float) -> Reply:
        """Send a request and wait for the whole answer.

        Raises:
            CallFailed: there is none.
        """
