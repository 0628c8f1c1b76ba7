"""Reviews of pull requests."""

from tests.doubles.github.access import is_actions
from tests.doubles.github.call import Call, route
from tests.doubles.github.endpoints import pulls
from tests.doubles.github.messages import Answer, Json, Refusal, not_found
from tests.doubles.github.shapes import api, association, node_id, user, web
from tests.doubles.github.state import Issue, Pull, Repository, Review, State

_REVIEWS = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews"
_ONE = f"{_REVIEWS}/{{review_id}}"
_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def render(state: State, repository: Repository, issue: Issue, review: Review) -> Json:
    """A review."""
    page = f"{web(state, repository)}/pull/{issue.number}#pullrequestreview-{review.id}"
    address = f"{api(state, repository)}/pulls/{issue.number}"
    body = {
        "id": review.id,
        "node_id": node_id("PRR", review.id),
        "user": user(state, review.author),
        "body": review.body,
        "state": review.state,
        "html_url": page,
        "pull_request_url": address,
        "author_association": association(repository, review.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": address}},
        "commit_id": review.commit,
    }
    return body if review.state == "PENDING" else {**body, "submitted_at": review.submitted}


def _find(call: Call) -> tuple[Issue, Review]:
    issue, pull = pulls.find(call)
    wanted = call.number("review_id")
    for review in pull.reviews:
        if review.id == wanted:
            return issue, review
    raise not_found()


def _state(call: Call, issue: Issue) -> str:
    """The state that an event gives a review."""
    event = call.body.get("event", "")
    if event and event not in _STATES:
        raise Refusal(422, "Unprocessable Entity", errors=["Variable $event is invalid"])
    if event in ("APPROVE", "REQUEST_CHANGES") and issue.author == call.actor:
        verb = "approve" if event == "APPROVE" else "request changes on"
        refused = f"Can not {verb} your own pull request"
        raise Refusal(422, "Unprocessable Entity", errors=[refused])
    switch = call.repository.settings.can_approve_pull_request_reviews
    if event == "APPROVE" and is_actions(call.token) and not switch:
        refused = "GitHub Actions is not permitted to approve pull requests."
        raise Refusal(422, "Unprocessable Entity", errors=[refused])
    if event in ("REQUEST_CHANGES", "COMMENT") and not call.body.get("body"):
        refused = f"You need to leave a comment indicating the requested changes: {event}"
        raise Refusal(422, "Unprocessable Entity", errors=[refused])
    return _STATES.get(event, "PENDING")


def _add(call: Call, issue: Issue, pull: Pull) -> Review:
    state = _state(call, issue)
    commit = call.body.get("commit_id") or pull.head_sha
    body, at = call.body.get("body") or "", call.state.time()
    review = Review(call.state.next_id(), call.actor, body, state, commit, at)
    pull.reviews.append(review)
    return review


@route("GET", _REVIEWS, "pull_requests:read")
def list_reviews(call: Call) -> Answer:
    """Reviews, oldest first; nobody sees another's pending one."""
    issue, pull = pulls.find(call)
    asker = call.token.account if call.token else None
    seen = [one for one in pull.reviews if one.state != "PENDING" or one.author == asker]
    return call.page(seen, lambda one: render(call.state, call.repository, issue, one))


@route("POST", _REVIEWS, "pull_requests:write", readers=True)
def create_review(call: Call) -> Answer:
    """A review; without an event it stays pending."""
    issue, pull = pulls.find(call)
    review = _add(call, issue, pull)
    return Answer(200, render(call.state, call.repository, issue, review))


@route("PUT", f"{_ONE}/dismissals", "pull_requests:write")
def dismiss_review(call: Call) -> Answer:
    """Take the force out of a review."""
    issue, review = _find(call)
    call.need("PullRequestReview", "message")
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        refused = "Can not dismiss a commented pull request review"
        raise Refusal(422, "Unprocessable Entity", errors=[refused])
    review.state = "DISMISSED"
    return Answer(200, render(call.state, call.repository, issue, review))
