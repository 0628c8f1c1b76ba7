"""The example contracts point at things that are there."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "contracts").glob("*.yaml"))
SCHEMA_LINE = "# yaml-language-server: $schema="


def test_there_is_one_of_each_kind():
    assert [path.stem for path in EXAMPLES] == [
        "channel_breakout",
        "oversold_dip",
        "trend_follow",
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_editors_find_the_schema_beside_it(path):
    first = path.read_text("utf-8").splitlines()[0]
    assert first == f"{SCHEMA_LINE}schema/contract-1.0.json"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_its_candles_are_in_the_repository(path):
    contract = yaml.safe_load(path.read_text("utf-8"))
    assert (ROOT / contract["data"]["path"]).is_file()


def test_the_readme_shows_the_example_as_it_is():
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = yaml.safe_load(readme.split("```yaml\n", 1)[1].split("```", 1)[0])
    example = yaml.safe_load((ROOT / "contracts" / "oversold_dip.yaml").read_text("utf-8"))
    assert shown["rules"] == example["rules"]
    assert shown["market"] == example["market"]
    assert shown["data"] == example["data"]
