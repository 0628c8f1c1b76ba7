"""A contract that asks for a search on GitHub: each job searches, one writes, its merge ends it."""

import json

from bot.forge.port import Thread
from bot.proof.trial_ledger import BRANCH
from tests.bot.workflow.hub import World, git, push
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import forge_of
from tests.bot.workflow.test_stages import DIP
from tests.e2e.test_search import POLICY

PATH = "contracts/dip.yaml"
ASKED = f"{DIP}optimize: {{trials: 5}}\n"
EVIDENCE = "artifacts/oversold-dip/strategy"


def test_a_search_goes_through_the_jobs_and_its_merge_ends_it(world: World) -> None:
    event = push(*world.commit({PATH: ASKED, "stratwright.yml": POLICY}))
    ran = run_event(world, "push", event)
    assert set(ran.codes.values()) == {0}, ran
    (pull,) = forge_of(world).pulls()
    told = json.loads(git(world.bare, "show", f"{pull.draft.head}:{EVIDENCE}/search.json"))
    assert told["trials_in_all"] == 5
    held = git(world.bare, "show", f"{pull.draft.head}:{PATH}")
    assert f'"searched": "{told["searched"]}"' in held
    assert "How its values were found" in pull.draft.body
    assert "searched on: expect less" in pull.draft.body
    entry = json.loads(git(world.bare, "show", f"{BRANCH}:00000001.json"))
    assert len(entry["tries"]) == 5 * 16
    # The same event once more, and the push of its merge, change nothing.
    again = run_event(world, "push", event, 101)
    assert set(again.codes.values()) == {0}
    merge = world.commit({PATH: f"{held}\n", f"{EVIDENCE}/search.json": json.dumps(told)})
    assert set(run_event(world, "push", push(*merge), 102).codes.values()) == {0}
    assert git(world.bare, "rev-list", "--count", BRANCH) == "1"
    assert len(forge_of(world).pulls()) == 1


def test_luck_is_refused_on_github_and_counted(world: World) -> None:
    strict = POLICY.replace("min_deflated_sharpe: null", "min_deflated_sharpe: 1.0")
    before, after = world.commit({PATH: ASKED, "stratwright.yml": strict})
    run_event(world, "push", push(before, after))
    assert not forge_of(world).pulls()
    said = "\n".join(each.body for each in forge_of(world).threads.all(Thread(commit=after)))
    assert "min_deflated_sharpe is 1, the search has" in said
    assert git(world.bare, "rev-list", "--count", BRANCH) == "1"
