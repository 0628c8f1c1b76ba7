"""Carries requests to the Messages API by Anthropic's own SDK, as a stream."""

import json
import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.coder.model.calls import MOST_CHARACTERS, CallFailed, Reply, Request
from bot.coder.model.reply import SCHEMAS
from bot.errors import InputError
from bot.redaction import known_secrets, redact, redact_all

if TYPE_CHECKING:
    import anthropic

KEY = "ANTHROPIC_API_KEY"
HOW_TO_INSTALL = "Install it: pip install '.[model]' in a checkout."
_COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
_AGAIN = (408, 409, 429)
_LONGEST_WAIT_S = 60.0
# Text, calls of tools (id, name, arguments), why it stopped, what it counted.
Parts = tuple[str, list[tuple[str, str, str]], str, dict[str, int]]


class MessagesApi:
    """Asks a model over HTTP; retries are the caller's, who counts what each may cost."""

    def __init__(self, base_url: str | None = None, key: str = "") -> None:
        """Open the client with a key, by default that of the environment.

        Raises:
            InputError: the SDK is not installed, or no key is set.
        """
        try:
            import anthropic
        except ImportError:
            raise InputError("the SDK of the model is not installed", HOW_TO_INSTALL) from None
        key = key or os.environ.get(KEY, "")
        if not key:
            raise InputError(f"no key for a model is set: {KEY} is empty")
        refuse_clear(base_url or os.environ.get("ANTHROPIC_BASE_URL") or "")
        self._client = anthropic.Anthropic(api_key=key, max_retries=0, base_url=base_url)

    def ask(self, request: Request, timeout_s: float) -> Reply:
        """Send a request and wait for the whole answer."""
        heated = {} if request.temperature is None else {"temperature": request.temperature}
        sent = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": each.role, "content": each.content} for each in request.messages],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMAS[request.answer]}},
            "extra_body": heated,
        }
        text, _, stop_reason, usage = self.send(sent, timeout_s)
        return Reply(text=text[:MOST_CHARACTERS], stop_reason=stop_reason, usage=usage)

    def send(self, sent: dict[str, Any], timeout_s: float) -> Parts:
        """Send what the SDK takes; gives text, calls of tools, why it stopped and what it counted.

        Raises:
            CallFailed: there is no whole answer.
        """
        import anthropic
        import httpx2

        try:
            return self._stream(sent, timeout_s)
        except anthropic.APIStatusError as error:
            again = error.status_code in _AGAIN or error.status_code >= 500
            words = f"the model's service answered {error.status_code}: {_clean(error.message)}"
            raise CallFailed(words, _wait(error) if again else None) from None
        except anthropic.APITimeoutError:
            words = f"no answer within {timeout_s:g} s"
            raise CallFailed(words, 0.0, billed=True) from None
        except anthropic.APIConnectionError as error:
            words = f"the model's service cannot be reached: {_clean(str(error))}"
            raise CallFailed(words, 0.0) from None
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError, RuntimeError) as error:
            # A stream that was cut off, or that is none: what came before may be paid for.
            name = type(error).__name__
            words = f"the answer broke off or is malformed: {name}: {_clean(str(error))}"
            raise CallFailed(words, 0.0, billed=True) from None

    def _stream(self, sent: dict[str, Any], timeout_s: float) -> Parts:
        begun = time.monotonic()
        with self._client.messages.stream(**sent, timeout=timeout_s) as stream:
            for _ in stream:
                # The SDK's own limit counts from one piece to the next.
                if time.monotonic() - begun > timeout_s:
                    raise CallFailed(f"no answer within {timeout_s:g} s", 0.0, billed=True)
            message = stream.get_final_message()
        if message.stop_reason is None:
            raise ValueError("the stream ended before the answer did")
        secrets = known_secrets()
        text = "".join(part.text for part in message.content if part.type == "text")
        calls = [
            (part.id, part.name, json.dumps(redact_all(part.input, secrets), ensure_ascii=False))
            for part in message.content
            if part.type == "tool_use"
        ]
        return redact(text, secrets), calls, message.stop_reason, _usage(message.usage)


def refuse_clear(address: str) -> None:
    """Stop where an address is given that is neither encrypted nor on this machine.

    Raises:
        InputError: the key would be sent in the clear.
    """
    parts = urlsplit(address)
    local = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if address and parts.scheme != "https" and not (parts.scheme == "http" and local):
        message = f"the key would be sent in the clear: {_clean(address)} is not https"
        raise InputError(message, "Give an https address, or one on this machine.")


def _usage(usage: Any) -> dict[str, int]:
    found = {name: getattr(usage, name, None) or 0 for name in _COUNTED}
    if any(not isinstance(count, int) or count < 0 for count in found.values()):
        raise ValueError("the usage is not a count")
    return {name: count for name, count in found.items() if count}


def _wait(error: "anthropic.APIStatusError") -> float:
    """Read how long the service wants to be left alone; the caller has a wait of its own."""
    try:
        given = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return 1.0
    return min(max(given, 0.0), _LONGEST_WAIT_S)


def _clean(text: str) -> str:
    return " ".join(redact(text, known_secrets()).split())[:300]
