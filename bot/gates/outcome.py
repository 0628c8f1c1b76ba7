"""Judges the evidence itself: the gates `artifacts`, `correlation` and `acceptance`."""

import csv
import io
import itertools
import json
from collections.abc import Mapping
from datetime import datetime

from Backtest.metrics.report_files import EQUITY_COLUMNS, TRADE_COLUMNS
from bot.contract.goals import Acceptance
from bot.gates.port import Verdict
from sandbox_runner.test_report import find_problems, read_report

REQUIRED = ("test_report.json", "trades.csv", "equity_curve.csv", "events.log", "summary.json")
_SUMMARY_KEYS = ("total_trades", "total_pnl", "win_rate", "max_drawdown")
_FIGURES = {
    "min_trades": "total_trades",
    "max_drawdown": "max_drawdown",
    "min_win_rate": "win_rate",
    "min_sharpe": "sharpe",
    "min_sortino": "sortino",
    "min_profit_factor": "profit_factor",
    "min_return": "return",
    "max_exposure": "exposure",
    "min_calmar": "calmar",
    "min_omega": "tear_sheet.omega",
    "min_sqn": "tear_sheet.sqn",
    "min_recovery": "tear_sheet.recovery_factor",
    "min_over_hold": "tear_sheet.over_hold",
    "min_payoff": "tear_sheet.payoff",
    "min_expectancy_r": "tear_sheet.expectancy_r",
    "min_alpha": "tear_sheet.alpha",
    "max_beta": "tear_sheet.beta",
    "max_correlation": "tear_sheet.correlation",
    "max_time_under_water": "tear_sheet.time_under_water",
    "max_losses_in_a_row": "tear_sheet.most_losses_in_a_row",
    "max_ulcer": "tear_sheet.ulcer_index",
    "max_volatility": "tear_sheet.volatility",
}

_BOUNDLESS = frozenset({"min_profit_factor", "min_omega", "min_recovery", "min_payoff"})


def judge_artifacts(files: Mapping[str, bytes]) -> Verdict:
    """Judges whether every required file is there and of its form."""
    name = "artifacts"
    for required in REQUIRED:
        if required not in files:
            step = "see the gate that should have made it"
            return Verdict(name, False, "incomplete", f"{required} is missing", required, step)
    try:
        _check(files)
    except (ValueError, KeyError, TypeError) as error:
        step = "report it: the trusted side made this file"
        return Verdict(name, False, "malformed", str(error)[:300], "", step)
    return Verdict(name, True, f"{len(files)} files")


def _check(files: Mapping[str, bytes]) -> None:
    summary = json.loads(files["summary.json"])
    missing = [key for key in _SUMMARY_KEYS if key not in summary]
    if missing:
        raise ValueError(f"summary.json has no {missing[0]}")
    trades = _rows(files["trades.csv"], TRADE_COLUMNS, "trades.csv")
    if summary["total_trades"] and not trades:
        raise ValueError("trades.csv is empty though there were trades")
    equity = _rows(files["equity_curve.csv"], EQUITY_COLUMNS, "equity_curve.csv")
    times = [datetime.fromisoformat(row[0]) for row in equity]
    if any(later <= earlier for earlier, later in itertools.pairwise(times)):
        raise ValueError("equity_curve.csv: timestamps do not rise")
    problems = find_problems(read_report(files["test_report.json"]))
    if problems:
        raise ValueError(f"test_report.json: {problems[0]}")
    events = files["events.log"].decode("utf-8").splitlines()
    for line in events:
        datetime.fromisoformat(json.loads(line)["timestamp"])
    rows = {"trades.csv": len(trades), "equity_curve.csv": len(equity), "events.log": len(events)}
    for name, kept in summary.get("compact", {}).items():
        if rows[name] != kept["rows"] or not kept["rows"] < kept["of"]:
            raise ValueError(f"{name} has not the rows that summary.json tells of")


def _rows(content: bytes, columns: tuple[str, ...], name: str) -> list[list[str]]:
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8")))
    if tuple(header) != columns:
        raise ValueError(f"{name} has the columns {', '.join(header)}")
    return rows


def judge_correlation(events: bytes, correlation_id: str) -> Verdict:
    """Judges whether the run's id is in every line of the log."""
    name = "correlation"
    lines = events.decode("utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if json.loads(line).get("correlation_id") != correlation_id:
            reason = f"line {number} does not carry {correlation_id}"
            step = "report it: the trusted side wrote this log"
            return Verdict(name, False, f"{len(lines)} lines", reason, f"events.log:{number}", step)
    return Verdict(name, True, f"{len(lines)} lines")


def judge_acceptance(acceptance: Acceptance, summary: Mapping[str, object]) -> Verdict:
    """Judges whether the backtest shows what the contract asked for."""
    name = "acceptance"
    asked = acceptance.model_dump(exclude_none=True)
    failed = []
    for line, limit in asked.items():
        figure = _number(summary, _FIGURES[line])
        earned = (_number(summary, "total_pnl") or 0) > 0
        if line in _BOUNDLESS and figure is None and earned:
            continue  # nothing was lost, so what is divided by losses has no number
        if figure is None or (figure < limit if line.startswith("min_") else figure > limit):
            shown = "not known" if figure is None else f"{figure:.6g}"
            failed.append(f"{line} is {limit:g}, the backtest has {shown}")
    if failed:
        step = "change the rules or the risk, or ask for less in `acceptance`"
        count = f"{len(failed)} of {len(asked)} not met"
        return Verdict(name, False, count, "; ".join(failed), "acceptance", step)
    return Verdict(name, True, f"{len(asked)} met" if asked else "nothing asked")


def _number(summary: Mapping[str, object], name: str) -> float | None:
    part, _, inner = name.rpartition(".")
    within = summary[part] if part else summary
    figure = within[inner] if isinstance(within, Mapping) else None
    return figure if isinstance(figure, int | float) else None
