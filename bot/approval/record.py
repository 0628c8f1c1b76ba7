"""Turns an approval into canonical JSON and back: a closed set of fields, one spelling."""

import hashlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.approval.reasons import Refusal, refuse

START_WITHIN_S = 86_400
MOST_BYTES = 65_536
_DAY_S = 86_400
_TOKEN = re.compile(r"human_verified_[1-9][0-9]{9}", re.ASCII)

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Money = Annotated[str, Field(pattern=r"^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,8})?$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/@:+-]{0,99}$")]
Person = Annotated[str, Field(pattern=r"^[!-~](?:[ -~]{0,198}[!-~])?$")]
Text = Annotated[str, Field(pattern=r"^[ -~]{0,300}$")]
Second = Annotated[int, Field(ge=1_000_000_000, le=9_999_999_999)]
Mode = Literal["paper", "dry-run", "live"]


class Closed(BaseModel):
    """A frozen value with its own fields and no others, strict about types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Limits(Closed):
    """Says how much may be traded, where and what."""

    capital: Money
    max_order: Money
    currency: Word
    brokers: Annotated[tuple[Word, ...], Field(min_length=1, max_length=20)]
    symbols: Annotated[tuple[Word, ...], Field(min_length=1, max_length=200)]


class Product(Closed):
    """Names the product that made the evidence, and the lock of the one that approves."""

    version: Word
    digest: Digest
    lock: Digest


class Record(Closed):
    """A human's yes to some bytes: what may run, where, with how much, until when.

    Attributes:
        head: where the task's branch was; another commit there voids the approval.
        strategy: over the strategy's files; evidence: of the statement, which covers all files.
        author: who changed the contract last; requester: who had it proposed.
        history_bars: candles that the strategy is shown before its first decision.
        replaces: the digest of the approval that ends when this one begins.
        start_by: after it nothing is started; run_until: after it positions are only closed.
    """

    version: Literal["1"] = "1"
    token: str
    issued_at: Second
    nonce: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    repository: Word
    workflow: Word
    task: Word
    tag: Word
    commit: Commit
    head: Commit
    contract: Digest
    strategy: Digest
    evidence: Digest
    candles: Digest
    product: Product
    environment: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    mode: Mode
    host: Word
    account: Word
    limits: Limits
    history_bars: Annotated[int, Field(ge=0, le=1_000_000)]
    approvers: Annotated[tuple[Person, ...], Field(min_length=1, max_length=16)]
    author: Person
    requester: Person
    reason: Text
    replaces: Digest | Literal[""] = ""
    start_by: Second
    run_until: Second

    @property
    def scope(self) -> str:
        """Names the task."""
        return f"{self.workflow}/{self.task}"

    @property
    def data(self) -> bytes:
        """Gives the bytes that are signed."""
        return canonical(self)

    @property
    def digest(self) -> str:
        """Gives the digest of the bytes that are signed."""
        return digest_of(self.data)


Value = TypeVar("Value", bound=BaseModel)


def canonical(value: BaseModel) -> bytes:
    """Writes a value as the one text that is signed or chained: sorted, no spaces, ASCII."""
    plain = value.model_dump(mode="json")
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest_of(data: bytes) -> str:
    """Gives `sha256:` and the digest."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def read_canonical(data: bytes, read: type[Value], most_bytes: int = MOST_BYTES) -> Value:
    """Reads a value whose bytes are exactly those that we would write.

    Raises:
        ApprovalRefused: malformed.
    """
    try:
        if len(data) > most_bytes:
            raise ValueError("it is too large")
        plain = json.loads(data.decode("ascii"), parse_float=_no_float, parse_constant=_no_float)
        value = read.model_validate_json(json.dumps(plain))
        if canonical(value) != data:
            raise ValueError("it is not in its canonical form")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise refuse("malformed", f"{where}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise refuse("malformed", str(error)[:200]) from None
    return value


def incoherent(record: Record) -> Iterator[Refusal]:
    """Finds what a record says against itself."""
    if not _TOKEN.fullmatch(record.token) or record.token != token_of(record.issued_at):
        yield Refusal("bad-token", f"{record.token[:60]!a} is not {token_of(record.issued_at)}")
    if not record.issued_at < record.start_by <= record.issued_at + START_WITHIN_S:
        yield Refusal("bad-window", "start_by is not within 24 hours of issue")
    if record.run_until < record.start_by:
        yield Refusal("bad-window", "it ends before it may start")
    if not record.tag.startswith(f"ai/{record.scope}/"):
        yield Refusal("malformed", "the tag is not of the task")
    if (record.mode == "live") != (record.environment == "live"):
        yield Refusal("wrong-environment", f"{record.mode} in {record.environment}")
    lists = (record.approvers, record.limits.brokers, record.limits.symbols)
    if any(tuple(sorted(set(each))) != each for each in lists):
        yield Refusal("malformed", "a list is not sorted, or names something twice")
    if Decimal(record.limits.max_order) > Decimal(record.limits.capital):
        yield Refusal("order-too-large", f"{record.limits.max_order}")


def token_of(issued_at: int) -> str:
    """Gives the label of an approval: a name, not a proof."""
    return f"human_verified_{issued_at}"


def run_days(record: Record) -> Decimal:
    """Gives for how many days it may run."""
    return Decimal(record.run_until - record.issued_at) / _DAY_S


def _no_float(_: Any) -> NoReturn:
    raise ValueError("a number is not an integer")
