"""One request on its way through the server: what handlers are given, and the table of handlers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

from tests.doubles.github.accounts import Account, Token
from tests.doubles.github.limits import Window
from tests.doubles.github.messages import Answer, Json, Refusal, Request, invalid, not_found
from tests.doubles.github.state import Repository, State

T = TypeVar("T")
# These parts of a path may have slashes in them: branches, tags, files.
_WITH_SLASHES = frozenset({"ref", "branch", "path", "basehead", "environment_name"})


@dataclass
class Call:
    """A request that has been let in.

    Attributes:
        state: the world; for a stale read, an older one.
        parameters: the named parts of the path.
        token: who asks; None for nobody in particular.
        window: the token's running hour.
        home: the repository that the path names, if it names one.
    """

    state: State
    request: Request
    parameters: Mapping[str, str]
    token: Token | None
    window: Window
    home: Repository | None = None

    @property
    def repository(self) -> Repository:
        """The repository that the path names."""
        if self.home is None:
            raise not_found()
        return self.home

    @property
    def actor(self) -> Account:
        """Who asks, where somebody must."""
        if self.token is None:
            raise Refusal(401, "Requires authentication")
        return self.token.account

    @property
    def body(self) -> Json:
        """The JSON object that was sent; an empty one if none was."""
        if self.request.body is None:
            return {}
        if not isinstance(self.request.body, dict):
            raise Refusal(400, "Body should be a JSON object")
        return self.request.body

    def number(self, name: str) -> int:
        """A numeric part of the path."""
        text = self.parameters[name]
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise not_found()
        return int(text)

    def commit(self, name: str) -> str:
        """The commit that a name stands for; refused if there is none."""
        sha = self.repository.git.resolve(name)
        if sha is None:
            raise Refusal(422, f"No commit found for SHA: {name}")
        return sha

    def need(self, resource: str, name: str) -> str:
        """A text of the body that must be there and not be blank."""
        value = self.body.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise invalid(resource, "missing_field", name)
        if not isinstance(value, str):
            raise Refusal(
                422, f"Invalid request.\n\nFor 'properties/{name}', {value} is not a string."
            )
        return value

    def page(self, items: Sequence[T], render: Callable[[T], Any], wrap: str = "") -> Answer:
        """One page of a list with links to the others; wrapped, with the count of all."""
        size = max(1, min(100, _positive(self.request.query.get("per_page"), 30)))
        page = _positive(self.request.query.get("page"), 1)
        shown = [render(item) for item in items[(page - 1) * size : page * size]]
        last = max(1, -(-len(items) // size))
        body = {"total_count": len(items), wrap: shown} if wrap else shown
        return Answer(200, body, self._links(page, last))

    def _links(self, page: int, last: int) -> dict[str, str]:
        pages: dict[str, int] = {}
        if page > 1:
            pages |= {"prev": min(page - 1, last), "first": 1}
        if page < last:
            pages |= {"next": page + 1, "last": last}
        address = f"{self.state.url}{self.request.path}"
        links = [
            f'<{address}?{urlencode({**self.request.query, "page": number})}>; rel="{name}"'
            for name, number in pages.items()
        ]
        return {"Link": ", ".join(links)} if links else {}


Handler = Callable[[Call], Answer]


@dataclass(frozen=True)
class Route:
    """A path template as GitHub's description writes it, who may ask, and who answers.

    Attributes:
        needs: the permission as `issues:write`, of which one of several is enough
            (`issues|pull_requests:write`); `app` if an App's JWT is; empty if none is needed.
        readers: whether people who may only read may do it too, as commenting.
        described: the template in the description, where ours is an older form of it that GitHub
            still answers and PyGithub still uses.
    """

    method: str
    template: str
    handler: Handler
    needs: str = ""
    readers: bool = False
    described: str = ""
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        parts = re.split(r"\{(\w+)\}", self.template)
        pattern = "".join(
            f"(?P<{part}>{'.+' if part in _WITH_SLASHES else '[^/]+'})"
            if at % 2
            else re.escape(part)
            for at, part in enumerate(parts)
        )
        object.__setattr__(self, "pattern", re.compile(pattern))

    @property
    def name(self) -> str:
        """Its template in GitHub's description."""
        return self.described or self.template

    @property
    def literal(self) -> int:
        """How much of the path it spells out; the most exact route wins."""
        return len(re.sub(r"\{\w+\}", "", self.template))


ROUTES: list[Route] = []


def route(
    method: str, template: str, needs: str = "", readers: bool = False, described: str = ""
) -> Callable[[Handler], Handler]:
    """Register a handler."""

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, template, handler, needs, readers, described))
        ROUTES.sort(key=lambda each: -each.literal)
        return handler

    return register


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route of a request and the named parts of its path, decoded.

    Raises:
        Refusal: 404 if there is none.
    """
    for each in ROUTES:
        if each.method == method and (found := each.pattern.fullmatch(path)):
            return each, {name: unquote(value) for name, value in found.groupdict().items()}
    raise not_found()


def _positive(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else otherwise
