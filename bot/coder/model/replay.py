"""Answers from a stored transcript, and so shows that expressions follow from what is stored."""

from collections.abc import Mapping

from bot.coder.model.agent import Conversation, NotAnswered, Setting
from bot.coder.model.calls import CallFailed, Reply, Request
from bot.coder.model.prompt import asked_digest
from bot.coder.model.reply import expression_faults
from bot.coder.model.transcript import Call, Transcript
from bot.errors import StratwrightError


class StoredModel:
    """Gives the stored answers in their order, to the stored questions and to no others."""

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self._calls = list(calls)

    def ask(self, request: Request, timeout_s: float) -> Reply:
        """Give the next answer.

        Raises:
            CallFailed: the transcript has another question here, or none.
        """
        call = self._calls.pop(0) if self._calls else None
        if call is None or call.request != request:
            raise CallFailed("the transcript does not hold this question")
        if call.reply is None:
            raise CallFailed(call.failed, 0.0)
        return call.reply

    @property
    def left(self) -> int:
        """Gives how many stored calls nobody asked for."""
        return len(self._calls)


def replay_trouble(root: Mapping[str | int, object], transcript: Transcript) -> str:
    """Ask everything again of the stored answers; gives what differs, or nothing."""
    first = transcript.calls[0].request if transcript.calls else None
    if first is None:
        return "the transcript holds no call"
    stored = StoredModel(transcript.calls)
    setting = Setting(transcript.model, first.temperature, transcript.prices)
    again = Conversation(
        stored, setting, lambda: 0.0, lambda request: lambda reply, billed: 0, lambda seconds: None
    )
    issue = transcript.issue
    try:
        if transcript.draft and issue is None:
            return "the transcript does not say what the draft was asked from"
        found = again.draft(issue) if issue else again.answer(root)
    except NotAnswered as error:
        return f"the stored answers give no expression: {error.message}"
    except StratwrightError as error:
        return error.message
    if stored.left:
        return f"the transcript holds {stored.left} calls that nobody asks for"
    if (found.asked, dict(found.answers)) != (transcript.asked, dict(transcript.answers)):
        return "the stored answers give other expressions"
    if found.draft != transcript.draft:
        return "the stored answers give another contract"
    return ""


def fits(root: Mapping[str | int, object], transcript: Transcript) -> bool:
    """Say whether a transcript answers what a contract leaves open, in words that hold here."""
    return transcript.asked == asked_digest(root) and not any(
        expression_faults(root, rule, text) for rule, text in transcript.expressions.items()
    )
