"""Counting requests: headers, ETags that cost nothing, and what happens at the end."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import github
import pytest

from tests.doubles.github import GitHubServer
from tests.doubles.github_tests.conftest import Asker

HOME = "/repos/owner/name"


def test_each_answer_says_what_is_left(hub: GitHubServer, ask: Any) -> None:
    first, second = ask("GET", HOME).headers, ask("GET", HOME).headers
    assert int(first["X-RateLimit-Remaining"]) - int(second["X-RateLimit-Remaining"]) == 1
    assert (first["X-RateLimit-Limit"], second["X-RateLimit-Used"]) == ("1000", "2")
    assert int(first["X-RateLimit-Reset"]) > time.time()


def test_an_unchanged_answer_is_free(ask: Any) -> None:
    first = ask("GET", HOME)
    again = ask("GET", HOME, If_None_Match=first.headers["ETag"])
    assert (again.status, again.body) == (304, None)
    assert again.headers["X-RateLimit-Used"] == first.headers["X-RateLimit-Used"]


def test_a_changed_answer_has_another_tag(ask: Any) -> None:
    path = f"{HOME}/issues"
    first = ask("GET", path)
    ask("POST", path, {"title": "x"})
    again = ask("GET", path, If_None_Match=first.headers["ETag"])
    assert again.status == 200
    assert again.headers["ETag"] != first.headers["ETag"]


def test_asking_for_the_limit_is_free(hub: GitHubServer, token: str, ask: Any) -> None:
    hub.use_up(token, remaining=0)
    assert ask("GET", "/rate_limit").body["rate"]["remaining"] == 0


def test_at_the_end_everything_is_refused_until_the_hour_is_over(
    hub: GitHubServer, token: str, ask: Any
) -> None:
    hub.use_up(token, remaining=1, reset_in_s=600)
    assert ask("GET", HOME).status == 200
    refused = ask("GET", HOME)
    assert (refused.status, refused.headers["X-RateLimit-Remaining"]) == (403, "0")
    assert "API rate limit exceeded" in refused.body["message"]
    later = datetime.now(UTC) + timedelta(seconds=601)
    hub.state.now = lambda: later
    assert ask("GET", HOME).status == 200


def test_pygithub_knows_the_end(hub: GitHubServer, token: str, home: Any) -> None:
    hub.use_up(token)
    with pytest.raises(github.RateLimitExceededException):
        home.get_issues()[0]


def test_writing_too_fast_meets_the_secondary_limit(hub: GitHubServer, ask: Any) -> None:
    hub.limits.writes_per_minute = 2
    made = [ask("POST", f"{HOME}/labels", {"name": str(n)}) for n in range(3)]
    assert [one.status for one in made] == [201, 201, 403]
    assert 0 < int(made[-1].headers["Retry-After"]) <= 61
    assert ask("GET", HOME).status == 200


def test_the_jobs_of_a_repository_share_their_requests(hub: GitHubServer, ask: Any) -> None:
    ask("GET", HOME)
    other = hub.token_for("github-actions[bot]", {"contents": "read"}, "owner/name")
    person = hub.token_for("alice")
    used = [
        Asker(hub.url, token)("GET", HOME).headers["X-RateLimit-Used"] for token in (other, person)
    ]
    assert used == ["2", "1"]
