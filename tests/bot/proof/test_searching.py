"""What a contract tells of its search is believed where base branch and ledger say the same."""

from pathlib import Path

import pytest

from bot.contract.found import as_searched, with_found
from bot.contract.load import LoadedContract, load_contract, parse_contract
from bot.data.market_data import MarketData, read_market_data
from bot.errors import InputError
from bot.git.repository import Repository, open_repository
from bot.proof.findings import Outcome, Stop
from bot.proof.searching import (
    Searched,
    find_values,
    make_search,
    note_search,
    policy_of,
    search_again,
)
from bot.proof.trial_ledger import Scope, TrialLedger
from bot.sweep.search import Before
from tests.bot.git.worlds import World, commit_file, sh
from tests.e2e.lines import contract_text, line_world

PATH = "contracts/dip.yaml"
EVIDENCE = "artifacts/dip/strategy/search.json"
POLICY = 'version: "1.0"\nluck: {worlds: 0, max_chance: null}\n'
ASKED = "parameters: {dip: {default: 30, range: [20, 45]}}\noptimize: {metric: return, trials: 4}"
EARLIER = [f"{number:016x}" for number in range(50)]


class Place:
    """A repository whose contract asks for a search."""

    def __init__(self, world: World) -> None:
        self.world = world
        commit_file(world.work, "stratwright.yml", POLICY)
        commit_file(world.work, PATH, contract_text(more=ASKED).replace("rsi < 30", "rsi < dip"))
        sh(world.work, "push", "-q", "origin", "main")

    @property
    def repository(self) -> Repository:
        return open_repository(self.world.work)

    @property
    def ledger(self) -> TrialLedger:
        return TrialLedger(self.repository)

    @property
    def loaded(self) -> LoadedContract:
        return load_contract(self.world.work / PATH)

    @property
    def data(self) -> MarketData:
        return read_market_data(self.loaded.strategy, self.world.work)

    @property
    def base(self) -> str:
        return self.repository.base().commit

    def find(self) -> tuple[LoadedContract, Searched | None]:
        return find_values(self.loaded, self.data, self.repository, str)

    def forged(self) -> Searched:
        """A search that counts nothing of what was tried before."""
        asked = as_searched(self.loaded.strategy)
        return make_search(asked, self.data, policy_of(self.repository, self.base), Before())

    def again(self, search: Searched, content: bytes | None = None) -> Searched:
        data = with_found(self.loaded.data, "yaml", search.search.values, search.search.optimized)
        told = parse_contract(data, "yaml", Path(PATH)).strategy
        content = content or search.search.content
        return search_again(told, self.data, content, self.base, self.repository)

    def note(self, scope: Scope, names: list[str], *, publish: bool) -> None:
        self.ledger.note(self.ledger.entry(scope, "sweep", names), publish=publish)

    def merge(self) -> Searched:
        """Search, and put what was found onto the base branch."""
        loaded, search = self.find()
        assert search is not None
        note_search(search, self.repository)
        commit_file(self.world.work, PATH, loaded.data.decode())
        commit_file(self.world.work, EVIDENCE, search.search.content.decode())
        sh(self.world.work, "push", "-q", "origin", "main")
        return search

    def push(self, path: str, old: str, new: str) -> None:
        text = (self.world.work / path).read_text()
        assert old in text
        commit_file(self.world.work, path, text.replace(old, new))
        sh(self.world.work, "push", "-q", "origin", "main")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(line_world(tmp_path))


def test_what_waits_here_is_counted_by_the_search_and_does_not_overtake_it(place: Place) -> None:
    place.note(place.forged().scope, EARLIER, publish=False)
    _, search = place.find()
    assert search is not None
    assert search.search.told["trials_in_all"] == len(EARLIER) + len(search.tries)
    note_search(search, place.repository)
    assert place.again(search).search.content == search.search.content


@pytest.mark.parametrize("change", [{"workflow": "other"}, {"last": 0, "first": 0}])
def test_an_entry_of_other_work_does_not_leave_out_what_was_tried(
    place: Place, change: dict[str, object]
) -> None:
    forged = place.forged()
    place.note(forged.scope, EARLIER, publish=True)
    scope = forged.scope.model_copy(update=change)
    ledger, more = place.ledger, {"search": forged.name, "after": 0}
    ledger.note(ledger.entry(scope, "run", forged.tries, **more), publish=True)
    with pytest.raises(Stop) as stopped:
        place.again(forged)
    assert stopped.value.finding.outcome is Outcome.BROKEN
    assert "other work or candles" in stopped.value.finding.detail


def test_an_entry_that_counted_what_came_after_it_is_none(place: Place) -> None:
    forged = place.forged()
    ledger, more = place.ledger, {"search": forged.name, "after": 99}
    ledger.note(ledger.entry(forged.scope, "run", forged.tries, **more), publish=True)
    with pytest.raises(Stop) as stopped:
        place.again(forged)
    assert stopped.value.finding.outcome is Outcome.NOT_VERIFIED


def test_a_forged_search_is_not_excused_by_a_sampler_that_nobody_used(place: Place) -> None:
    _, search = place.find()
    assert search is not None
    note_search(search, place.repository)
    forged = search.search.content.replace(b'"optuna": null', b'"optuna": "9"')
    assert forged != search.search.content
    with pytest.raises(Stop) as stopped:
        place.again(search, forged)
    assert stopped.value.finding.outcome is Outcome.BROKEN


def test_a_merge_ends_the_search(place: Place) -> None:
    found = place.merge()
    loaded, search = place.find()
    assert loaded.data == place.loaded.data
    assert search is not None
    assert (search.search.content, search.tries) == (found.search.content, frozenset())


def test_values_that_were_changed_by_hand_are_not_taken_for_found(place: Place) -> None:
    best = place.merge().search.values["dip"]
    place.push(PATH, f"default: {best}", f"default: {41 if best != 41 else 42}")
    with pytest.raises(InputError, match="comes out otherwise"):
        place.find()


def test_a_word_without_its_evidence_is_searched_again(place: Place) -> None:
    best = place.merge().search.values["dip"]
    sh(place.world.work, "rm", "-q", EVIDENCE)
    place.push(PATH, f"default: {best}", f"default: {41 if best != 41 else 42}")
    with pytest.raises(InputError, match="comes out otherwise"):
        place.find()


def test_new_lines_of_the_policy_judge_a_merged_search_too(place: Place) -> None:
    found = place.merge()
    place.push("stratwright.yml", "worlds: 0", "worlds: 0, max_overfitting: 0.25")
    loaded, search = place.find()
    assert loaded.data == place.loaded.data
    assert search is not None
    assert search.search.values == found.search.values
    asked = {line["name"]: line["asked"] for line in search.search.told["lines"]}
    assert asked["max_overfitting"] == 0.25
    assert place.again(search).search.content == search.search.content
