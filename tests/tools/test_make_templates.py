"""The templates that people read are the ones that the coder fills."""

from pathlib import Path

import pytest

from bot.coder.template.template_coder import TEMPLATES
from tools.make_templates import ROOT, SLOTS, STRATEGY, make_templates, slots_of

MADE = make_templates()


@pytest.mark.parametrize("path", sorted(MADE))
def test_the_file_is_what_the_templates_give(path: str) -> None:
    told = "run python -m tools.make_templates and look at the difference"
    assert (ROOT / path).read_text("utf-8") == MADE[path], told


def test_every_slot_is_explained_and_no_other() -> None:
    template = (TEMPLATES / "freqtrade_strategy.py.j2").read_text("utf-8")
    assert set(slots_of(template)) == set(SLOTS)


def test_the_strategy_template_is_a_strategy(tmp_path: Path) -> None:
    from bot.cli import main

    fixture = ROOT / "tests/fixtures/sample_btc.csv"
    code = main(["backtest", str(ROOT / STRATEGY), "--data", str(fixture), "--out", str(tmp_path)])
    assert code == 0
    assert (tmp_path / "trades.csv").exists()
