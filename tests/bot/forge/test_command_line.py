import pytest

from bot.forge.command_line import Command, read_command


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("/stratwright retry", Command("retry")),
        ("/stratwright approve 1a2b3c", Command("approve", "1a2b3c")),
        ("\r\n\r\n  /stratwright explain  \r\nplease", Command("explain")),
        ("/stratwright", Command("")),
        ("/stratwright dance", Command("dance")),
    ],
)
def test_a_comment_that_begins_with_a_command_is_one(comment: str, expected: Command) -> None:
    assert read_command(comment) == expected


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "please /stratwright retry",
        "see below\n/stratwright retry",
        "```\n/stratwright retry\n```",
        "~~~\n/stratwright retry\n~~~",
        "    /stratwright retry",
        "\t/stratwright retry",
        "> /stratwright retry",
        "`/stratwright retry`",
        "<!--\n/stratwright retry\n-->",
        "<!-- x -->/stratwright retry",
        '[x]: y "\n/stratwright retry\n"',
        "<details title='\n/stratwright retry\n'>",
        "/stratwright retry; rm -rf /",
        "/stratwright retry $(id)",
        "/stratwright re\u200btry",
        "\u202e/stratwright retry",
        "/stratwright\u00a0retry",
        "/stratwright approve a b",
        "/STRATWRIGHT retry",
        "/stratwrightretry",
        "- /stratwright retry",
    ],
)
def test_a_command_that_not_every_reader_sees_as_one_is_none(comment: str) -> None:
    assert read_command(comment) is None
