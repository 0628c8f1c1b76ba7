"""Every fill case ends as honesty expects, on both paths, and the page says so."""

import pytest

from benchmarks.conformance import CASES, PAGE, Case, got, page


@pytest.mark.parametrize("compiled", [False, True], ids=["event", "compiled"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_ends_as_expected(case: Case, compiled: bool) -> None:
    assert got(case, compiled=compiled) == (case.expected, case.rule)


def test_the_page_is_what_the_engine_does() -> None:
    assert PAGE.read_text("utf-8") == page()
