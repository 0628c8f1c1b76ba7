"""Freqtrade's own lookahead-analysis and recursive-analysis of a strategy, as JSON.

Run by an interpreter that has Freqtrade: `python own_analyses.py request.json answer.json`, with a
request in the form of `sandbox_runner/harness/ask_freqtrade.py`, which answers for the exchange.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sandbox_runner/harness"))

import ask_freqtrade as harness  # type: ignore[import-not-found]

TRADES = 8


def analyses(request: dict[str, Any]) -> dict[str, Any]:
    from freqtrade.optimize.analysis.lookahead_helpers import LookaheadAnalysisSubFunctions
    from freqtrade.optimize.analysis.recursive import RecursiveAnalysis
    from freqtrade.util import get_progress_tracker

    harness._be_the_exchange(request)
    dates = next(iter(request["pairs"].values()))["candles"]["date"]
    with tempfile.TemporaryDirectory() as folder, get_progress_tracker(disable=True) as progress:
        harness._write_candles(request, Path(folder))
        # From the middle on: before it there is room for the startup candles.
        config = {
            **harness._config(request, Path(folder)),
            "timerange": f"{dates[len(dates) // 2] // 1000}-{dates[-1] // 1000}",
            "pairs": list(request["pairs"]),
            "minimum_trade_amount": 3,
            "targeted_trade_amount": TRADES,
        }
        subject = {"name": request["strategy"], "location": Path(request["folder"])}
        ahead = LookaheadAnalysisSubFunctions.initialize_single_lookahead_analysis(
            LookaheadAnalysisSubFunctions.calculate_config_overrides(dict(config)),
            subject,
            progress,
        )
        recursive = RecursiveAnalysis({**config, "startup_candle": [199]}, subject)
        recursive.start(progress)
    found = ahead.current_analysis
    return {
        "checked": not ahead.failed_bias_check,
        "trades": found.total_signals,
        "biased": found.has_bias,
        "indicators": found.false_indicators,
        "startup": recursive._strat_scc,
        "variance": {
            name: values.get(recursive._strat_scc, 0.0)
            for name, values in recursive.dict_recursive.items()
        },
    }


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    requests = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    Path(sys.argv[2]).write_text(json.dumps([analyses(one) for one in requests]), "utf-8")
