import pytest

from bot.approval.surroundings import nobody_here


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("CI", "in-ci"),
        ("GITHUB_ACTIONS", "in-ci"),
        ("JENKINS_URL", "in-ci"),
        ("CLAUDECODE", "under-agent"),
        ("CURSOR_AGENT", "under-agent"),
        ("CODEX_SANDBOX", "under-agent"),
        ("GEMINI_CLI", "under-agent"),
    ],
)
def test_a_machine_is_not_asked(name: str, code: str) -> None:
    found = nobody_here({name: "1"}, has_terminal=True)
    assert found is not None
    assert found.code == code


def test_a_person_needs_a_terminal_and_nothing_else() -> None:
    found = nobody_here({"HOME": "/home/bob"}, has_terminal=False)
    assert found is not None
    assert found.code == "no-terminal"
    assert nobody_here({"HOME": "/home/bob", "CI": "false"}, has_terminal=True) is None
