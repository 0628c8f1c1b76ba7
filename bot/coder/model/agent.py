"""Asks a model for the expressions of a contract's rules in prose, and sends errors back."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from bot.coder.model.calls import MOST_TOKENS, CallFailed, Message, Model, Reply, Request
from bot.coder.model.drafting import (
    Drafted,
    IssueText,
    draft_question,
    draft_system,
    read_draft,
)
from bot.coder.model.prompt import asked_digest, correction, question, system_text
from bot.coder.model.reply import Answer, Wrong, read_reply
from bot.coder.model.transcript import MOST_BYTES, Call, Transcript
from bot.contract.answering import prose_of
from bot.errors import MANUAL, RefusedError, SafetyStop, WorldError

Given = TypeVar("Given")
ROUNDS = 3
TRIES = 3
_MOST_SENT = 60_000
_log = logging.getLogger(__name__)


class NotAnswered(RefusedError):
    """No expression came of the prose; carries every error, and what was sent and received."""

    def __init__(self, message: str, hint: str, transcript: Transcript) -> None:
        super().__init__(message, hint)
        self.transcript = transcript


@dataclass(frozen=True)
class Setting:
    """Says whom to ask and how."""

    model: str
    temperature: float | None  # None for models that take none
    prices: str


@dataclass
class Conversation:
    """Asks for one contract; `book` is told before and after each call what it may cost and did.

    Attributes:
        timeout: gives the seconds that the next call may take; raises where none are left.
        book: sets money aside for a request and gives what settles it; None books nothing.
        wait: waits for seconds between tries.
    """

    model: Model
    setting: Setting
    timeout: Callable[[], float]
    book: Callable[[Request], Callable[[Reply | None, bool], int]]
    wait: Callable[[float], None]
    calls: list[Call] = field(default_factory=list)

    @property
    def cost(self) -> int:
        """Gives what the calls cost so far, in millionths of a US dollar."""
        return sum(call.cost for call in self.calls)

    def answer(self, root: Mapping[str | int, object]) -> Transcript:
        """Ask for every open rule.

        Raises:
            NotAnswered: after three rounds, or where the model says that it cannot.
            WorldError: the service does not answer.
            SafetyStop: a call could pass a limit on the cost.
        """
        asked, answers = asked_digest(root), dict[str, Answer]()
        for rule in prose_of(root):
            read = partial(read_reply, rule=rule, root=root)
            found = self._rounds(rule, question(root, rule), system_text(), "expression", read)
            if isinstance(found, Answer) and found.expression:
                answers[rule] = found
                continue
            words = f"the model cannot say it in the rule language: {getattr(found, 'cannot', '')}"
            words = found.words if isinstance(found, Wrong) else words
            transcript = self._transcript(asked, answers)
            raise NotAnswered(f"rules.{rule}: {words}", _hint(rule), transcript)
        return self._transcript(asked, answers)

    def draft(self, issue: IssueText) -> Transcript:
        """Ask for a whole contract.

        Raises:
            NotAnswered, WorldError, SafetyStop: as `answer`.
        """
        first, system = draft_question(issue), draft_system()

        def read(reply: Reply) -> Drafted | Wrong | str:
            return read_draft(reply, issue)

        found = self._rounds("draft", first, system, "contract", read)
        if isinstance(found, Drafted):
            return self._transcript(issue.digest, {}, found)
        hint = "Fill in the form, or push a contract."
        cannot = f"the model makes no contract of it: {found}" if isinstance(found, str) else ""
        words = cannot or getattr(found, "words", "")
        raise NotAnswered(words, hint, self._transcript(issue.digest, {}))

    def _transcript(
        self, asked: str, answers: Mapping[str, Answer], draft: Drafted | None = None
    ) -> Transcript:
        named = self.setting
        made = Transcript(
            asked=asked,
            model=named.model,
            prices=named.prices,
            calls=tuple(self.calls),
            answers=dict(answers),
            draft=draft,
        )
        if len(made.content) > MOST_BYTES:
            raise SafetyStop("what the model was sent and answered is too large to be kept")
        return made

    def _rounds(
        self,
        rule: str,
        first: Message,
        system: str,
        answer: str,
        read: Callable[[Reply], Given | Wrong],
    ) -> Given | Wrong:
        """Ask, and send errors back; gives what could be read, or all that was wrong."""
        messages, errors = [first], list[str]()
        for number in range(1, ROUNDS + 1):
            request = Request(
                model=self.setting.model,
                max_tokens=MOST_TOKENS,
                system=system,
                messages=tuple(messages),
                temperature=self.setting.temperature,
                answer=answer,
            )
            if request.size > _MOST_SENT:
                return Wrong("the contract is too large to be shown to a model")
            reply = self._tries(request, rule, number)
            found = read(reply)
            if not isinstance(found, Wrong):
                return found
            errors.append(f"round {number}: {found.words}")
            said = Message(role="assistant", content=reply.text or "(nothing)")
            messages += [said, correction(found.words)]
        return Wrong("no answer was accepted in three rounds\n" + "\n".join(errors))

    def _tries(self, request: Request, rule: str, number: int) -> Reply:
        """Ask until there is an answer; each try is booked by itself."""
        for attempt in range(1, TRIES + 1):
            timeout_s = self.timeout()
            settle = self.book(request)
            try:
                reply = self.model.ask(request, timeout_s)
            except CallFailed as error:
                paid = settle(None, error.billed)
                self._note(rule, number, request, None, error.reason, paid)
                if error.again is None or attempt == TRIES:
                    hint = "Nothing was proposed. Run again later, or write the expression."
                    raise WorldError(f"the model gave no answer: {error.reason}", hint) from None
                self.wait(error.again * attempt)
            except BaseException:
                settle(None, True)
                raise
            else:
                self._note(rule, number, request, reply, "", settle(reply, True))
                return reply
        raise AssertionError("the last try returns or raises")

    def _note(
        self, rule: str, number: int, request: Request, reply: Reply | None, failed: str, paid: int
    ) -> None:
        call = Call(rule=rule, round=number, request=request, reply=reply, failed=failed, cost=paid)
        self.calls.append(call)
        told = {"model": request.model, "rule": rule, "round": number, "cost_usd": paid / 1e6}
        used = dict(reply.usage) if reply else {}
        _log.info("MODEL_CALLED", extra={"data": {**told, "usage": used, "failed": failed}})


def _hint(rule: str) -> str:
    return (
        f"Write what you mean beside the prose, as {rule}: "
        '{prose: "...", expression: rsi < 30 and close > trend}; '
        f"{MANUAL}/contract.md has the language."
    )
