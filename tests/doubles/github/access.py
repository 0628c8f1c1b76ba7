"""Who asks and what they may do: tokens, permissions, and the ways in which GitHub says no."""

from tests.doubles.github.accounts import Token
from tests.doubles.github.call import Call, Route
from tests.doubles.github.messages import Refusal, Request, not_found
from tests.doubles.github.state import ROLES, Repository, State

ACTIONS_SLUG = "github-actions"
# What everybody may read in a public repository. Settings are for those who administer it.
_CLOSED = frozenset({"administration", "repository_hooks", "secrets"})
_LEVELS = {"none": 0, "read": 1, "write": 2, "admin": 3}
_BY_ROLE = {"none": "none", "read": "read", "triage": "read"}


def identify(state: State, request: Request) -> Token | None:
    """The token of a request; None without one.

    Raises:
        Refusal: 401 for a token that is unknown or has expired.
    """
    scheme, _, value = request.headers.get("authorization", "").strip().partition(" ")
    if not value:
        return None
    if value.count(".") == 2:
        return None  # a JWT: it speaks for an App, and the App's routes look at it themselves
    if scheme.lower() not in ("token", "bearer"):
        raise Refusal(401, "Bad credentials")
    token = state.tokens.get(value.strip())
    if token is None or (token.expires and token.expires <= state.now()):
        raise Refusal(401, "Bad credentials")
    return token


def admit(call: Call, route: Route) -> None:
    """Let a call through to its handler, or refuse it as GitHub does.

    Raises:
        Refusal: 404 if the repository is none of the asker's business, 401 for nobody in
            particular, 403 if something is missing.
    """
    home = call.home
    if home is None or route.needs == "app":
        return
    if not can_see(home, call.token):
        raise not_found()
    names, _, wanted = route.needs.partition(":")
    if not names or any(allows(home, call.token, name, wanted) for name in names.split("|")):
        return
    if call.token is None:
        raise Refusal(401, "Requires authentication")
    if route.readers and call.token.permissions is None:
        return
    raise _forbidden(home, call.token, names)


def can_see(home: Repository, token: Token | None) -> bool:
    """Whether the repository exists for the asker."""
    if not home.private:
        return True
    if token is None:
        return False
    if token.repositories is not None:
        return home.full_name in token.repositories
    return home.role(token.account) != "none"


def allows(home: Repository, token: Token | None, name: str, wanted: str) -> bool:
    """Whether a token has a permission in a repository."""
    return _LEVELS[_level(home, token, name)] >= _LEVELS[wanted]


def is_actions(token: Token | None) -> bool:
    """Whether it is the token that a workflow run gets."""
    return token is not None and token.app is not None and token.app.slug == ACTIONS_SLUG


def _level(home: Repository, token: Token | None, name: str) -> str:
    public = "read" if not home.private and name not in _CLOSED else "none"
    if token is None:
        return public
    if token.repositories is not None and home.full_name not in token.repositories:
        return public
    granted = "admin" if token.permissions is None else token.permissions.get(name, "none")
    if token.permissions is not None and name == "metadata":
        granted = max(granted, "read", key=_LEVELS.__getitem__)
    if token.app is None:
        granted = min(granted, _level_of_role(home, token, name), key=_LEVELS.__getitem__)
    return max(granted, public, key=_LEVELS.__getitem__)


def _level_of_role(home: Repository, token: Token, name: str) -> str:
    """What a person may do; a token never gives more."""
    role = home.role(token.account)
    if role == "admin":
        return "admin"
    if name in _CLOSED:
        return "none"
    if role == "triage" and name in ("issues", "pull_requests"):
        return "write"
    return _BY_ROLE.get(role, "write")


def _forbidden(home: Repository, token: Token, names: str) -> Refusal:
    if token.app is not None:
        return Refusal(403, "Resource not accessible by integration")
    if token.permissions is not None:
        return Refusal(403, "Resource not accessible by personal access token")
    if names == "administration":
        return Refusal(403, "Must have admin rights to Repository.")
    if ROLES.index(home.role(token.account)) < ROLES.index("write"):
        return Refusal(403, "Must have push access to repository")
    return Refusal(403, "Forbidden")
