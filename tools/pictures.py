"""The demo's pull request and report to the pictures of the README: `make pictures`.

Needs Chromium. The pull request is laid out much as GitHub does it; the report is its own page.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "build/demo"
OUT = ROOT / "docs/pictures"
MOST_BYTES = 150_000
WIDTH, HEIGHT = 900, 980
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--force-color-profile=srgb", "--timeout=20000"),
    # Everything is drawn before the picture is taken.
    *("--virtual-time-budget=5000", "--run-all-compositor-stages-before-draw"),
)
# Signs that every machine's fonts have.
SIGNS = {"\N{WHITE HEAVY CHECK MARK}": "✔", "\N{CROSS MARK}": "✘"}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body{{font:15px/1.5 system-ui,sans-serif;color:#1f2328;max-width:860px;margin:24px auto}}
h2{{border-bottom:1px solid #d1d9e0;padding-bottom:6px}}h1,h2,h3{{margin:18px 0 10px}}
table{{border-collapse:collapse;margin:10px 0}}td,th{{border:1px solid #d1d9e0;padding:4px 12px}}
code{{background:#818b981f;border-radius:5px;padding:2px 5px;font-size:85%}}img{{max-width:100%}}
blockquote{{border-left:4px solid #d1d9e0;color:#59636e;margin:0;padding-left:14px}}
.title{{font-size:26px;margin-bottom:4px}}.by{{color:#59636e;margin-bottom:18px}}
</style><div class="title">{title} <span class="by">#1</span></div>
<div class="by">stratwright wants to merge 1 commit from {branch}</div>{body}"""


def pull_request_page() -> str:
    """The demo's pull request as a page, with its picture from the evidence."""
    shown = subprocess.run(
        [sys.executable, "-m", "bot.cli", "pr", "show", "1", "--json"],
        cwd=DEMO / "repository",
        capture_output=True,
        text=True,
        check=True,
    )
    pull = json.loads(shown.stdout)
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(pull["body"])
    for emoji, sign in SIGNS.items():
        body = body.replace(emoji, sign)
    picture = (DEMO / "report/equity.svg").as_uri()
    body = re.sub(r'<img src="[^"]*equity\.svg[^"]*"', f'<img src="{picture}"', body)
    return PAGE.format(title=pull["title"], branch=pull["branch"], body=body)


def photograph(address: str, target: Path) -> None:
    """Let Chromium make a picture of a page's first screen."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit("pictures: Chromium was not found; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        size = f"--window-size={WIDTH},{HEIGHT}"
        where = (f"--user-data-dir={profile}", f"--screenshot={target}")
        subprocess.run(
            [browser, *OPTIONS, size, *where, address], check=True, capture_output=True, timeout=120
        )
    if target.stat().st_size > MOST_BYTES:
        sys.exit(f"pictures: {target} has more than {MOST_BYTES:,} bytes")
    print(f"{target.relative_to(ROOT)}  {target.stat().st_size:,} bytes")


def main() -> None:
    """Make both pictures from build/demo, which `make demo` makes."""
    OUT.mkdir(parents=True, exist_ok=True)
    page = DEMO / "pull_request.html"
    page.write_text(pull_request_page(), encoding="utf-8")
    photograph(page.as_uri(), OUT / "pull_request.png")
    photograph((DEMO / "report/report.html").as_uri(), OUT / "report.png")


if __name__ == "__main__":
    main()
