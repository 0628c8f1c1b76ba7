"""Who am I, who are you, and how many requests are left."""

from tests.doubles.github.access import allows
from tests.doubles.github.call import Call, route
from tests.doubles.github.messages import GRAPHQL_ROUTE, Answer, Json, Refusal
from tests.doubles.github.shapes import node_id, profile

_EDITED = (
    "query($ids:[ID!]!){nodes(ids:$ids)"
    "{...onPullRequestReview{idlastEditedAt}...onIssueComment{idlastEditedAt}}}"
)


@route("POST", GRAPHQL_ROUTE)
def query(call: Call) -> Answer:
    """Of GraphQL two questions: who asks, and when reviews and comments were edited."""
    asked = "".join(str(call.body.get("query", "")).split())
    if asked == _EDITED:
        wanted = call.body["variables"]["ids"]
        return Answer(200, {"data": {"nodes": [_words(call, name) for name in wanted]}})
    if asked != "{viewer{login}}":
        raise Refusal(400, "This server answers {viewer{login}} and nothing else")
    return Answer(200, {"data": {"viewer": {"login": call.actor.login}}})


def _words(call: Call, name: str) -> Json | None:
    """A review or a comment that the asker may see, by its node's id."""
    for home in call.state.repositories.values():
        for said in home.comments.values() if allows(home, call.token, "issues", "read") else ():
            if node_id("IC", said.id) == name:
                edited = said.edited or (said.updated if said.updated != said.created else None)
                return {"id": name, "lastEditedAt": edited}
        for issue in home.pulls() if allows(home, call.token, "pull_requests", "read") else ():
            for review in issue.pull.reviews if issue.pull else ():
                if node_id("PRR", review.id) == name:
                    return {"id": name, "lastEditedAt": review.edited}
    return None


@route("GET", "/users/{username}")
def get_user(call: Call) -> Answer:
    """Somebody's page."""
    return Answer(200, profile(call.state, call.state.account(call.parameters["username"])))


@route("GET", "/rate_limit")
def get_rate_limit(call: Call) -> Answer:
    """What is left of the hour; asking is free."""
    rate = call.window.json
    return Answer(200, {"resources": {"core": rate, "search": rate}, "rate": rate})
