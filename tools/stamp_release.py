"""A tag's commit to `bot/release.json`: so a release knows which action to pin."""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Write the stamp if tag and version agree."""
    version = re.search(r'__version__ = "([^"]+)"', (ROOT / "bot/__init__.py").read_text())
    commit, tag = os.environ.get("GITHUB_SHA", ""), os.environ.get("GITHUB_REF_NAME", "")
    if version is None or tag != f"v{version[1]}" or not re.fullmatch("[0-9a-f]{40}", commit):
        print(f"the tag {tag!r} is not this version's, or GITHUB_SHA is no commit", file=sys.stderr)
        return 2
    stamp = {"commit": commit, "version": version[1]}
    (ROOT / "bot/release.json").write_text(json.dumps(stamp) + "\n")
    print(f"stamped {stamp}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
