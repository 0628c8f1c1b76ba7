"""Our files pass Freqtrade's own analyses: no look-ahead, and settled by the startup candles."""

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.coder.template.template_coder import freqtrade_text
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.gates.freqtrade.parity import Expectation
from tests.freqtrade.freqtrade_environment import needs_freqtrade
from tools.corpus import CORPUS
from tools.corpus_markets import markets
from tools.freqtrade_answers import interpreter

pytestmark = needs_freqtrade
SCRIPT = Path(__file__).with_name("own_analyses.py")
CONTRACTS = ("heikin_cross", "four_hours", "rsi_reversion", "band_bounce", "both_sides")
BARS = 2000
# Three periods after its lookback an EMA has forgotten all but a thousandth of where it started,
# one of Wilder's averages (RSI) all but a twentieth.
SETTLED, SETTLED_BY_WILDER = 1e-3, 5e-2


@pytest.fixture(name="found", scope="module")
def found_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("analyses")
    requests = [request(name, folder, "") for name in CONTRACTS]
    # A strategy that looks ahead, to see that the analysis would say so.
    requests.append(request("rsi_reversion", folder, "np.roll(rsi, -2)"))
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(requests), "utf-8")
    command = [interpreter(), "-W", "ignore", str(SCRIPT), str(question), str(answer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(answer.read_text("utf-8"))
    return dict(zip((*CONTRACTS, "looks ahead"), answers, strict=True))


def request(name: str, folder: Path, instead: str) -> dict[str, Any]:
    path = CORPUS / f"{name}.yaml"
    contract = load_contract(path).strategy
    program = compile_contract(contract)
    text = freqtrade_text(contract, program, path.name)
    if instead:
        wanted = 'dataframe["rsi"] = rsi'
        assert wanted in text
        text = text.replace(wanted, f'dataframe["rsi"] = {instead}')
    place = folder / f"{name}{len(instead)}"
    place.mkdir()
    (place / f"{contract.name}.py").write_text(text, "utf-8")
    frames = next(iter(markets(contract, BARS).values()))
    return Expectation(contract, program, frames).request(str(place))


@pytest.mark.parametrize("name", CONTRACTS)
def test_freqtrade_finds_no_look_ahead(name: str, found: dict[str, dict[str, Any]]) -> None:
    answer = found[name]
    assert answer["checked"]
    assert answer["trades"] >= 3
    assert not answer["biased"], answer["indicators"]


@pytest.mark.parametrize("name", CONTRACTS)
def test_indicators_have_settled_after_the_startup_candles(
    name: str, found: dict[str, dict[str, Any]]
) -> None:
    variance = found[name]["variance"]
    most = SETTLED_BY_WILDER if name == "rsi_reversion" else SETTLED
    unsettled = {key: value for key, value in variance.items() if not abs(value) < most}
    assert unsettled == {}
    assert all(math.isfinite(value) for value in variance.values())


def test_freqtrade_would_have_said_so(found: dict[str, dict[str, Any]]) -> None:
    assert found["looks ahead"]["biased"]
