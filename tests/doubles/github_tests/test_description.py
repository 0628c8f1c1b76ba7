"""The judge: GitHub's description sees what is wrong, and the server offers only what is in it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.doubles.github import Exchange
from tests.doubles.github.call import ROUTES
from tests.doubles.github.description import Description, read_description

LABEL = {
    "id": 1,
    "node_id": "x",
    "url": "https://api.github.com/labels/x",
    "name": "x",
    "description": None,
    "color": "ededed",
    "default": False,
}
CREATED = Exchange(
    "POST",
    "/repos/o/r/labels",
    {},
    {"name": "x"},
    201,
    LABEL,
    route="/repos/{owner}/{repo}/labels",
)


def test_every_route_is_one_of_githubs(github_description: Description) -> None:
    ours = {f"{route.method} {route.name}" for route in ROUTES}
    assert ours - github_description.operations == {"POST /graphql"}  # not REST


def test_a_right_exchange_has_no_problems(github_description: Description) -> None:
    assert github_description.problems(CREATED) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"answer": {**LABEL, "color": 5}}, "color"),
        ({"answer": {**LABEL, "url": "no address"}}, "url"),
        ({"answer": {key: LABEL[key] for key in LABEL if key != "node_id"}}, "node_id"),
        ({"answer": {**LABEL, "colour": "red"}}, "colour"),
        ({"answer": None}, "has a body"),
        ({"status": 202}, "no such status"),
        ({"body": {}}, "name"),
        ({"body": None}, "missing"),
        ({"body": {"name": "x", "nmae": "x"}}, "nmae"),
        ({"query": {"sort": "up"}}, "sort"),
        ({"route": "/repos/{owner}/{repo}/lables"}, "no such path"),
    ],
)
def test_what_github_would_not_say_is_noticed(
    github_description: Description, change: dict[str, Any], word: str
) -> None:
    problems = github_description.problems(replace(CREATED, **change))
    assert problems
    assert word in problems[0]


def test_null_passes_only_where_github_has_it(github_description: Description) -> None:
    named = replace(CREATED, answer={**LABEL, "name": None})
    assert "name" in github_description.problems(named)[0]


def test_a_refused_request_may_be_wrong(github_description: Description) -> None:
    error = {"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest"}
    refused = replace(CREATED, body={}, status=422, answer=error, applied=False)
    assert github_description.problems(refused) == []


def test_a_missing_description_says_what_to_do(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"tools/setup_npm\.sh"):
        read_description(tmp_path / "api.json")
