"""What crosses the wire: a request, its answer or refusal, and the record of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

DOCS = "https://docs.github.com/rest"
GIT_ROUTE = "/{owner}/{repo}.git"
GRAPHQL_ROUTE = "/graphql"


@dataclass(frozen=True)
class Request:
    """One request as it came in; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def reads(self) -> bool:
        """Whether it asks only."""
        return self.method in ("GET", "HEAD") or self.path == GRAPHQL_ROUTE


@dataclass(frozen=True)
class Answer:
    """One answer: JSON, bytes as they are, or None for no body at all."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exchange:
    """A request with what became of it.

    Attributes:
        status: what the client was told; 0 if it was told nothing (a reset, a time-out).
        applied: whether the request was carried out; a write can be, and its answer get lost.
        fault: the kind of fault that was injected, if one was.
        route: the path's template in GitHub's description, GIT_ROUTE for Git's own requests;
            empty if there is no such path.
    """

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    status: int
    answer: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    login: str = ""
    route: str = ""
    applied: bool = True
    fault: str = ""


class Refusal(Exception):
    """A request that GitHub says no to."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status}: {message}")
        body: Json = {"message": message, "documentation_url": DOCS, "status": str(status)}
        if errors is not None:
            body["errors"] = errors
        self.answer = Answer(status, body, headers or {})


def not_found() -> Refusal:
    """Nothing there, or nothing that the asker may know of."""
    return Refusal(404, "Not Found")


def invalid(resource: str, code: str, field_name: str = "", message: str = "") -> Refusal:
    """A body that does not hold together, in the shape that GitHub gives it.

    Args:
        resource: what was to be made, as `PullRequest`.
        code: `missing_field`, `invalid`, `already_exists` or `custom` (then with a message).
        field_name: the field at fault.
        message: a sentence for people.
    """
    error: Json = {"resource": resource, "code": code}
    if field_name:
        error["field"] = field_name
    if message:
        error["message"] = message
    return Refusal(422, "Validation Failed", errors=[error])
