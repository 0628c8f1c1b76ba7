"""A contract that asks for a search, through the line: found once, proposed, checked again."""

import json
from typing import Any

import pytest

from bot import pipeline
from bot.contract.found import is_found
from bot.contract.load import LoadedContract, load_contract, parse_contract
from bot.errors import InputError, SafetyStop
from bot.proof.findings import Outcome
from bot.proof.trial_ledger import BRANCH
from tests.bot.git.worlds import World, commit_file, sh
from tests.e2e.lines import checked, contract_text, run
from tests.remembered import Remembering

PATH = "contracts/dip.yaml"
NO_LINES = "".join(
    f"  {name}: null\n"
    for name in (
        *("min_deflated_sharpe", "max_overfitting", "min_track_record", "min_stability"),
        *("min_break_even", "min_missed_return", "max_chance", "min_unseen_sharpe"),
    )
)
POLICY = f'version: "1.0"\nluck:\n  worlds: 1\n{NO_LINES}'
ASKED = (
    "parameters: {dip: {default: 30, range: [20, 45]}}\n"
    "optimize: {metric: return, trials: 6, walk_forward: {folds: 2}}"
)


@pytest.fixture
def asked(world: World) -> World:
    text = contract_text(more=ASKED).replace("rsi < 30", "rsi < dip")
    commit_file(world.work, "stratwright.yml", POLICY)
    commit_file(world.work, PATH, text)
    sh(world.work, "push", "-q", "origin", "main")
    return world


def told(world: World, commit: str) -> dict[str, object]:
    shown = sh(world.work, "show", f"{commit}:artifacts/dip/strategy/search.json")
    found: dict[str, object] = json.loads(shown)
    return found


def test_a_search_is_proposed_once_checked_and_ended_by_its_merge(
    asked: World, sandbox: Remembering
) -> None:
    first = run(asked, sandbox)
    assert first.status == "proposed"
    assert first.gates[-1].name == "luck"
    search = told(asked, first.commit)
    assert search["sets_tried"] == 5  # one was drawn twice
    assert len(search["walk_forward"]["folds"]) == 2  # type: ignore[index]
    # On the branch: the defaults that were found, and how.
    sh(asked.work, "checkout", "-q", first.branch)
    held = load_contract(asked.work / PATH).strategy
    sh(asked.work, "checkout", "-q", "main")
    assert is_found(held)
    assert {"dip": held.parameters["dip"].default} == search["best"]
    # The ledger has every set, at the remote too.
    entry = json.loads(sh(asked.remote, "show", f"{BRANCH}:00000001.json"))
    assert len(entry["tries"]) == 16 * search["trials_in_all"]  # type: ignore[operator]
    again = run(asked, sandbox)
    assert (again.status, again.commit) == ("unchanged", first.commit)
    assert sh(asked.remote, "rev-list", "--count", BRANCH) == "1"
    found = checked(asked.work, first.tag, sandbox)
    assert found.outcome is Outcome.HOLDS, found
    assert any(finding.name == "search" for finding in found.findings)
    sh(asked.work, "merge", "-q", "--no-ff", "-m", "take it", first.branch)
    sh(asked.work, "push", "-q", "origin", "main")
    merged = run(asked, sandbox)
    assert (merged.status, merged.commit) == ("unchanged", first.commit)
    assert sh(asked.remote, "rev-list", "--count", BRANCH) == "1"


def test_the_lines_of_the_base_branch_refuse_luck(asked: World, sandbox: Remembering) -> None:
    strict = POLICY.replace("min_deflated_sharpe: null", "min_deflated_sharpe: 1.0")
    commit_file(asked.work, "stratwright.yml", strict)
    sh(asked.work, "push", "-q", "origin", "main")
    result = run(asked, sandbox)
    assert (result.status, result.exit_code) == ("blocked", 1)
    refused = [verdict for verdict in result.gates if not verdict.passed]
    assert [verdict.name for verdict in refused] == ["luck"]
    assert "min_deflated_sharpe is 1, the search has" in refused[0].reason
    # What was tried counts, whatever became of it.
    assert sh(asked.remote, "rev-list", "--count", BRANCH) == "1"


def test_a_word_of_a_search_that_was_never_made_is_refused(
    asked: World, sandbox: Remembering
) -> None:
    first = run(asked, sandbox)
    text = sh(asked.work, "show", f"{first.commit}:{PATH}") + "\n"
    forged = text.replace('"sets": 5', '"sets": 4')
    assert forged != text
    (asked.work / PATH).write_text(forged)
    with pytest.raises(InputError, match="comes out otherwise"):
        run(asked, sandbox)


@pytest.mark.parametrize("values", ["found", "other"])
def test_a_tag_that_does_not_tell_of_its_search_is_broken(
    asked: World, sandbox: Remembering, monkeypatch: pytest.MonkeyPatch, values: str
) -> None:
    """Sealed in every part by whoever may push, with the contract that a search would write."""
    real = pipeline.find_values

    def silent(*given: Any) -> tuple[LoadedContract, None]:
        loaded, _ = real(*given)
        old = f"default: {loaded.strategy.parameters['dip'].default}".encode()
        data = loaded.data if values == "found" else loaded.data.replace(old, b"default: 41")
        return parse_contract(data, "yaml", loaded.path), None

    monkeypatch.setattr(pipeline, "find_values", silent)
    tag = run(asked, sandbox).tag
    found = checked(asked.work, tag, sandbox)
    assert found.outcome is Outcome.BROKEN, found
    assert found.findings[-1].detail == "search.json is missing"


def test_a_ledger_that_lost_entries_is_refused(asked: World, sandbox: Remembering) -> None:
    run(asked, sandbox)
    sh(asked.work, "update-ref", "-d", f"refs/heads/{BRANCH}")
    sh(asked.remote, "update-ref", "-d", f"refs/heads/{BRANCH}")
    with pytest.raises(SafetyStop, match="is gone"):
        run(asked, sandbox)
