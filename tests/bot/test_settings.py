from pathlib import Path

import pytest

from bot.errors import InputError
from bot.settings import Settings, parse_settings, read_settings
from tests.bot.workflow.hub import HOUSE


def test_no_file_and_an_empty_file_mean_the_defaults(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    assert parse_settings(b"# nothing\n") == Settings()


def test_the_file_that_init_writes_says_the_defaults() -> None:
    text = (HOUSE / "bot/workflow/templates/stratwright.yml").read_bytes()
    assert parse_settings(text) == Settings()


def test_what_is_said_counts() -> None:
    text = b"label: quant\npull_requests: {draft: true, labels: [a, b]}\n"
    found = parse_settings(text)
    assert (found.label, found.pull_requests.draft) == ("quant", True)
    assert found.pull_requests.labels == ("a", "b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"coder: {type: cli}\n", "write coder: cli there"),
        (b"coder: {type: robot}\n", "coder.type"),
        (b"coder: {max_turns: 0}\n", "coder.max_turns"),
        (b"coder: {allowed_tools: [WebFetch]}\n", "allowed_tools knows"),
        (b"coder: {max_steps: 0}\n", "coder.max_steps"),
        (b"coder: {max_file_changes: 99}\n", "coder.max_file_changes"),
        (b"coder: {output_format: text}\n", "coder.output_format"),
        (b"coder: {max_cost_per_day_usd: -1}\n", "coder.max_cost_per_day_usd"),
        (b"coder: {max_cost_per_day_usd: .inf}\n", "coder.max_cost_per_day_usd"),
        (b"coder: {price_per_million_usd: [1.0, -2.0]}\n", "price_per_million_usd"),
        (b"coder: {modle: x}\n", "coder.modle"),
        (b"lable: x\n", "lable"),
        (b"pull_requests: {drafts: true}\n", "pull_requests.drafts"),
        (b'pull_requests: {draft: "yes"}\n', "pull_requests.draft"),
        (b"contracts: ../elsewhere\n", "contracts"),
        (b"contracts: a/../b\n", "below the repository"),
        (b"contracts: a//b\n", "below the repository"),
        (b"- a\n", "not a mapping"),
        (b"a: [\n", "not YAML"),
        (b"\xff", "not YAML"),
        (b"committer: {name: 'a <b>'}\n", "committer.name"),
        (b"x" * 70_000, "larger"),
        (b"2024-01-01: x\n", "the key '2024-01-01' is no text"),
        (b"pull_requests: {2024-01-01: x}\n", "is no text"),
        (b"yes: x\n", "is no text"),
        (b"7: x\n", "is no text"),
        (b"null: x\n", "is no text"),
        (b"label: 2024-13-45\n", "not YAML"),
        (b"? [a, b]\n: c\n", "not YAML"),
        (b"label: &x [a, *x]\n", "alias"),
        (b"approval: {live: {people: 3}}\nlabel: a\napproval: {}\n", "'approval' twice"),
        (b"approval: {freeze: [{start: '01:00', start: '02:00'}]}\n", "'start' twice"),
        (b"a: &a [1]\nb: [*a, *a]\n", "alias"),
        (b"[" * 5000, "not YAML"),
    ],
)
def test_anything_unknown_is_refused_by_name(text: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_settings(text)


def test_a_slash_behind_the_folder_of_contracts_is_none_of_its_name() -> None:
    assert parse_settings(b"contracts: quant/contracts/\n").contracts == "quant/contracts"
