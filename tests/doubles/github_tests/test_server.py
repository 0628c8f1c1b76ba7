"""The server as a server: many at once, fast on one connection, and gone when it is done."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"


def test_of_many_at_once_one_opens_the_pull_request(
    repo: HostedRepository, clone: Any, ask: Any
) -> None:
    clone.push("topic", {"a.txt": "a"})
    body = {"title": "t", "head": "topic", "base": "main"}
    with ThreadPoolExecutor(8) as many:
        made = list(many.map(lambda _: ask("POST", f"{HOME}/pulls", body).status, range(8)))
    assert sorted(made) == [201] + [422] * 7
    assert len(list(repo.record.pulls())) == 1


def test_one_connection_is_kept_and_fast(repo: HostedRepository, ask: Any) -> None:
    repo.open_issue("t")
    taken = []
    for _ in range(20):
        begin = time.monotonic()
        ask("GET", f"{HOME}/issues/1")
        taken.append(time.monotonic() - begin)
    # With Nagle's delay no answer would take less than 40 ms.
    assert min(taken) < 0.03


def test_a_closed_server_answers_no_more(github_description: Any) -> None:
    before = threading.active_count()
    with GitHubServer() as hub:
        assert requests.get(f"{hub.url}/rate_limit", timeout=30).status_code == 200
        hub.faults.add(kind="timeout_before")
        late = threading.Thread(target=_give_up, args=(hub.url,))
        late.start()
        while not hub.faults.waiting[0].hits:
            time.sleep(0.01)
    late.join(15)
    assert not late.is_alive()
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{hub.url}/rate_limit", timeout=30)
    assert threading.active_count() <= before + 1


def _give_up(url: str) -> None:
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{url}/rate_limit", timeout=20)


def test_every_exchange_is_recorded_with_who_asked(hub: GitHubServer, ask: Any) -> None:
    ask("POST", f"{HOME}/issues", {"title": "t"})
    (one,) = hub.requests
    assert (one.method, one.path, one.body, one.status) == (
        "POST",
        f"{HOME}/issues",
        {"title": "t"},
        201,
    )
    assert (one.login, one.route) == ("github-actions[bot]", "/repos/{owner}/{repo}/issues")
    assert one.answer["number"] == 1


def test_a_large_repository_is_paged_quickly(
    hub: GitHubServer, repo: HostedRepository, home: Any
) -> None:
    for number in range(1, 1001):
        repo.open_issue(f"issue {number}")
        repo.say(number, "hello")
    begin = time.monotonic()
    assert sum(1 for _ in home.get_issues(state="all")) == 1000
    assert time.monotonic() - begin < 20
