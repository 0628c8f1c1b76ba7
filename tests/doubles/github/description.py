"""GitHub's own OpenAPI description as the judge of what the server was asked and what it said.

A stand-in is honest only if it is checked. The description is the file
`generated/api.github.com.json` of the npm package `@octokit/openapi`; it is not shipped here.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, FormatChecker
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.doubles.github.messages import GIT_ROUTE, GRAPHQL_ROUTE, Exchange, Json

_NAME = "urn:github"
# Statuses that GitHub uses everywhere and the description leaves out in most places.
_EVERYWHERE = frozenset({304, 401, 403, 404, 422, 429, 500, 502, 503})
# In every error, and not in the schema of all of them.
_IN_ERRORS = frozenset({"status"})
# GitHub sends these, and its own clients (go-github) read them; the description leaves them out.
_SENT = frozenset({"can_admins_bypass"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Description:
    """What GitHub says about itself."""

    def __init__(self, document: Json) -> None:
        self._document = document
        resource = DRAFT4.create_resource(document)
        self._registry: Registry[Any] = Registry().with_resource(_NAME, resource)

    @cached_property
    def operations(self) -> frozenset[str]:
        """All operations as `METHOD /template`."""
        methods = ("get", "post", "put", "patch", "delete")
        paths: Mapping[str, Json] = self._document["paths"]
        return frozenset(
            f"{method.upper()} {path}"
            for path, inside in paths.items()
            for method in inside
            if method in methods
        )

    def problems(self, exchange: Exchange) -> list[str]:
        """All that is wrong with an exchange; the request is looked at if it was carried out."""
        where = f"{exchange.method} {exchange.path} -> {exchange.status}"
        if exchange.route in (GIT_ROUTE, GRAPHQL_ROUTE):
            return []
        if f"{exchange.method} {exchange.route}" not in self.operations:
            return (
                [] if exchange.status in (0, 404) or exchange.fault else [f"{where}: no such path"]
            )
        place = f"#/paths/{_escape(exchange.route)}/{exchange.method.lower()}"
        found = list(self._answer(place, exchange)) if exchange.status else []
        if exchange.applied:
            found += self._query(place, exchange)
            found += self._body(place, exchange)
        return [f"{where}: {problem}" for problem in found]

    def _answer(self, place: str, exchange: Exchange) -> Iterator[str]:
        spot = f"{place}/responses/{exchange.status}"
        response = self._look(spot)
        if response is None:
            if exchange.status not in _EVERYWHERE and not exchange.fault:
                yield "the description has no such status"
            elif exchange.answer is not None:
                kind = "validation" if "errors" in exchange.answer else "basic"
                spot = f"#/components/schemas/{kind}-error"
                yield from self._judge(spot, exchange.answer, "answer")
            return
        if "$ref" in response:
            spot = response["$ref"]
            response = self._look(spot) or {}
        content = response.get("content")
        if not content:
            if exchange.answer not in (None, {}) and exchange.status < 300:
                yield "the description has no body here"
            return
        if exchange.answer is None:
            yield "the description has a body here"
            return
        kind = "application/json" if "application/json" in content else next(iter(content))
        yield from self._judge(f"{spot}/content/{_escape(kind)}/schema", exchange.answer, "answer")

    def _query(self, place: str, exchange: Exchange) -> Iterator[str]:
        known = {}
        for number, parameter in enumerate(self._look(f"{place}/parameters") or []):
            spot = f"{place}/parameters/{number}"
            if "$ref" in parameter:
                spot = parameter["$ref"]
                parameter = self._look(spot) or {}
            if parameter.get("in") == "query":
                known[parameter["name"]] = spot, parameter
        for name, text in exchange.query.items():
            if name not in known:
                # GitHub pages every list; the description leaves it out of some.
                if name not in ("page", "per_page"):
                    yield f"the description has no query parameter {name!r}"
                continue
            spot, parameter = known[name]
            value = _typed(text, parameter.get("schema", {}).get("type"))
            yield from self._judge(f"{spot}/schema", value, f"query.{name}")
        for name, (_, parameter) in known.items():
            if parameter.get("required") and name not in exchange.query:
                yield f"query parameter {name!r} is missing"

    def _body(self, place: str, exchange: Exchange) -> Iterator[str]:
        wanted = self._look(f"{place}/requestBody")
        if not wanted:
            if exchange.body:
                yield "the description takes no body here"
        elif exchange.body is not None:
            kind, body = _escape("application/json"), exchange.body
            if isinstance(body, list) and exchange.route.endswith("/labels"):
                # "You can also pass an array of labels directly": said in words, not in the
                # schema. So is that an empty one removes all.
                body = {"labels": body} if body else {}
            yield from self._judge(f"{place}/requestBody/content/{kind}/schema", body, "body")
        elif wanted.get("required"):
            yield "the body is missing"

    def _judge(self, spot: str, value: Any, name: str) -> Iterator[str]:
        judge = _Judge({"$ref": f"{_NAME}{spot}"}, registry=self._registry, format_checker=_FORMATS)
        wrong = list(judge.iter_errors(value))
        for error in wrong:
            path = "".join(f"[{part!r}]" for part in error.absolute_path)
            yield f"{name}{path}: {error.message[:300]}"
        if not wrong:
            yield from self._unknown({"$ref": spot}, value, name)

    def _unknown(self, schema: Json, value: Any, name: str) -> Iterator[str]:
        """Fields that GitHub does not know: its schemas let them pass, we do not."""
        while "$ref" in schema:
            schema = self._look(schema["$ref"]) or {}
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            for number, item in enumerate(value):
                yield from self._unknown(schema["items"], item, f"{name}[{number}]")
        either = schema.get("anyOf") or schema.get("oneOf")
        if either:
            yield from min((list(self._unknown(one, value, name)) for one in either), key=len)
        elif isinstance(value, dict) and not schema.get("additionalProperties"):
            properties = self._properties(schema)
            for key, inner in value.items() if properties else ():
                if key in properties:
                    yield from self._unknown(properties[key], inner, f"{name}.{key}")
                elif key not in _SENT and not (key in _IN_ERRORS and "message" in value):
                    yield f"{name}.{key}: the description has no such field"

    def _properties(self, schema: Json) -> dict[str, Json]:
        """A schema's fields with those of all schemas that it joins."""
        while "$ref" in schema:
            schema = self._look(schema["$ref"]) or {}
        found = dict(schema.get("properties") or {})
        for part in schema.get("allOf") or []:
            found |= self._properties(part)
        return found

    def _look(self, spot: str) -> Any:
        """What is at a JSON pointer; None if nothing is."""
        inside: Any = self._document
        for part in spot.removeprefix("#/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(inside, list):
                inside = inside[int(key)]
            elif key in inside:
                inside = inside[key]
            else:
                return None
        return inside


@cache
def read_description(path: Path) -> Description:
    """Read the description; it is large, so once for each process.

    Raises:
        FileNotFoundError: if it is not there, with what to do.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        message = f"GitHub's description is not at {path}; fetch it: bash tools/setup_npm.sh"
        raise FileNotFoundError(message) from None
    return Description(_mended(json.loads(text)))


def _mended(document: Json) -> Json:
    """Take out the one place where the description cannot be fulfilled.

    In the list of installations an account is a user *and* an enterprise (allOf); a single
    installation has it right, a user *or* an enterprise.
    """
    listed = document["paths"]["/app/installations"]["get"]["responses"]["200"]
    schema = listed["content"]["application/json"]["schema"]
    schema["items"] = {"$ref": "#/components/schemas/installation"}
    return document


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _typed(text: str, kind: str | None) -> Any:
    """A query parameter's text as what it stands for."""
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time")
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or _TIME.fullmatch(value) is not None


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return (
        not isinstance(value, str) or value == "" or re.match(r"[a-z][a-z+.-]*:", value) is not None
    )


Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


def _or_null(keyword: Keyword) -> Keyword:
    """OpenAPI 3.0 has no null type; a schema says `nullable` beside its other words."""

    def check(judge: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        if not (value is None and schema.get("nullable")):
            yield from keyword(judge, wanted, value, schema) or ()

    return check


_WORDS: dict[str, Keyword] = {**Draft4Validator.VALIDATORS}
del _WORDS["$ref"]
# GitHub writes oneOf where several may fit: a rule violation is an error of the basic kind too.
_WORDS["oneOf"] = _WORDS["anyOf"]
_Judge = extend(  # type: ignore[no-untyped-call]
    Draft4Validator, {name: _or_null(keyword) for name, keyword in _WORDS.items()}
)
