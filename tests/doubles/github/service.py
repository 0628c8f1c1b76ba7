"""A request to its outcome: faults, limits, permissions, the handler, ETags, and the record."""

import copy
import hashlib
import json
import threading
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import format_datetime

from tests.doubles.github import endpoints, git_http
from tests.doubles.github.access import admit, identify
from tests.doubles.github.accounts import Token
from tests.doubles.github.call import Call, Route, find_route
from tests.doubles.github.faults import Fault, Faults
from tests.doubles.github.limits import Limits
from tests.doubles.github.messages import (
    GIT_ROUTE,
    GRAPHQL_ROUTE,
    Answer,
    Exchange,
    Refusal,
    Request,
    not_found,
)
from tests.doubles.github.state import State

endpoints.load()

_SILENT = ("reset", "timeout_before", "timeout_after")


@dataclass(frozen=True)
class Outcome:
    """What the listener does: answer, or hold the line for some time and break it."""

    answer: Answer | None
    hold_s: float = 0.0


class Service:
    """The server without its socket. One request at a time changes the state."""

    def __init__(self, state: State, faults: Faults, limits: Limits) -> None:
        self.lock = threading.RLock()
        self.exchanges: list[Exchange] = []
        self._state = state
        self._faults = faults
        self._limits = limits
        self._before: State | None = None

    def serve(self, request: Request) -> Outcome:
        """Carry a request out, or let the fault that waits for it happen."""
        with self.lock:
            fault = self._faults.take(request)
            if fault is None or fault.kind == "stale":
                exchange = self._carry_out(request, stale=fault is not None)
            elif fault.spares:
                exchange = _disturbed(self._carry_out(request), fault)
            else:
                body = None if git_http.is_git(request) else request.body
                unheard = Exchange(
                    request.method, request.path, request.query, body, 0, applied=False
                )
                exchange = _disturbed(unheard, fault)
            kept = None if isinstance(exchange.answer, bytes) else exchange.answer
            kind = fault.kind if fault else ""
            self.exchanges.append(replace(exchange, answer=kept, fault=kind))
        if fault is not None and fault.kind in _SILENT:
            return Outcome(None, 0.0 if fault.kind == "reset" else fault.seconds)
        return Outcome(Answer(exchange.status, exchange.answer, exchange.headers))

    def _carry_out(self, request: Request, stale: bool = False) -> Exchange:
        state = self._before if stale and self._before is not None else self._state
        if not request.reads and self._faults.stale_ahead:
            self._before = copy.deepcopy(self._state)
        if git_http.is_git(request):
            return _git(state, request)
        token: Token | None = None
        template = ""
        try:
            route, parameters = find_route(request.method, request.path)
            template = route.name
            token = identify(state, request)
            answer = self._answer(state, request, token, route, parameters)
        except Refusal as refusal:
            answer = refusal.answer
        window = self._limits.window(token, state.now().timestamp())
        return Exchange(
            request.method,
            request.path,
            request.query,
            request.body,
            answer.status,
            answer.body,
            {**window.headers, **_date(state), **answer.headers},
            token.account.login if token else "",
            template,
            applied=answer.status < 400,
        )

    def _answer(
        self,
        state: State,
        request: Request,
        token: Token | None,
        route: Route,
        parameters: dict[str, str],
    ) -> Answer:
        now = state.now().timestamp()
        window = self._limits.window(token, now)
        call = Call(state, request, parameters, token, window)
        free = route.needs == "app" or route.template in ("/rate_limit", GRAPHQL_ROUTE)
        if not free:
            self._limits.check(token, request, now)
        try:
            if "repo" in parameters:
                name = f"{parameters['owner']}/{parameters['repo']}".lower()
                call.home = state.repositories.get(name)
                if call.home is None:
                    raise not_found()
            admit(call, route)
            answer = _tagged(request, route.handler(call))
        except Refusal:
            window.used += not free
            raise
        window.used += not free and answer.status != 304  # an unchanged answer is free
        return answer


def _date(state: State) -> dict[str, str]:
    """The server's own clock, which clients with another one can read."""
    return {"Date": format_datetime(state.now().astimezone(UTC), usegmt=True)}


def _git(state: State, request: Request) -> Exchange:
    """Git's own requests; their bytes are not worth keeping."""
    token = git_http.token_of(state, request)
    answer = git_http.answer(state, request, token)
    return Exchange(
        request.method,
        request.path,
        request.query,
        None,
        answer.status,
        answer.body,
        answer.headers,
        token.account.login if token else "",
        GIT_ROUTE,
        applied=answer.status < 400,
    )


def _disturbed(exchange: Exchange, fault: Fault) -> Exchange:
    """What the client hears of an exchange that a fault has hit."""
    if fault.kind in _SILENT:
        return replace(exchange, status=0, answer=None, headers={})
    answer = fault.answer
    return replace(exchange, status=answer.status, answer=answer.body, headers=answer.headers)


def _tagged(request: Request, answer: Answer) -> Answer:
    """Put an ETag on a read, and say 304 to somebody who has it already."""
    if request.method != "GET" or answer.status != 200:
        return answer
    digest = hashlib.sha256(json.dumps(answer.body, sort_keys=True).encode()).hexdigest()
    headers = {**answer.headers, "ETag": f'W/"{digest}"', "Cache-Control": "private, max-age=60"}
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if any(tag.removeprefix("W/") == f'"{digest}"' for tag in known):
        return Answer(304, None, headers)
    return replace(answer, headers=headers)
