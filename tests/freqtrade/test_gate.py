"""The gate runs real Freqtrade in the real sandbox: no network, and the file's own bytes."""

import pytest

from Backtest.candles import columns_of
from bot.coder.template.template_coder import freqtrade_text
from bot.contract.language.program import compile_contract
from bot.data.market_data import MarketData
from bot.gates.freqtrade.installation import find_freqtrade
from bot.gates.freqtrade.target import examine_freqtrade
from bot.gates.port import Verdict
from sandbox_runner.rules import USUAL_LIMITS
from tests.freqtrade.freqtrade_environment import needs_freqtrade
from tests.freqtrade.worlds import world
from tests.sandbox_runner.conftest import open_or_skip

pytestmark = needs_freqtrade
CONTRACT, FRAMES = world(4)


def judged(change: tuple[str, str] = ("", ""), sandbox: str = "namespace") -> Verdict:
    program = compile_contract(CONTRACT)
    text = freqtrade_text(CONTRACT, program, "contracts/x.yaml")
    assert change[0] in text
    files = {f"Backtest/freqtrade/{CONTRACT.name}.py": text.replace(*change).encode()}
    candles = {symbol: columns_of(frame) for symbol, frame in FRAMES.items()}
    data = MarketData(candles, "sha256:0", {})
    verdict, remembered = examine_freqtrade(
        CONTRACT, program, files, data, open_or_skip(sandbox), USUAL_LIMITS, find_freqtrade()
    )
    assert not remembered
    return verdict


# What util-linux shares is read-only as with bubblewrap: tests/sandbox_runner/test_conformance.py.
@pytest.mark.parametrize("sandbox", ["docker", "bubblewrap"])
def test_the_file_of_the_contract_passes(sandbox: str) -> None:
    verdict = judged(sandbox=sandbox)
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("# Enter long", "import socket; socket.socket()  # Enter long"), "no answer"),
        (('["enter_long"] = enter_long.astype', '["enter_long"] = (~enter_long).astype'), "bar"),
        (("stoploss = -", "stoploss = -0.001 * "), "trade"),
    ],
    ids=["reaches out", "another rule", "another stop"],
)
def test_another_file_is_refused(change: tuple[str, str], reason: str) -> None:
    verdict = judged(change)
    assert not verdict.passed
    assert reason in verdict.reason
