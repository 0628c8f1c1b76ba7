"""A hostile candidate changes nothing but its own verdict.

The static gates refuse most of this before it runs. Here they are left out, so that the layers
behind them have to hold on their own. A third of each table is tried; `make attacks` tries all.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.gates.port import Case, Verdict
from bot.proof.edges import Prover
from bot.proof.examination import Examination, judge_trial
from bot.proof.judge import decide
from bot.proof.trial import run_trial
from sandbox_runner.port import Job, Limits, Outcome, Sandbox, open_sandbox
from sandbox_runner.request import REQUEST_FILE
from tests.bot.proof.assignments import assigned
from tests.chance import one_in
from tests.e2e.attacks import (
    CHANCE,
    HEAD,
    LOOK_AHEAD,
    NO_ANSWER,
    PATCHED_PANDAS,
    RARE_CHANCE,
    RULE,
    TEST_ATTACKS,
    TRIVIAL,
    TRY_EVERYTHING,
    WRONG_ANSWERS,
    WRONG_DECISIONS,
    Attack,
    TestAttack,
    at_import,
)
from tests.e2e.lines import HOUSE, candles_text, contract_text

BARS = 150
STRATEGY, TESTS = "Backtest/codes/quick_dip.py", "tests/test_quick_dip.py"
NOT_ASKED = Outcome(0, False, False, b"", b"", False, {}, {}, 0.0)


@dataclass(frozen=True)
class Only:
    """The real sandbox for some parts of a trial; the others are not asked."""

    inner: Sandbox
    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        return self.inner.run(job) if part_of(job) in self.parts else NOT_ASKED


def part_of(job: Job) -> str:
    if "sandbox_runner.harness.ask_strategy" not in job.command:
        return job.command[2].rpartition(".")[2]
    first = json.loads(job.files[REQUEST_FILE])["runs"][0]["name"].split()[0]
    return {"cut": "cuts"}.get(first, first)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "data").mkdir()
    (folder / "data/btc.csv").write_text(candles_text(BARS), "utf-8")
    (folder / "dip.yaml").write_text(contract_text(), "utf-8")
    return folder


def examined(
    place: Path,
    swaps: dict[str, str],
    parts: tuple[str, ...],
    tests: str | None = None,
    time_s: float = 60.0,
) -> Examination:
    """Let the gates on behaviour judge a changed candidate, without the static ones."""
    contract = load_contract(place / "dip.yaml").strategy
    work = assigned(contract, read_market_data(contract, place))
    files = dict(TemplateCoder().write(contract, "contracts/dip.yaml").files)
    for old, new in swaps.items():
        assert old in files[STRATEGY]
        files[STRATEGY] = files[STRATEGY].replace(old, new, 1)
    files[TESTS] = files[TESTS] if tests is None else tests
    case = Case({path: text.encode() for path, text in files.items()}, frozenset(files))
    prover = Prover(Only(open_sandbox(), parts), limits=Limits(time_s=time_s, memory_mb=512))
    return judge_trial(work, case, (), run_trial(work, case.files, prover))


def verdict(examination: Examination, gate: str) -> Verdict:
    return next(found for found in examination.verdicts if found.name == gate)


def test_the_honest_candidate_passes_what_the_hostile_ones_fail(place: Path) -> None:
    found = examined(place, {}, ("whole", "again", "cuts", "pytest"))
    for gate in ("pytest", "determinism", "lookahead", "artifacts", "correlation", "acceptance"):
        assert verdict(found, gate).passed, verdict(found, gate)


@pytest.mark.parametrize("name", one_in(3, [*NO_ANSWER, *WRONG_ANSWERS]))
def test_what_gives_no_proper_answer_leaves_nothing_to_replay(name: str, place: Path) -> None:
    attack: Attack = {**NO_ANSWER, **WRONG_ANSWERS}[name]
    found = examined(place, attack.swaps, ("whole",), time_s=attack.time_s)
    refused = verdict(found, "artifacts")
    assert found.judgement is None
    assert not refused.passed
    # One gate tells of it, the others point to that one.
    told = refused.reason.removeprefix("not run: see ")
    reason = refused.reason if told == refused.reason else verdict(found, told).reason
    assert re.search(attack.reason, reason), reason
    assert reason.isprintable()


@pytest.mark.parametrize("name", one_in(3, WRONG_DECISIONS))
def test_tests_that_pass_do_not_help_decisions_that_differ(name: str, place: Path) -> None:
    attack = WRONG_DECISIONS[name]
    found = verdict(examined(place, attack.swaps, ("whole", "pytest"), TRIVIAL), "pytest")
    assert not found.passed
    assert "do not follow the contract" in found.reason
    assert re.search(attack.reason, found.reason), found.reason


def test_a_patched_pandas_is_seen_when_pandas_is_shown(place: Path) -> None:
    """The first pass shows the engine's views, which pandas has no part in; the second pandas."""
    found = verdict(examined(place, PATCHED_PANDAS, ("whole", "again")), "determinism")
    assert not found.passed
    assert found.reason == "bar 0: the answer changes when asked a second time"


@pytest.mark.parametrize("name", one_in(3, LOOK_AHEAD))
def test_looking_ahead_is_seen_by_its_own_gate(name: str, place: Path) -> None:
    found = verdict(examined(place, LOOK_AHEAD[name], ("whole", "cuts")), "lookahead")
    assert not found.passed
    assert re.search("is not the answer on all of them|on other prices", found.reason)


def test_a_table_of_dates_is_seen_on_other_prices(place: Path) -> None:
    """It answers as the contract does on every prefix of the candles it knows."""
    contract = load_contract(place / "dip.yaml").strategy
    data = read_market_data(contract, place)
    wanted = decide(contract, compile_contract(contract), data)["BTC/USDT"]["entries"]
    bars = [int(bar) for bar in wanted]
    table = f"np.isin(np.arange(len(close)), {bars})"
    swaps = {RULE: f"        enter_long = {table}\n", HEAD: "import numpy as np\n" + HEAD}
    found = examined(place, swaps, ("whole", "again", "cuts"))
    assert verdict(found, "determinism").passed
    assert "on other prices" in verdict(found, "lookahead").reason


@pytest.mark.parametrize("name", one_in(3, CHANCE))
def test_chance_is_seen_by_its_own_gate(name: str, place: Path) -> None:
    swaps, reason = CHANCE[name]
    found = verdict(examined(place, swaps, ("whole", "again")), "determinism")
    assert not found.passed
    assert "the answer changes when" in found.reason
    assert reason in found.reason


def test_chance_behind_rare_signals_is_seen_in_the_indicators(place: Path) -> None:
    found = verdict(examined(place, RARE_CHANCE, ("whole", "again")), "determinism")
    assert not found.passed
    assert "the indicators change" in found.reason


@pytest.mark.parametrize("name", one_in(3, TEST_ATTACKS))
def test_the_test_run_cannot_be_talked_round(name: str, place: Path) -> None:
    attack: TestAttack = TEST_ATTACKS[name]
    found = verdict(
        examined(place, attack.swaps, attack.parts, attack.tests, attack.time_s), "pytest"
    )
    assert not found.passed
    assert re.search(attack.reason, found.reason), found.reason


def test_inside_no_door_is_open(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "fake_token_1234567890")
    code = TRY_EVERYTHING.replace("HOST_FILE", repr(str(HOUSE / "pyproject.toml")))
    code = code.replace("HOST_FOLDER", repr(str(place)))
    found = examined(place, at_import(code), ("whole", "again"))
    assert verdict(found, "determinism").passed, verdict(found, "determinism").reason


@dataclass(frozen=True)
class Without:
    """A machine on which a tool is not installed."""

    inner: Sandbox
    tool: str

    @property
    def name(self) -> str:
        return self.inner.name

    def run(self, job: Job) -> Outcome:
        if part_of(job) != self.tool:
            return NOT_ASKED
        words = list(job.command)
        words[2] = "not_installed_here"
        return self.inner.run(replace(job, command=tuple(words)))


@pytest.mark.parametrize("tool", ["flake8", "type_check", "bandit", "pytest"])
def test_a_gate_that_could_not_run_has_failed(tool: str, place: Path) -> None:
    contract = load_contract(place / "dip.yaml").strategy
    work = assigned(contract, read_market_data(contract, place))
    files = TemplateCoder().write(contract, "contracts/dip.yaml").contents
    trial = run_trial(work, files, Prover(Without(open_sandbox(), tool)))
    found = judge_trial(work, Case(files, frozenset(files)), (), trial)
    refused = verdict(found, {"type_check": "mypy"}.get(tool, tool))
    assert not refused.passed
    assert re.search("could not be run|left no report", refused.reason)
