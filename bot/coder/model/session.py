"""Holds how a model wrote files: every question, every answer, every tool, as one file."""

import hashlib
import json
from collections.abc import Mapping

from pydantic import Field, ValidationError

from bot.coder.model.calls import Frozen
from bot.coder.model.tools import ToolRefused, changed_text
from bot.errors import InputError
from bot.gates.port import Verdict

SESSION = "session.json"
SESSION_SIGNATURE = "session.sig"
MOST_BYTES = 2_000_000


class ToolCall(Frozen):
    """Holds one call of a tool; the arguments are JSON as the model wrote them."""

    id: str = Field(max_length=200)
    name: str = Field(max_length=100)
    args: str = Field(max_length=200_000)


class ToolResult(Frozen):
    """Holds what a tool answered."""

    id: str
    text: str
    error: bool = False


class Said(Frozen):
    """Holds a model's answer, and what it counted."""

    text: str = Field(max_length=200_000)
    calls: tuple[ToolCall, ...] = ()
    stop_reason: str = Field(max_length=100)
    usage: Mapping[str, int]


class Exchange(Frozen):
    """Holds one call of the model: what was said to it, its answer, and what its tools gave."""

    round: int = Field(ge=1, le=3)
    asked: str = ""  # beside the results of the tools before
    heat: float | None = None
    said: Said | None = None
    results: tuple[ToolResult, ...] = ()
    failed: str = Field("", max_length=1000)
    cost: int = Field(ge=0)  # millionths of a US dollar


class Lesson(Frozen):
    """Holds why a round was refused."""

    round: int
    gate: str
    where: str
    reason: str


class Session(Frozen):
    """Holds the rounds for one contract, and the files that came of them."""

    version: int = Field(1, ge=1, le=1)
    coder: str = Field(pattern="^(agent|cli)$")
    asked: str  # the digest of what decides the answers
    model: str
    prices: str
    system: str
    tools: str
    exchanges: tuple[Exchange, ...] = Field(max_length=1000)  # 3 rounds, 100 steps, 3 tries
    lessons: tuple[Lesson, ...] = ()
    files: Mapping[str, str]

    @property
    def cost(self) -> int:
        """Gives what all calls cost, in millionths of a US dollar."""
        return sum(each.cost for each in self.exchanges)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """Gives the calls of the model."""
        return self.exchanges

    @property
    def expressions(self) -> dict[str, str]:
        """Gives no rule: the answers are files."""
        return {}

    @property
    def rounds(self) -> int:
        """Gives how many candidates were written."""
        return max((each.round for each in self.exchanges), default=1)

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """Gives the verdicts on the rounds before the last."""
        return tuple(Verdict(at.gate, False, "", at.reason, at.where) for at in self.lessons)

    @property
    def content(self) -> bytes:
        """Gives the file's bytes; the same session has one spelling."""
        plain = self.model_dump(mode="json")
        return (json.dumps(plain, indent=1, sort_keys=True) + "\n").encode("ascii")

    @property
    def digest(self) -> str:
        """Gives `sha256:` and the digest of the file."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


def read_session(data: bytes) -> Session:
    """Read a session strictly; a stranger may have written it.

    Raises:
        InputError: it is not as stratwright writes it.
    """
    try:
        if len(data) > MOST_BYTES:
            raise ValueError("it is too large")
        read = Session.model_validate_json(data)
        if read.content != data:
            raise ValueError("it is written in another way")
    except (ValidationError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{SESSION} is not as stratwright writes it: {reason}") from None
    return read


def how_rebuilt(coder: str) -> str:
    """Say what following a session again shows: of Claude Code's own steps none is stored."""
    return "rebuilt" if coder == "agent" else "the stored files, whose making cannot be repeated"


def rebuild_trouble(session: Session, begun: Mapping[str, str]) -> str:
    """Carry out the stored calls on the first files again; gives what differs, or nothing.

    What Claude Code did between question and answer is not stored, only the files it left.
    """
    if session.coder == "cli":
        return ""
    files = dict(begun)
    for each in session.exchanges:
        calls = each.said.calls if each.said else ()
        if len(calls) != len(each.results):
            return "a call of a tool has no result"
        for call, result in zip(calls, each.results, strict=True):
            if result.error or call.name not in ("write_file", "edit_file"):
                continue
            try:
                args = json.loads(call.args)
                files[args["path"]] = changed_text(call.name, args, files.get(args["path"]))
            except (ToolRefused, ValueError, KeyError, TypeError):
                return "a stored call cannot be carried out"
    same = {path: files.get(path) for path in session.files} == dict(session.files)
    return "" if same else "the stored answers give other files"
