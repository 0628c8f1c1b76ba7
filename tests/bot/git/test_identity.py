import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import InputError
from bot.git.identity import (
    TaskName,
    Trailers,
    correlation_id,
    is_correlation_id,
    parse_trailers,
    task_of_branch,
)
from tests.chance import examples

TASK = TaskName("oversold-dip", "strategy")
ID = "corr_0123456789ab"
plain = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=40
)


def test_the_correlation_id_is_fixed_for_all_time() -> None:
    found = correlation_id("ada/bots", "contracts/a.yaml", "sha256:1", "sha256:2", "0.1.0")
    # printf '["ada/bots","contracts/a.yaml","sha256:1","sha256:2","0.1.0"]' | sha256sum
    assert found == "corr_275415475055"
    assert is_correlation_id(found)


@examples(100)
@given(st.lists(plain, min_size=5, max_size=5), st.integers(0, 4), plain)
def test_every_part_decides_about_the_correlation_id(
    parts: list[str], place: int, other: str
) -> None:
    changed = [*parts[:place], other, *parts[place + 1 :]]
    same = correlation_id(*parts) == correlation_id(*changed)
    assert same == (parts == changed)


def test_parts_do_not_run_into_each_other() -> None:
    assert correlation_id("a", "bc", "", "", "") != correlation_id("ab", "c", "", "", "")


def test_names_follow_from_the_task() -> None:
    assert TASK.branch == "ai/generated/oversold-dip/strategy"
    assert TASK.tag(ID) == f"ai/oversold-dip/strategy/{ID}"
    assert TASK.tag(ID, 2) == f"ai/oversold-dip/strategy/{ID}.2"
    assert task_of_branch(TASK.branch) == TASK


@pytest.mark.parametrize("attempt", [1, 2, 10, 999])
def test_a_tag_is_read_back(attempt: int) -> None:
    assert TASK.attempt(TASK.tag(ID, attempt)) == (ID, attempt)


@pytest.mark.parametrize("name", [f"{ID}.1", f"{ID}.", f"{ID}.02", f"{ID}.x", "corr_1", ID.upper()])
def test_a_tag_that_we_would_not_write_is_not_ours(name: str) -> None:
    assert TASK.attempt(f"ai/oversold-dip/strategy/{name}") is None
    assert TASK.attempt(name) is None


@pytest.mark.parametrize("value", ["", "A", "a_b", "-a", "a-", "a/b", "a.lock", "..", "a\n", "é"])
def test_a_name_that_is_not_an_id_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="is not an id"):
        TaskName(value, "strategy")
    assert task_of_branch(f"ai/generated/{value}/strategy") is None


@examples(100)
@given(st.lists(plain, min_size=5, max_size=5))
def test_trailers_are_read_back(values: list[str]) -> None:
    correlation, prompt, contract, coder, model = values
    trailers = Trailers(correlation, prompt, contract, coder, model)
    expected = replace(trailers, model="") if model == "none" else trailers
    assert parse_trailers(trailers.attached_to("subject\n\nbody")) == expected


def test_trailers_are_what_git_calls_trailers() -> None:
    trailers = Trailers(ID, "sha256:p", "sha256:c", "template")
    message = trailers.attached_to("oversold-dip/strategy: propose\n\nCoder: forged")
    parsed = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        input=message,
        capture_output=True,
        text=True,
        check=True,
    )
    assert parsed.stdout == trailers.render() + "\n"
    assert "Model: none" in parsed.stdout
    assert parse_trailers(message) == trailers


def test_a_trailer_cannot_smuggle_in_another_line() -> None:
    with pytest.raises(InputError, match="Coder is not one plain line"):
        Trailers(ID, "p", "c", "template\nModel: x")


@pytest.mark.parametrize("cut", range(5))
def test_a_missing_or_doubled_trailer_means_none(cut: int) -> None:
    lines = Trailers(ID, "p", "c", "template", "m").render().splitlines()
    assert parse_trailers("s\n\n" + "\n".join(lines[:cut] + lines[cut + 1 :])) is None
    assert parse_trailers("s\n\n" + "\n".join([*lines, lines[cut]])) is None
