"""Strategies that follow the contract on its own candles and leave it elsewhere, in a sandbox."""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import strategy_text
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.contract.numbers import flat_settings
from bot.contract.risk import Size
from bot.data.market_data import read_market_data
from bot.gates.behaviour import judge_elsewhere
from bot.gates.elsewhere import places
from bot.gates.port import Verdict
from bot.gates.questions import Conversation, Talks, Trial, place_name
from sandbox_runner.port import Outcome, Sandbox, open_sandbox
from sandbox_runner.rules import USUAL_LIMITS
from tests.chance import EVERY_ATTACK

ROOT = Path(__file__).parents[3]
ENTRY = "        enter_long = (rsi < oversold) & (close > trend)\n"
ASKED = '        if not indicators["enter_long"].iloc[idx]:\n'
ORDERED = '        order["volume"] = volume_of('
LAST = 'str(df["timestamp"].iloc[-1])'
AT = "            return self._order(df, indicators, idx)\n"
FAR = '            order["stop"] = {"fraction": 0.9}\n'
ALWAYS = "            enter_long = rsi > 0\n"
USUAL_SIZE = Size(equity=0.1)
NO_OUTCOME = Outcome(0, False, False, b"", b"", False, {}, {}, 0.0)


@pytest.fixture(scope="module")
def inside() -> Sandbox:
    return open_sandbox("auto")


def judged(
    inside: Sandbox,
    old: str = "",
    new: str = "",
    thorough: bool = False,
    size: Size = USUAL_SIZE,
) -> Verdict:
    contract = load_contract(ROOT / "contracts/oversold_dip.yaml").strategy
    risk = contract.risk.model_copy(update={"size": size})
    contract = contract.model_copy(update={"risk": risk})
    program, data = compile_contract(contract), read_market_data(contract, ROOT)
    text = strategy_text(contract, program, "contracts/oversold_dip.yaml")
    assert text.count(old) == 1 or not old
    source = text.replace(old, new).encode() if old else text.encode()
    strategy = "Backtest/codes/oversold_dip.py"
    cfg = dict(flat_settings(contract, program).defaults)
    talks = Talks(strategy, source, cfg, data, USUAL_LIMITS, {})
    found = places(contract, program, data, source, thorough)
    frames = {place_name(number): place.frame for number, place in enumerate(found)}
    runs = talks.elsewhere(found)
    outcome = inside.run(talks.job("again", runs, frames))
    none = Conversation((), {}, NO_OUTCOME)
    again = Conversation(runs, talks.named(frames), outcome)
    trial = Trial({}, NO_OUTCOME, none, again, none, places=found)
    return judge_elsewhere(trial, contract, program)


@pytest.mark.parametrize("thorough", [False, True])
def test_the_template_follows_the_contract_everywhere(inside: Sandbox, thorough: bool) -> None:
    found = judged(inside, thorough=thorough)
    assert (found.passed, found.reason) == (True, "")
    assert int(found.figure.split()[0]) >= (60 if thorough else 5)


# Each takes seconds, so that the tests take a part; `make attacks` takes all.
WAITING = (
    (ENTRY, f'{ENTRY}        if {LAST} > "2027-06":\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if {LAST} < "2023":\n{ALWAYS}'),
    (ENTRY, f"{ENTRY}        if len(df) > 5000:\n{ALWAYS}"),
    (ENTRY, f"{ENTRY}        if len(df) == 3:\n            enter_long = close > 0\n"),
    (ENTRY, f'{ENTRY}        if self.cfg["capital"] != 10000:\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if self.cfg["seed"] != DEFAULT_CFG["seed"]:\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if not self.cfg["symbol"].startswith("BTC"):\n{ALWAYS}'),
    (ENTRY, f"{ENTRY}        if close[-1] > 1e5 or close[-1] < 1:\n{ALWAYS}"),
    (ENTRY, f'{ENTRY}        enter_long |= (series.column(df, "volume") == 0) & (rsi > 0)\n'),
    (ENTRY, f'{ENTRY}        enter_long |= df["timestamp"].dt.year.to_numpy() == 2031\n'),
    (ENTRY, f'{ENTRY}        days = df["timestamp"].dt.strftime("%Y-%m-%d")\n'
     '        enter_long |= (days == "2033-03-05").to_numpy()\n'),
    (ENTRY, ENTRY.replace("< oversold", "< 35")),
    (ASKED, f"        if idx == 7:\n{AT}{ASKED}"),
    (ORDERED, f'        if self.cfg["lot"]:\n            order["sl"] = 0.0\n{ORDERED}'),
    (ORDERED, f"        if close < 1.0:\n{FAR}{ORDERED}"),
)  # fmt: skip


@pytest.mark.parametrize("waiting", WAITING if EVERY_ATTACK else WAITING[::2])
def test_a_strategy_that_waits_is_refused(inside: Sandbox, waiting: tuple[str, str]) -> None:
    found = judged(inside, *waiting)
    assert not found.passed
    assert found.name == "elsewhere"
    assert "leaves the contract" in found.reason
    assert found.cause == "found"


RARE = (
    (ENTRY, f"{ENTRY}        if len(df) > 30000:\n{ALWAYS}"),
    (ENTRY, f'{ENTRY}        if self.cfg["commission"] > 0.0011:\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if {LAST}[11:13] == "03":\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if {LAST}[:4] == "2038":\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if self.cfg["tick"] and not self.cfg["lot"]:\n{ALWAYS}'),
    (ENTRY, f'{ENTRY}        if self.cfg["symbol"].startswith("AAPL"):\n{ALWAYS}'),
    (ASKED, f"        if idx == 3007:\n{AT}{ASKED}"),
    (ENTRY, f'{ENTRY}        enter_long |= (series.column(df, "volume") == 100) & (rsi > 0)\n'),
)  # fmt: skip


@pytest.mark.parametrize("rare", RARE if EVERY_ATTACK else RARE[::3])
def test_one_that_waits_for_something_rare_is_refused_by_the_thorough_way(
    inside: Sandbox, rare: tuple[str, str]
) -> None:
    assert not judged(inside, *rare, thorough=True).passed


@pytest.mark.parametrize("size", [Size(risk=0.01, cap=0.9), Size(risk=0.02, cap=0.4)])
def test_a_capped_size_follows_the_costs_that_it_is_given(inside: Sandbox, size: Size) -> None:
    found = judged(inside, size=size)
    assert (found.passed, found.reason) == (True, "")
