"""Who am I, who are you, and how many requests are left."""

from tests.doubles.github.call import Call, route
from tests.doubles.github.messages import GRAPHQL_ROUTE, Answer, Refusal
from tests.doubles.github.shapes import profile


@route("POST", GRAPHQL_ROUTE)
def query(call: Call) -> Answer:
    """Of GraphQL only the question who asks, which every token may put."""
    if "".join(str(call.body.get("query", "")).split()) != "{viewer{login}}":
        raise Refusal(400, "This server answers {viewer{login}} and nothing else")
    return Answer(200, {"data": {"viewer": {"login": call.actor.login}}})


@route("GET", "/users/{username}")
def get_user(call: Call) -> Answer:
    """Somebody's page."""
    return Answer(200, profile(call.state, call.state.account(call.parameters["username"])))


@route("GET", "/rate_limit")
def get_rate_limit(call: Call) -> Answer:
    """What is left of the hour; asking is free."""
    rate = call.window.json
    return Answer(200, {"resources": {"core": rate, "search": rate}, "rate": rate})
