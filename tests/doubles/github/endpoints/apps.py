"""GitHub Apps: a signed statement of who one is, against a token for one's installation."""

from datetime import timedelta
from typing import Any

from tests.doubles.github.accounts import App, Installation, Token
from tests.doubles.github.call import Call, route
from tests.doubles.github.messages import Answer, Json, Refusal, not_found
from tests.doubles.github.shapes import app as render_app
from tests.doubles.github.shapes import repository_inside, user
from tests.doubles.github.state import State

_LONGEST_S = 600
_HOUR = timedelta(hours=1)
_LEVELS = ("read", "write", "admin")


def authenticate(call: Call) -> App:
    """The App whose key signed the request's JWT.

    Raises:
        Refusal: 401 if nobody's did, or it is too old or lives too long.
    """
    import jwt  # PyJWT comes with PyGithub; only App mode needs it

    bearer = call.request.headers.get("authorization", "").partition(" ")[2].strip()
    try:
        claims: dict[str, Any] = jwt.decode(bearer, options={"verify_signature": False})
        app = next(one for one in call.state.apps.values() if str(one.id) == str(claims["iss"]))
        options: Any = {"verify_iat": False, "verify_exp": False, "verify_iss": False}
        jwt.decode(bearer, app.public_key, algorithms=["RS256"], options=options)
    except StopIteration:
        raise Refusal(401, "'Issuer' claim ('iss') must be an Integration") from None
    except (jwt.PyJWTError, KeyError, ValueError):
        raise Refusal(401, "A JSON web token could not be decoded") from None
    now = call.state.now().timestamp()
    if not isinstance(claims.get("exp"), int) or claims["exp"] <= now:
        message = (
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires"
        )
        raise Refusal(401, message)
    if claims["exp"] > now + _LONGEST_S + 60:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")
    return app


def _render(state: State, one: Installation) -> Json:
    return {
        "id": one.id,
        "account": user(state, one.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{state.url}/app/installations/{one.id}/access_tokens",
        "repositories_url": f"{state.url}/installation/repositories",
        "html_url": f"{state.web}/settings/installations/{one.id}",
        "app_id": one.app.id,
        "app_slug": one.app.slug,
        "target_id": one.account.id,
        "target_type": one.account.kind,
        "permissions": one.permissions,
        "events": [],
        "created_at": one.created,
        "updated_at": one.created,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": None,
    }


def _find(call: Call) -> Installation:
    app = authenticate(call)
    one = call.state.installations.get(call.number("installation_id"))
    if one is None or one.app != app:
        raise not_found()
    return one


@route("GET", "/app", "app")
def get_app(call: Call) -> Answer:
    """The App itself."""
    return Answer(200, {**render_app(call.state, authenticate(call)), "installations_count": 1})


@route("GET", "/app/installations", "app")
def list_installations(call: Call) -> Answer:
    """Where the App is installed."""
    app = authenticate(call)
    found = [one for one in call.state.installations.values() if one.app == app]
    return call.page(found, lambda one: _render(call.state, one))


@route("GET", "/repos/{owner}/{repo}/installation", "app")
def get_repository_installation(call: Call) -> Answer:
    """The installation that covers a repository."""
    app = authenticate(call)
    for one in call.state.installations.values():
        if one.app == app and call.repository.full_name in one.repositories:
            return Answer(200, _render(call.state, one))
    raise not_found()


@route("POST", "/app/installations/{installation_id}/access_tokens", "app")
def create_token(call: Call) -> Answer:
    """A token for an hour, for all that was granted or for less."""
    one = _find(call)
    permissions, names = _permissions(call, one), _repositories(call, one)
    state = call.state
    expires = state.now() + _HOUR
    token = Token(
        value=f"ghs_test{state.next_id()}",
        account=state.account(one.app.login),
        permissions=permissions,
        repositories=frozenset(names),
        app=one.app,
        installation=one,
        expires=expires,
    )
    state.tokens[token.value] = token
    body = {
        "token": token.value,
        "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "permissions": {**permissions, "metadata": "read"},
        "repository_selection": "selected",
        "repositories": [repository_inside(state, state.repositories[n.lower()]) for n in names],
    }
    return Answer(201, body)


def _permissions(call: Call, one: Installation) -> dict[str, str]:
    wanted = call.body.get("permissions") or one.permissions
    for name, level in wanted.items():
        granted = "read" if name == "metadata" else one.permissions.get(name)
        if granted is None or _LEVELS.index(level) > _LEVELS.index(granted):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    return dict(wanted)


def _repositories(call: Call, one: Installation) -> list[str]:
    names = call.body.get("repositories")
    ids = call.body.get("repository_ids")
    if names is None and ids is None:
        return one.repositories
    known = [call.state.repositories[name.lower()] for name in one.repositories]
    found = [
        home.full_name for home in known if home.name in (names or []) or home.id in (ids or [])
    ]
    if len(found) < len(names or []) + len(ids or []):
        message = (
            "There is at least one repository that does not exist or is not accessible to the "
            "parent installation."
        )
        raise Refusal(422, message)
    return found
