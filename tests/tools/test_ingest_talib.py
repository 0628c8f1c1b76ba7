"""The brain's page about TA-Lib says what the installed library says."""

from pathlib import Path

import talib

from tools.ingest_talib import PAGE, reference_page

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_installed_library_says():
    assert (ROOT / PAGE).read_text("utf-8") == reference_page(), (
        "TA-Lib has changed: run `python -m tools.ingest_talib` and review the difference"
    )


def test_every_function_has_one_line():
    lines = reference_page().splitlines()
    named = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert sorted(named) == sorted(talib.get_functions())


def test_a_line_gives_inputs_arguments_outputs_and_lookback():
    assert (
        "| `ATR` | Average True Range | [high, low, close] | `timeperiod=14` | `real` | 14 |"
        " unstable |" in reference_page()
    )
