"""The page and the pull request in a real Chromium: two widths, light and dark, axe."""

import json
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from bot.report.behaviour import compare_trades
from bot.report.page import report_html
from bot.report.picture import picture
from bot.report.proposal import pull_request_body
from tests.bot.report.hostile import poisoned
from tests.bot.report.stories import ROOT, told, version

BROWSER = shutil.which("chromium")
PLAYWRIGHT = ROOT / "build/npm/node_modules/playwright-core"
pytestmark = pytest.mark.skipif(
    BROWSER is None or not PLAYWRIGHT.is_dir(),
    reason="needs Chromium and npm's packages: apt-get install chromium; bash tools/setup_npm.sh",
)
MARKUP = '<img src=x onerror="console.error(1)"></td><script>console.error(2)</script>' + "x" * 90
# GitHub's own sizes: what a body is shown in is about as wide as this.
GITHUB = """<style>body{width:min(880px,100%);margin:0 auto;font:14px/1.5 sans-serif}
td,th{padding:6px 13px;border:1px solid #d1d9e0}
table{border-collapse:collapse;margin-bottom:16px}
img{max-width:100%}p,h2,h3,details{margin:0 0 16px}h3{margin-top:24px}</style>"""
SCREEN = 960  # pixels of a page that a monitor of 1080 lines shows


def proposed(folder: Path) -> str:
    """A pull request's text as GitHub shows it, with everything that it can have."""
    story = told("channel_breakout")
    before, summary = version("channel_breakout", "parameters.breakout_bars.default", 40)
    change = compare_trades(before, story.trades, "the base branch at 1a2b3c4")
    story = replace(story, behaviour_change=change, base_summary=summary)
    story = replace(story, previous=story.tag, since=change)
    (folder / "equity.svg").write_text(picture(story), "utf-8")
    body = pull_request_body(story, "equity.svg")
    shown = cmarkgfm.github_flavored_markdown_to_html(body, options=Options.CMARK_OPT_UNSAFE)
    return f'<!DOCTYPE html><html lang="en"><title>x</title>{GITHUB}<main>{shown}</main>'


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "report.html").write_text(report_html(told("channel_breakout")), "utf-8")
    (folder / "hostile.html").write_text(report_html(poisoned(MARKUP)), "utf-8")
    (folder / "proposal.html").write_text(proposed(folder), "utf-8")
    names = [str(folder / f"{name}.html") for name in ("report", "hostile", "proposal")]
    return looked_at(*names)


@cache
def looked_at(*pages: str) -> list[dict[str, Any]]:
    command = ["node", "tools/npm/look_at_page.mjs", *pages]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_every_page_is_looked_at_in_every_form(seen: list[dict[str, Any]]) -> None:
    forms = {(Path(one["page"]).stem, one["width"], one["colorScheme"]) for one in seen}
    assert len(forms) == len(seen) == 3 * 2 * 2


def test_no_page_is_wider_than_its_window(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        if "proposal" not in one["page"]:
            assert one["excess"] == 0, one


def test_the_table_of_years_is_whole_on_a_phone(seen: list[dict[str, Any]]) -> None:
    narrow = [one for one in seen if "report" in one["page"] and one["width"] == 390]
    assert narrow
    assert all("By year" not in one["cut"] for one in narrow), narrow
    assert "By year" in report_html(told("channel_breakout"))


def test_the_console_stays_silent_though_names_and_notes_are_markup(
    seen: list[dict[str, Any]],
) -> None:
    assert [one["said"] for one in seen] == [[]] * len(seen)


def test_axe_has_no_serious_finding(seen: list[dict[str, Any]]) -> None:
    for one in seen:
        if "proposal" not in one["page"]:
            assert one["serious"] == [], one


def test_a_pull_request_takes_two_screens_at_most(seen: list[dict[str, Any]]) -> None:
    tall = {one["height"] for one in seen if "proposal" in one["page"] and one["width"] == 1280}
    assert max(tall) <= 2 * SCREEN
