"""The same question is not asked twice; anything that differs is another question."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.files import cache_folder
from bot.gates.port import Case
from bot.proof.edges import Prover
from bot.proof.examination import examine
from sandbox_runner import answer_cache as memory_module
from sandbox_runner.answer_cache import MOST_ENTRIES, Memory, question_digest
from sandbox_runner.mypy_cache import warm_cache
from sandbox_runner.port import Job, Outcome, open_sandbox
from tests.bot.proof.assignments import assigned
from tests.chance import examples
from tests.e2e.lines import HOUSE, candles_text, contract_text

OUTCOME = Outcome(1, False, False, b"out", b"err", False, {"a": b"\x00\xff"}, {"b": "no"}, 2.0)
JOB = Job(("python", "-c", "1"), {"x.py": b"1", "candles/a": b"2"}, environment={"A": "b"})


@dataclass(frozen=True)
class Named:
    """A sandbox to be asked for its name only."""

    name: str = "somewhere"
    image: str = ""

    def run(self, job: Job) -> Outcome:
        raise AssertionError(job)


def known(folder: Path) -> Memory:
    memory = Memory(folder / "answers")
    memory.keep(JOB, Named(), OUTCOME)
    return memory


def entry(memory: Memory) -> Path:
    [found] = memory.folder.iterdir()
    return found


def test_what_was_kept_comes_back_whole(tmp_path: Path) -> None:
    assert known(tmp_path).recall(JOB, Named()) == replace(OUTCOME, seconds=0.0)


def test_a_fresh_memory_recalls_nothing_and_keeps_all_the_same(tmp_path: Path) -> None:
    assert replace(known(tmp_path), fresh=True).recall(JOB, Named()) is None
    replace(known(tmp_path), fresh=True).keep(JOB, Named(), replace(OUTCOME, exit_code=0))
    found = known(tmp_path).recall(JOB, Named())
    assert found is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ("python", "-c", "2")},
        {"files": {"x.py": b"1", "candles/a": b"3"}},
        {"files": {"x.py": b"1", "candles/b": b"2"}},
        {"files": {"x.py": b"1"}},
        {"collect": ("out",)},
        {"environment": {"A": "c"}},
        {"timeout_s": 1.0},
        {"memory_mb": 2},
        {"processes": 2},
        {"output_limit": 2},
        {"file_limit_mb": 2},
        {"hash_seed": 2},
    ],
)
def test_any_difference_in_the_job_is_another_question(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    assert known(tmp_path).recall(replace(JOB, **changes), Named()) is None


@pytest.mark.parametrize("place", [Named("elsewhere"), Named(image="sha256:1")])
def test_another_sandbox_or_image_is_another_question(place: Named, tmp_path: Path) -> None:
    assert known(tmp_path).recall(JOB, place) is None


def digest_in_another_process(code: str) -> str:
    start = (
        "from tests.sandbox_runner.test_answer_cache import JOB, Named\n"
        f"{code}\n"
        "from sandbox_runner.answer_cache import question_digest\n"
        "print(question_digest(JOB, Named()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=HOUSE, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_name_is_the_same_in_every_process_until_a_version_or_our_code_changes(
    tmp_path: Path,
) -> None:
    here = question_digest(JOB, Named())
    assert digest_in_another_process("") == here
    newer = (
        "import os\n_real = os.listdir\n"
        "os.listdir = lambda p='.': [n.replace('pytest-', 'pytest-9') for n in _real(p)]"
    )
    assert digest_in_another_process(newer) != here
    other_python = "import sys; sys.version = '3.99'"
    assert digest_in_another_process(other_python) != here
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters/new.py").write_text("1\n")
    other_code = (
        "from pathlib import Path\nimport sandbox_runner.answer_cache\n"
        f"sandbox_runner.inner_layout.HOUSE = Path({str(tmp_path)!r})"
    )
    assert digest_in_another_process(other_code) != here


@examples(200)
@given(place=st.integers(0, 10_000), change=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_entry_is_as_good_as_absent(
    place: int, change: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = known(tmp_path_factory.mktemp("damaged"))
    path = entry(memory)
    content = bytearray(path.read_bytes())
    at = place % len(content)
    if cut:
        content = content[:at]
    else:
        content[at] ^= change
    path.write_bytes(bytes(content))
    assert memory.recall(JOB, Named()) is None


def test_an_entry_under_another_name_is_no_answer(tmp_path: Path) -> None:
    memory, other = known(tmp_path), replace(JOB, hash_seed=3)
    entry(memory).rename(memory.folder / question_digest(other, Named()))
    assert memory.recall(other, Named()) is None


@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir, lambda path: os.symlink("kept", path)])
def test_what_is_no_plain_file_is_not_read(plant: Callable[[Any], None], tmp_path: Path) -> None:
    memory = known(tmp_path)
    place = entry(memory)
    place.rename(memory.folder / "kept")
    plant(place)
    assert memory.recall(JOB, Named()) is None


@pytest.mark.parametrize(
    "outcome",
    [
        replace(OUTCOME, exit_code=None),
        replace(OUTCOME, timed_out=True),
        replace(OUTCOME, out_of_memory=True),
    ],
)
def test_what_a_limit_cut_short_is_not_kept(outcome: Outcome, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "answers")
    memory.keep(JOB, Named(), outcome)
    assert memory.recall(JOB, Named()) is None


def test_killed_while_it_writes_there_is_no_entry_and_the_next_one_is_whole(
    tmp_path: Path,
) -> None:
    code = (
        "import os, signal\nfrom pathlib import Path\n"
        "from tests.sandbox_runner.test_answer_cache import JOB, OUTCOME, Named\n"
        "from sandbox_runner.answer_cache import Memory\n"
        "os.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"Memory(Path({str(tmp_path / 'answers')!r})).keep(JOB, Named(), OUTCOME)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=HOUSE, check=False)
    assert done.returncode == -signal.SIGKILL
    assert Memory(tmp_path / "answers").recall(JOB, Named()) is None
    assert known(tmp_path).recall(JOB, Named()) is not None


def test_a_full_disk_costs_only_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(memory_module.os, "replace", full)
    memory = known(tmp_path)
    assert list(memory.folder.iterdir()) == []


def test_the_oldest_answers_go_first(tmp_path: Path) -> None:
    memory = known(tmp_path)
    first = entry(memory)
    for number in range(MOST_ENTRIES):
        path = memory.folder / f"{number:064x}"
        path.touch()
        os.utime(path, (number, number))
    memory.keep(replace(JOB, hash_seed=9), Named(), OUTCOME)
    assert len(list(memory.folder.iterdir())) == MOST_ENTRIES
    assert first.exists()
    assert not (memory.folder / f"{0:064x}").exists()


@dataclass
class Counting:
    """The real sandbox, and what it was asked."""

    inner: Any
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.inner.name)

    def run(self, job: Job) -> Outcome:
        self.asked.append(job.command[2])
        outcome: Outcome = self.inner.run(job)
        return outcome


def test_a_candidate_is_judged_again_without_being_run_again(tmp_path: Path) -> None:
    def judged(more: str = "", bars: int = 150) -> tuple[Any, list[str]]:
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data/btc.csv").write_text(candles_text(bars), "utf-8")
        (tmp_path / "dip.yaml").write_text(contract_text(more=more), "utf-8")
        contract = load_contract(tmp_path / "dip.yaml").strategy
        files = TemplateCoder().write(plain, "dip.yaml").contents
        sandbox = Counting(open_sandbox())
        found = examine(
            assigned(contract, read_market_data(contract, tmp_path)),
            Case(files, frozenset(files)),
            Prover(sandbox, warm_cache(cache_folder()), memory=Memory(tmp_path / "answers")),
        )
        return found, sandbox.asked

    (tmp_path / "dip.yaml").write_text(contract_text(), "utf-8")
    plain = load_contract(tmp_path / "dip.yaml").strategy
    first, asked = judged()
    assert len(asked) == 7
    assert first.remembered == frozenset()
    again, asked = judged()
    assert asked == []
    assert again.verdicts == first.verdicts
    assert again.results == first.results
    tools = {"flake8", "mypy", "bandit", "pytest"}
    assert again.remembered == tools | {"determinism", "lookahead", "elsewhere"}
    stricter, asked = judged("acceptance: {min_trades: 5000}")
    assert asked == [], "what only the trusted side reads needs no run"
    assert [v.name for v in stricter.verdicts if not v.passed] == ["acceptance"]
    longer, asked = judged(bars=151)
    assert asked == ["sandbox_runner.harness.ask_strategy"] * 3, (
        "other candles: the linters say the same"
    )
    assert longer.remembered == {"flake8", "mypy", "bandit"}
