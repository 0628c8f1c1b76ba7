"""Lets a model work with tools, step by step, until it finishes or is stopped."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.coder.model.agent import TRIES
from bot.coder.model.brief import correction, system_text
from bot.coder.model.calls import CallFailed
from bot.coder.model.client import Parts
from bot.coder.model.meter import Meter
from bot.coder.model.reply import line
from bot.coder.model.session import Exchange, Said, ToolCall, ToolResult
from bot.coder.model.tools import NAMES, Finished, Place, ToolRefused, carry_out, schemas
from bot.errors import RefusedError, WorldError
from bot.redaction import inert, known_secrets, redact

MOST_TOKENS = 16_000
_MOST_SENT = 400_000
_MOST_WRONG = 3
_log = logging.getLogger(__name__)


class NotWritten(RefusedError):
    """A round gave no candidate."""


class Service(Protocol):
    """Sends what the SDK takes, and gives the parts of the answer."""

    def send(self, sent: dict[str, Any], timeout_s: float) -> Parts:
        """Send and wait for the whole answer.

        Raises:
            CallFailed: there is none.
        """


@dataclass
class ToolLoop:
    """Asks one model; keeps every exchange of all rounds."""

    service: Service
    meter: Meter
    native: bool  # whether the model has tools of its own; else it answers by JSON
    say: Callable[[str], None] = lambda line: None
    wait: Callable[[float], None] = time.sleep
    exchanges: list[Exchange] = field(default_factory=list)

    def run(self, number: int, first: str, place: Place) -> str:
        """Go through one round; gives what the model says of its work.

        Raises:
            NotWritten: it gave up, went in circles, kept to no form, or took too many steps.
            WorldError: the service does not answer.
            SafetyStop: a call could pass a limit on the cost; or a protected file was touched.
        """
        begun, asked, wrong, heat = len(self.exchanges), first, 0, self.meter.heat
        for _ in range(self.meter.settings.max_steps):
            said = self._tries(number, begun, asked, heat)
            calls, odd = self._calls(said)
            asked, heat = "", self.meter.heat
            if odd:
                wrong += 1
                self._forget_calls()
                if wrong >= _MOST_WRONG:
                    raise NotWritten(f"the model keeps to no form: {odd}")
                asked, heat = correction(odd, native=self.native), None if heat is None else 0.0
                continue
            wrong = 0
            try:
                self._carry_out(place, calls)
            except Finished as end:
                if end.success:
                    return end.summary
                raise NotWritten(f"the model gave up: {inert(end.summary)[:500]}") from None
            _refuse_circles(self.exchanges[begun:])
        steps = self.meter.settings.max_steps
        raise NotWritten(f"the model did not finish within coder.max_steps ({steps})")

    def _calls(self, said: Said) -> tuple[tuple[ToolCall, ...], str]:
        """Read the calls of an answer, or say what is wrong with its form."""
        if said.stop_reason == "max_tokens":
            return (), "the answer was cut off because it was too long"
        if self.native:
            return said.calls, "" if said.calls else "no tool was called"
        try:
            read = json.loads(said.text)
            name, args = read["tool"], read["args"]
            if not set(read) <= {"tool", "args", "t"} or name not in NAMES:
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            return (), 'it is not {"tool": ..., "args": ..., "t": ...} with a known tool'
        return (ToolCall(id="", name=name, args=json.dumps(args)),), ""

    def _carry_out(self, place: Place, calls: tuple[ToolCall, ...]) -> None:
        """Carry out the calls of the last answer, and keep their results with it."""
        results: list[ToolResult] = []
        end: Finished | None = None
        for call in calls:
            failed = False
            try:
                text = carry_out(place, call.name, call.args)
            except ToolRefused as error:
                text, failed = str(error), True
            except Finished as error:
                text, end = "done", error
            self.say(f"{self.meter.settings.model}: {line(call.name)} {_path_of(call)}".rstrip())
            results.append(ToolResult(id=call.id, text=redact(text, known_secrets()), error=failed))
        last = self.exchanges[-1]
        told = last.said.model_copy(update={"calls": calls}) if last.said else None
        self.exchanges[-1] = last.model_copy(update={"results": tuple(results), "said": told})
        if end is not None:
            raise end

    def _forget_calls(self) -> None:
        """Take calls that were not carried out from the last answer: they have no results."""
        last = self.exchanges[-1]
        if last.said is not None:
            said = last.said.model_copy(update={"calls": ()})
            self.exchanges[-1] = last.model_copy(update={"said": said})

    def _tries(self, number: int, begun: int, asked: str, heat: float | None) -> Said:
        sent = self._request(begun, asked, heat)
        size = len(json.dumps(sent).encode())
        if size > _MOST_SENT:
            raise NotWritten("the conversation became too long")
        for attempt in range(1, TRIES + 1):
            timeout_s = self.meter.timeout()
            settle = self.meter.book(size, MOST_TOKENS)
            try:
                text, calls, stop, usage = self.service.send(sent, timeout_s)
                made = tuple(ToolCall(id=i, name=n, args=a) for i, n, a in calls)
                said = Said(text=text, calls=made, stop_reason=stop, usage=usage)
            except (CallFailed, ValueError) as error:
                failure = error if isinstance(error, CallFailed) else _malformed(error)
                self._note(number, asked, heat, None, failure.reason,
                           settle(None if failure.billed else 0))  # fmt: skip
                if failure.again is None or attempt == TRIES:
                    message = f"the model gave no answer: {failure.reason}"
                    raise WorldError(message, "Nothing was proposed. Run again later.") from None
                self.wait(failure.again * attempt)
            except BaseException:
                settle(None)
                raise
            else:
                self._note(number, asked, heat, said, "", settle(self.meter.price.of(usage)))
                return said
        raise AssertionError("the last try returns or raises")

    def _note(self, number: int, asked: str, heat: float | None, said: Said | None,
              failed: str, paid: int) -> None:  # fmt: skip
        self.exchanges.append(
            Exchange(
                round=number, asked=asked, heat=heat, said=said, failed=failed[:1000], cost=paid
            )
        )
        used = dict(said.usage) if said else {}
        told = {"model": self.meter.settings.model, "round": number, "cost_usd": paid / 1e6}
        _log.info("MODEL_CALLED", extra={"data": {**told, "usage": used, "failed": failed}})

    def _request(self, begun: int, asked: str, heat: float | None) -> dict[str, Any]:
        """Write the whole conversation of this round, as the SDK takes it."""
        messages: list[dict[str, Any]] = []
        pending: list[dict[str, Any]] = []
        for each in self.exchanges[begun:]:
            if each.said is None:
                continue
            messages += [{"role": "user", "content": [*pending, *_text(each.asked)]},
                         {"role": "assistant", "content": self._answer(each.said)}]  # fmt: skip
            pending = self._results(each)
        messages.append({"role": "user", "content": [*pending, *_text(asked)]})
        # What came before is read from the service's cache in the next step.
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        system = {"type": "text", "text": system_text(native=self.native),
                  "cache_control": {"type": "ephemeral"}}  # fmt: skip
        tools = {"tools": schemas()} if self.native else {}
        heated = {} if heat is None else {"temperature": heat}
        return {"model": self.meter.settings.model, "max_tokens": MOST_TOKENS, "system": [system],
                "messages": messages, "extra_body": heated, **tools}  # fmt: skip

    def _answer(self, said: Said) -> list[dict[str, Any]]:
        calls = said.calls if self.native else ()
        uses = [{"type": "tool_use", "id": call.id, "name": call.name,
                 "input": json.loads(call.args)} for call in calls]  # fmt: skip
        return [*_text(said.text or ("" if uses else "(nothing)")), *uses]

    def _results(self, each: Exchange) -> list[dict[str, Any]]:
        if not self.native:
            return [part for result in each.results for part in _text(result.text or "(nothing)")]
        return [{"type": "tool_result", "tool_use_id": result.id, "content": result.text,
                 "is_error": result.error} for result in each.results]  # fmt: skip


def _text(words: str) -> list[dict[str, Any]]:
    shown = words if words.strip() else "(nothing)"  # the service takes no blank text
    return [{"type": "text", "text": shown}] if words else []


def _path_of(call: ToolCall) -> str:
    try:
        return line(str(json.loads(call.args).get("path", "")))[:100]
    except (ValueError, AttributeError):
        return ""


def _malformed(error: ValueError) -> CallFailed:
    return CallFailed(f"the answer is malformed: {str(error)[:200]}", 0.0, billed=True)


def _refuse_circles(exchanges: list[Exchange]) -> None:
    """Stop a model that does the same three times, or two things in turn, twice."""
    done = [(call.name, call.args) for each in exchanges if each.said for call in each.said.calls]
    last = done[-1] if done else None
    if done[-3:] == [last] * 3:
        raise NotWritten(f"the model goes in circles: {line(done[-1][0])} three times the same")
    if len(done) >= 4 and done[-4:-2] == done[-2:] and done[-1] != done[-2]:
        turns = f"{line(done[-2][0])} and {line(done[-1][0])}"
        raise NotWritten(f"the model goes in circles: {turns} in turn")
