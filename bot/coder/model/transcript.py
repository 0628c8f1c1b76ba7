"""Holds everything that was sent to a model and everything that came back, as one file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field, ValidationError

from bot.coder.model.calls import Frozen, Reply, Request
from bot.coder.model.drafting import Drafted, IssueText, issue_of
from bot.coder.model.reply import Answer
from bot.coder.port import Candidate
from bot.errors import InputError

TRANSCRIPT = "transcript.json"
SIGNATURE = "transcript.sig"
MOST_BYTES = 1_000_000


class Call(Frozen):
    """Holds one call: what was sent, and the answer or why there was none."""

    rule: str
    round: int = Field(ge=1, le=3)
    request: Request
    reply: Reply | None = None
    failed: str = Field("", max_length=1000)
    cost: int = Field(ge=0)  # millionths of a US dollar


class Transcript(Frozen):
    """Holds the calls for one contract, and what came of them."""

    version: int = Field(1, ge=1, le=1)
    asked: str  # the digest of what decides the answers
    coder: str = Field("agent", pattern="^agent$")
    model: str
    prices: str  # the date of the price table, or where else the price came from
    calls: tuple[Call, ...] = Field(max_length=100)
    answers: Mapping[str, Answer]
    draft: Drafted | None = None  # where a whole contract was asked for

    @property
    def cost(self) -> int:
        """Gives what all calls cost, in millionths of a US dollar."""
        return sum(call.cost for call in self.calls)

    @property
    def expressions(self) -> dict[str, str]:
        """Gives the answered rules."""
        return {name: answer.expression for name, answer in self.answers.items()}

    @property
    def issue(self) -> IssueText | None:
        """Gives what a draft was asked from, as its first question says."""
        return issue_of(self.calls[0].request) if self.draft and self.calls else None

    @property
    def content(self) -> bytes:
        """Gives the file's bytes; the same transcript has one spelling."""
        plain = self.model_dump(mode="json")
        return (json.dumps(plain, indent=1, sort_keys=True) + "\n").encode("ascii")

    @property
    def digest(self) -> str:
        """Gives `sha256:` and the digest of the file."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


def read_transcript(data: bytes) -> Transcript:
    """Read a transcript strictly; a stranger may have written it.

    Raises:
        InputError: it is not as stratwright writes it.
    """
    try:
        if len(data) > MOST_BYTES:
            raise ValueError("it is too large")
        read = Transcript.model_validate_json(data)
        if read.content != data:
            raise ValueError("it is written in another way")
    except (ValidationError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{TRANSCRIPT} is not as stratwright writes it: {reason}") from None
    return read


def by_answers(candidate: Candidate, transcript: Transcript) -> Candidate:
    """Name the model, and cover what was said to it and by it, in a candidate's origin."""
    covered = f"{candidate.prompt_hash}\0{transcript.digest}".encode()
    hashed = f"sha256:{hashlib.sha256(covered).hexdigest()}"
    return replace(candidate, coder=transcript.coder, model=transcript.model, prompt_hash=hashed)
