"""Both files of every contract of the corpus mean the same: on every market, at every bar."""

from pathlib import Path

import pytest

from bot.coder.template import TemplateCoder
from bot.contract.load import load_contract
from bot.gates.static.check import check_bytes
from bot.gates.static.file_class import guess_class
from tests.freqtrade.freqtrade_environment import needs_freqtrade
from tools.corpus import CORPUS, compare, markets, table

CONTRACTS = sorted(CORPUS.glob("*.yaml"))


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.stem)
def test_every_file_may_say_what_it_says(path: Path) -> None:
    files = TemplateCoder().write(load_contract(path).strategy, path.name).files
    assert len(files) == 3
    for name, text in files.items():
        content = text.encode()
        assert check_bytes(content, guess_class(name, content)) == (), name


@needs_freqtrade
def test_no_bar_and_no_trade_differs() -> None:
    """The first bars of the markets here; `python -m tools.corpus` takes them whole."""
    frames = {name: frame.head(700) for name, frame in markets(700).items()}
    rows = compare(CONTRACTS, frames)
    assert len(rows) == len(CONTRACTS) * len(frames)
    assert all(row.same for row in rows), table([row for row in rows if not row.same])
    assert sum(row.trades for row in rows) > 500
