"""Artifacts, correlation and acceptance: the evidence itself is judged."""

import json
from typing import Any

import pytest

from bot.contract.goals import Acceptance
from bot.gates.outcome import REQUIRED, judge_acceptance, judge_artifacts, judge_correlation

NAME = "corr_0123456789ab"
EVENT = json.dumps({"timestamp": "2024-01-01T00:00:00Z", "correlation_id": NAME}).encode() + b"\n"
TRADES = (
    b"position_id,symbol,side,volume,entry_time,entry_price,exit_time,exit_price,pnl,fees,"
    b"rule_in,rule_out,ambiguous,forced\n"
)
EQUITY = b"timestamp,equity,cash,drawdown\n2024-01-01T00:00:00Z,1,1,0\n2024-01-01T01:00:00Z,1,1,0\n"
REPORT = {
    "created": 0.0,
    "duration": 0.0,
    "exitcode": 0,
    "root": "/job",
    "environment": {},
    "summary": {"total": 0, "collected": 0},
    "tests": [],
}
SUMMARY = {"total_trades": 0, "total_pnl": 0.0, "win_rate": None, "max_drawdown": 0.0}
FILES: dict[str, bytes] = {
    "test_report.json": json.dumps(REPORT).encode(),
    "trades.csv": TRADES,
    "equity_curve.csv": EQUITY,
    "events.log": EVENT,
    "summary.json": json.dumps(SUMMARY).encode(),
}


def test_all_files_of_their_form_pass() -> None:
    assert judge_artifacts(FILES).passed


@pytest.mark.parametrize("gone", REQUIRED)
def test_a_missing_file_is_named(gone: str) -> None:
    found = judge_artifacts({name: FILES[name] for name in FILES if name != gone})
    assert not found.passed
    assert found.where == gone


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("summary.json", b"{}"),
        ("summary.json", b"not json"),
        ("summary.json", b"[]"),
        ("summary.json", json.dumps({**SUMMARY, "total_trades": 3}).encode()),
        ("trades.csv", b"a,b\n"),
        ("trades.csv", b""),
        ("equity_curve.csv", b"timestamp,equity\n"),
        ("equity_curve.csv", EQUITY + b"2024-01-01T01:00:00Z,1,1,0\n"),
        ("equity_curve.csv", EQUITY + b"yesterday,1,1,0\n"),
        ("test_report.json", b"{}"),
        ("events.log", b"{}\n"),
        ("events.log", b"\xff\n"),
        ("events.log", b'{"timestamp": "soon"}\n'),
        ("events.log", b"[]\n"),
        ("events.log", b'{"timestamp": 7}\n'),
    ],
)
def test_a_malformed_file_is_refused(name: str, content: bytes) -> None:
    found = judge_artifacts({**FILES, name: content})
    assert not found.passed
    assert found.reason


def test_the_id_must_be_in_every_line() -> None:
    assert judge_correlation(EVENT * 3, NAME).passed
    other = EVENT.replace(NAME.encode(), b"corr_ffffffffffff")
    found = judge_correlation(EVENT + other, NAME)
    assert (found.passed, found.where) == (False, "events.log:2")


FIGURES: dict[str, Any] = {
    "total_trades": 10,
    "total_pnl": 5.0,
    "win_rate": 0.5,
    "max_drawdown": 0.2,
    "sharpe": 1.0,
    "sortino": 1.5,
    "profit_factor": 1.2,
    "return": 0.1,
    "exposure": 0.4,
    "calmar": 0.8,
    "tear_sheet": {
        "omega": 1.3,
        "sqn": 2.0,
        "recovery_factor": 0.9,
        "over_hold": -0.1,
        "ulcer_index": 0.05,
        "volatility": 0.3,
        "payoff": 1.5,
        "expectancy_r": 0.2,
        "alpha": 0.05,
        "beta": 0.6,
        "correlation": 0.4,
        "time_under_water": 0.7,
        "most_losses_in_a_row": 5,
    },
}
LIMITS = {
    "min_trades": ("total_trades", 10, 11),
    "max_drawdown": ("max_drawdown", 0.2, 0.19),
    "min_win_rate": ("win_rate", 0.5, 0.51),
    "min_sharpe": ("sharpe", 1.0, 1.01),
    "min_sortino": ("sortino", 1.5, 1.51),
    "min_profit_factor": ("profit_factor", 1.2, 1.21),
    "min_return": ("return", 0.1, 0.11),
    "max_exposure": ("exposure", 0.4, 0.39),
    "min_calmar": ("calmar", 0.8, 0.81),
    "min_omega": ("omega", 1.3, 1.31),
    "min_sqn": ("sqn", 2.0, 2.01),
    "min_recovery": ("recovery_factor", 0.9, 0.91),
    "min_over_hold": ("over_hold", -0.1, -0.09),
    "max_ulcer": ("ulcer_index", 0.05, 0.049),
    "max_volatility": ("volatility", 0.3, 0.29),
    "min_payoff": ("payoff", 1.5, 1.51),
    "min_expectancy_r": ("expectancy_r", 0.2, 0.21),
    "min_alpha": ("alpha", 0.05, 0.06),
    "max_beta": ("beta", 0.6, 0.59),
    "max_correlation": ("correlation", 0.4, 0.39),
    "max_time_under_water": ("time_under_water", 0.7, 0.69),
    "max_losses_in_a_row": ("most_losses_in_a_row", 5, 4),
}
# What is divided by losses has no number where nothing was lost, and then it is met.
BOUNDLESS = {"min_profit_factor", "min_omega", "min_recovery", "min_payoff"}


def without(figure: str) -> dict[str, Any]:
    """The figures with one of them unknown."""
    if figure in FIGURES:
        return {**FIGURES, figure: None}
    return {**FIGURES, "tear_sheet": {**FIGURES["tear_sheet"], figure: None}}


def test_every_line_of_acceptance_has_a_figure() -> None:
    assert set(Acceptance.model_fields) == set(LIMITS)


@pytest.mark.parametrize("line", LIMITS)
def test_a_limit_that_is_just_met_passes_and_just_missed_does_not(line: str) -> None:
    figure, met, missed = LIMITS[line]
    assert judge_acceptance(Acceptance(**{line: met}), FIGURES).passed
    found = judge_acceptance(Acceptance(**{line: missed}), FIGURES)
    assert not found.passed
    assert line in found.reason
    unknown = judge_acceptance(Acceptance(**{line: met}), without(figure))
    assert unknown.passed is (line in BOUNDLESS)


def test_without_a_loss_the_profit_factor_is_met() -> None:
    asked = Acceptance(min_profit_factor=3.0)
    unknown = {**FIGURES, "profit_factor": None}
    assert judge_acceptance(asked, unknown).passed
    assert not judge_acceptance(asked, {**unknown, "total_pnl": 0.0}).passed


def test_nothing_asked_is_met() -> None:
    assert judge_acceptance(Acceptance(), FIGURES).figure == "nothing asked"


def test_every_missed_line_is_told() -> None:
    found = judge_acceptance(Acceptance(min_trades=11, max_exposure=0.1), FIGURES)
    assert found.figure == "2 of 2 not met"
    assert "min_trades" in found.reason
    assert "max_exposure" in found.reason
