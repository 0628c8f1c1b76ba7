"""What quantstats itself says of the tests' curves, written down: `python -m` this module.

quantstats is no dependency of ours, not even of the tests: it brings twenty packages and seconds of
import. Install it beside them, run this, and look at the difference before you commit it.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.Backtest.metrics.test_risk_figures import curves, random_curve

ANSWERS = Path(__file__).resolve().parents[2] / "fixtures" / "quantstats_figures.json"
YEARLY = 365.25
PLAIN = ("omega", "max_drawdown", "comp", "payoff_ratio", "kelly_criterion", "profit_factor")
MORE = ("ulcer_index", "recovery_factor", "value_at_risk", "consecutive_wins", "consecutive_losses")


def days(rows: np.ndarray) -> pd.Series:
    """Give the returns of a curve as quantstats wants them: with a day each."""
    index = pd.date_range("2020-01-01", periods=len(rows))
    return pd.Series(rows, index=index).pct_change().iloc[1:]


def answers() -> list[dict[str, float]]:
    """Ask quantstats about each curve."""
    stats: Any = importlib.import_module("quantstats.stats")
    told = []
    for place, curve in enumerate(curves()):
        other = random_curve(place + 100)
        length = min(len(curve), len(other))
        returns = days(curve)
        found = {name: getattr(stats, name)(returns) for name in (*PLAIN, *MORE)}
        for name in ("volatility", "sharpe", "sortino"):
            found[name] = getattr(stats, name)(returns, periods=YEARLY)
        found["cvar"] = stats.conditional_value_at_risk(returns, method="historical")
        found |= stats.greeks(days(curve[:length]), days(other[:length]), YEARLY).to_dict()
        months = stats.monthly_returns(returns, eoy=False, compounded=True)
        found["months"] = float(np.abs(months.to_numpy()).sum())
        told.append({name: float(value) for name, value in found.items()})
    return told


if __name__ == "__main__":
    version = importlib.import_module("quantstats").__version__
    text = json.dumps({"quantstats": version, "answers": answers()}, indent=1, allow_nan=False)
    ANSWERS.write_text(text + "\n", encoding="utf-8", newline="\n")
    sys.stdout.write(f"{ANSWERS}\n")
