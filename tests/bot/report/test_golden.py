"""The example contract's report, byte for byte.

`python -m tests.bot.report.test_golden` rewrites the files; look at them before you commit them.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.report.behaviour import compare_trades
from bot.report.page import report_html
from bot.report.picture import picture
from bot.report.proposal import pull_request_body
from bot.report.terminal import gate_table
from tests.bot.report.stories import REFUSED, told, version

GOLDEN = Path(__file__).parent / "golden"
IMAGE = "https://github.com/owner/repository/blob/5f1c0a9/artifacts/equity.svg?raw=true"


def forms() -> dict[str, str]:
    story = told("oversold_dip")
    before, summary = version("oversold_dip", "parameters.oversold.default", 33)
    shown, _ = version("oversold_dip", "risk.stop_loss", 0.03)
    replacing = replace(
        story,
        behaviour_change=compare_trades(before, story.trades, "the base branch at 1a2b3c4"),
        base_summary=summary,
        previous=f"{story.tag[:-1]}0",
        since=compare_trades(shown, story.trades, "what was shown before (5d6e7f8)"),
    )
    return {
        "report.html": report_html(story),
        "equity.svg": picture(story),
        "pull_request.md": pull_request_body(replacing, IMAGE),
        "refused.md": pull_request_body(replace(story, verdicts=REFUSED, behaviour_change=None)),
        "gates.txt": gate_table(REFUSED),
    }


@pytest.mark.parametrize("name", sorted(forms()))
def test_the_report_is_the_golden_one(name: str) -> None:
    assert forms()[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_same_story_gives_the_same_bytes() -> None:
    first = forms()
    told.cache_clear()
    assert forms() == first


if __name__ == "__main__":
    for name, text in forms().items():
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{GOLDEN / name}\n")
