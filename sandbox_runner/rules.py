"""Reads the rules that bind: blocks of the RULE pages that are installed with the product.

The pages of a user's repository are never looked at: the judged do not write the law.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sandbox_runner.port import Limits

RULES = Path(__file__).resolve().parents[1] / "brain" / "rules"
IMPORTS = "RULE-001-import-whitelist.md"
STYLE = "RULE-002-code-style.md"
SECURITY = "RULE-004-security.md"


@cache
def read_block(page: str, name: str) -> dict[str, Any]:
    """Gives the block of TOML that a page has under a name."""
    text = (RULES / page).read_text(encoding="utf-8")
    return tomllib.loads(text.split(f"\n```toml {name}\n", 1)[1].split("\n```\n", 1)[0])


LIMITS: dict[str, Any] = read_block(SECURITY, "limits")
USUAL_LIMITS = Limits()
