"""Candidates that are not what they look like, through `stratwright gate --candidate`.

A few by default: a candidate takes about as long as a run. `make attacks` takes them all.
"""

import contextlib
import io
import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.chance import EVERY_ATTACK
from tests.security.trojans import TROJANS, Trojan

ROOT = Path(__file__).resolve().parents[2]
A_FEW = ("review_time_bomb", "again_flat_candle", "state_other_position")
# Told apart by no candle that the gates know: the level itself is never met.
NOT_TOLD_APART = ("data_edge",)


def chosen() -> list[Trojan]:
    """The candidates to judge."""
    if EVERY_ATTACK:
        return [trojan for trojan in TROJANS if trojan.name not in NOT_TOLD_APART]
    return [trojan for trojan in TROJANS if trojan.name in A_FEW]


def test_there_are_enough_and_each_has_its_name() -> None:
    assert len(TROJANS) >= 80
    assert len({trojan.name for trojan in TROJANS}) == len(TROJANS)
    assert {*A_FEW, *NOT_TOLD_APART} <= {trojan.name for trojan in TROJANS}


@pytest.mark.parametrize("trojan", chosen(), ids=lambda trojan: trojan.name)
def test_a_trojan_is_refused(
    trojan: Trojan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    contract = f"contracts/{trojan.contract}.yaml"
    generated, candidate = tmp_path / "generated", tmp_path / "candidate"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["generate", contract, "--out", str(generated)]) == 0
        trojan.write(generated, candidate)
        said.truncate(0)
        said.seek(0)
        main(["gate", contract, "--candidate", str(candidate), "--json"])
    gates = json.loads(said.getvalue())["gates"]
    refused = {
        gate["name"] for gate in gates if not gate["passed"] and "not run" not in gate["reason"]
    }
    assert refused & set(trojan.gates), trojan.does
