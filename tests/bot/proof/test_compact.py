"""Long backtests: a part of the rows goes into Git, and `report` writes all of them."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from Backtest.metrics.curves import drawdowns, max_drawdown
from Backtest.times import DAY_MS, MINUTE_MS
from bot.cli import main
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.gates.outcome import judge_artifacts
from bot.gates.port import Verdict
from bot.git.identity import TaskName, Trailers
from bot.git.proposal import Proposal
from bot.git.repository import MOST_FILE_BYTES, open_repository
from bot.proof import compact, evidence
from bot.proof.compact import keep_ends, keep_moments
from bot.proof.evidence import result_files
from bot.proof.examination import Examination
from bot.proof.judge import Judgement, decide, judge, with_tear_sheet
from bot.proof.line import Proven, write
from bot.proof.sealing import Destination, commit_message, seal
from tests.bot.gates.test_outcome import FILES
from tests.bot.git.worlds import World, commit_file
from tests.bot.proof.assignments import assigned
from tests.e2e.lines import candles_text, line_world

NAME = "corr_0123456789ab"
TAG = f"ai/dip/strategy/{NAME}"
Curve = list[tuple[int, float, float]]


def curve_of(seed: int, bars: int, step: int = MINUTE_MS) -> Curve:
    chance = np.random.Generator(np.random.PCG64(seed))
    equity = 1000.0 * np.exp(np.cumsum(chance.normal(0, 0.01, bars)))
    return [(row * step, float(value), 7.0) for row, value in enumerate(equity)]


def judged(work: Path) -> Judgement:
    contract = load_contract(work / "contracts/dip.yaml").strategy
    program, data = compile_contract(contract), read_market_data(contract, work)
    judgement = judge(contract, program, data, decide(contract, program, data))
    return with_tear_sheet(judgement, data.candles)


def test_short_files_are_whole_and_long_ones_keep_both_ends() -> None:
    assert keep_ends(8, 8).is_whole
    kept = keep_ends(100, 5)
    assert list(kept.rows) == [0, 1, 97, 98, 99]
    assert kept.counts == {"rows": 5, "of": 100}
    assert keep_moments(curve_of(1, compact.MOST_ROWS), 1000.0, []).is_whole


@pytest.mark.parametrize("seed", range(8))
def test_the_kept_rows_show_every_day_and_the_largest_drawdown(seed: int) -> None:
    curve = curve_of(seed, 21_000)
    kept = keep_moments(curve, 1000.0, [])
    assert list(kept.rows) == sorted(set(kept.rows))
    assert len(kept.rows) <= 3 * 15 + 3
    equity = np.array([value for _, value, _ in curve])
    shown = equity[list(kept.rows)]
    assert max_drawdown(shown, 1000.0) == max_drawdown(equity, 1000.0)
    assert drawdowns(equity, 1000.0)[list(kept.rows)].max() == max_drawdown(equity, 1000.0)
    days = np.array([time // DAY_MS for time, _, _ in curve])
    for day in range(15):
        rows = np.flatnonzero(days == day)
        of_day = [row for row in kept.rows if row in rows]
        assert rows[-1] in of_day
        assert equity[of_day].min() == equity[rows].min()
        assert equity[of_day].max() == equity[rows].max()


def test_a_fall_within_a_day_that_ends_higher_is_not_lost() -> None:
    values = np.full(21_000, 1000.0)
    values[100:200] = 500.0  # the day's lowest, before there was a peak
    values[1000], values[1100], values[1200:] = 3000.0, 600.0, 4000.0
    curve = [(row * MINUTE_MS, float(value), 0.0) for row, value in enumerate(values)]
    kept = keep_moments(curve, 1000.0, [])
    assert max_drawdown(values[list(kept.rows)], 1000.0) == max_drawdown(values, 1000.0) == 0.8


def test_any_length_fits(tmp_path: Path) -> None:
    trade = judged(line_world(tmp_path, remote=False).work).broker.get_trades()[0]
    decades = curve_of(3, 60_000, step=DAY_MS)
    assert len(keep_moments(decades, 1000.0, []).rows) <= 3 * compact.MOST_PERIODS + 3
    minutes = curve_of(3, 60_000)
    trades = [
        replace(trade, entry_time=row * MINUTE_MS, exit_time=(row + 1) * MINUTE_MS)
        for row in range(0, 59_000, 2)
    ]
    kept = keep_moments(minutes, 1000.0, trades)
    assert len(kept.rows) == compact.MOST_ROWS
    assert set(range(10_000)) <= set(kept.rows)
    few = keep_moments(minutes, 1000.0, trades[:100])
    assert set(range(200)) <= set(few.rows)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "MOST_ROWS", 100)
    monkeypatch.setattr(evidence, "MOST_TRADES", 4)
    monkeypatch.setattr(evidence, "MOST_EVENTS", 6)


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_a_short_backtest_is_whole_and_says_nothing(tmp_path: Path) -> None:
    found = judged(line_world(tmp_path, remote=False).work)
    files = result_files(found, NAME)
    assert files == result_files(found, NAME, whole=True)
    assert "compact" not in json.loads(files["summary.json"])


@pytest.mark.usefixtures("small")
def test_the_summary_says_how_many_rows_are_there_and_the_gate_counts_them(tmp_path: Path) -> None:
    found = judged(line_world(tmp_path, remote=False).work)
    files, whole = result_files(found, NAME), result_files(found, NAME, whole=True)
    told = json.loads(files["summary.json"])["compact"]
    assert "compact" not in json.loads(whole["summary.json"])
    for name in ("trades.csv", "equity_curve.csv"):
        mine, all_rows = rows(files[name]), rows(whole[name])
        assert told[name] == {"rows": len(mine), "of": len(all_rows)}
        assert [row for row in all_rows if row in mine] == mine
    lines = files["events.log"].splitlines()
    assert told["events.log"] == {"rows": 6, "of": len(whole["events.log"].splitlines())}
    assert lines == whole["events.log"].splitlines()[:3] + whole["events.log"].splitlines()[-3:]
    judged_files = {**FILES, **files}
    assert judge_artifacts(judged_files).passed
    cut = b"".join(files["events.log"].splitlines(keepends=True)[:-1])
    refused = judge_artifacts({**judged_files, "events.log": cut})
    assert not refused.passed
    assert "events.log has not the rows" in refused.reason


def propose(world: World) -> dict[str, Any]:
    """The evidence of a contract under a tag, as `run` writes it; no gate is asked here."""
    loaded = load_contract(world.work / "contracts/dip.yaml")
    contract = loaded.strategy
    data = read_market_data(contract, world.work)
    content = (world.work / "contracts/dip.yaml").read_bytes()
    work = assigned(contract, data, NAME, content=content)
    judgement = judge(contract, work.program, data, decide(contract, work.program, data))
    judgement = with_tear_sheet(judgement, data.candles)
    results = result_files(judgement, NAME)
    candidate = write(work, TemplateCoder())
    examination = Examination((Verdict("syntax", True, "2 files"),), results, judgement)
    sealed = seal(Proven(work, candidate, examination), Destination(TAG))
    files = {f"{sealed.evidence.folder}/{name}": f for name, f in sealed.evidence.files.items()}
    repository = open_repository(world.work)
    words = commit_message(work, candidate, sealed.evidence.digest)
    files |= {**candidate.contents, work.origin.contract_path: content}
    task = TaskName("dip", "strategy")
    repository.propose(Proposal(task, TAG, repository.base(), files, *words))
    return {"body": sealed.body, **sealed.evidence.files}


@pytest.mark.usefixtures("small")
def test_report_writes_all_rows_of_a_tag_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = line_world(tmp_path, remote=False)
    made = propose(world)
    words = "rows of equity_curve.csv, 6 of"
    assert words in made["body"]
    assert words in made["report.html"].decode()
    assert "trades.csv has all of them" not in made["report.html"].decode()
    out = tmp_path / "out"
    asked = ["report", TAG, "--repository", str(world.work), "--out", str(out)]
    assert main(asked) == 0
    assert "all rows are written: trades.csv" in capsys.readouterr().out
    whole = result_files(judged(world.work), NAME, whole=True)
    assert {name: (out / name).read_bytes() for name in whole} == whole
    assert len(rows(whole["equity_curve.csv"])) == 400


@pytest.mark.usefixtures("small")
def test_report_says_why_it_cannot_write_all_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = line_world(tmp_path, remote=False)
    # Candles that the commit does not hold, and that have changed since.
    text = (world.work / "contracts/dip.yaml").read_text("utf-8")
    commit_file(world.work, "contracts/dip.yaml", text.replace("btc.csv", "mine.csv"))
    (world.work / "data/mine.csv").write_text(candles_text(350), "utf-8")
    made = propose(world)
    asked = ["report", TAG, "--repository", str(world.work), "--out", str(tmp_path / "out")]
    assert main([*asked, "--json"]) == 0
    assert "all rows are written" in json.loads(capsys.readouterr().out)["rows"]
    (world.work / "data/mine.csv").write_text(candles_text(300), "utf-8")
    assert main(asked) == 0
    assert "a part of the rows is written: " in (said := capsys.readouterr().out)
    assert "comes out otherwise" in said
    assert (tmp_path / "out/equity_curve.csv").read_bytes() == made["equity_curve.csv"]
    (world.work / "data/mine.csv").unlink()
    assert main(asked) == 0
    assert "cannot be computed: data/mine.csv is not there" in capsys.readouterr().out


def test_no_file_that_a_forge_would_refuse_is_proposed(tmp_path: Path) -> None:
    world = line_world(tmp_path, remote=False)
    repository = open_repository(world.work)
    trailers = Trailers(NAME, "sha256:p", "sha256:c", "template", "")
    large = {"artifacts/dip/strategy/events.log": b"x" * (MOST_FILE_BYTES + 1)}
    task = TaskName("dip", "strategy")
    with pytest.raises(InputError, match="too many for a repository"):
        repository.propose(Proposal(task, TAG, repository.base(), large, "ai: x", trailers))
    assert not repository.commit_of(f"refs/tags/{TAG}")
