"""Whatever is put in the place of a file between two jobs is refused, with the reason.

Two contracts go through plan, generate and gates once. Then each forgery stands where the honest
files stood when the last job begins: nothing may be pushed. The honest ones come last.
"""

import base64
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bot.workflow.hub import HOUSE
from tests.bot.workflow.judged import Judged, judged_contracts
from tests.bot.workflow.line import Legs
from tests.bot.workflow.proposals import forge_of

DIP = (
    (HOUSE / "contracts/oversold_dip.yaml")
    .read_text()
    .replace("targets: [adapter, freqtrade]", "targets: [adapter]")
)
OTHER = DIP.replace("workflow: oversold-dip", "workflow: other-dip").replace(
    "name: OversoldDip", "name: OtherDip"
)
CODE = "Backtest/codes/oversold_dip.py"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    contracts = {"contracts/dip.yaml": DIP, "contracts/other.yaml": OTHER}
    with judged_contracts(tmp_path_factory.mktemp("judged"), contracts) as made:
        yield made


def edited(change: Callable[[Any], None], job: str = "case") -> Callable[[Judged, Path], None]:
    def forge(judged: Judged, handover: Path) -> None:
        path = handover / job / f"{judged.key}.json"
        values = json.loads(path.read_bytes())
        change(values)
        path.write_text(json.dumps(values))

    return forge


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def add_code(case: Any) -> None:
    case["candidate"]["files"][CODE] += "\nprint('mine')\n"


def other_coder(case: Any) -> None:
    add_code(case)
    case["candidate"].update(coder="agent", model="mine", prompt_hash="sha256:" + "0" * 64)


def other_contract(case: Any) -> None:
    case["contract"] = packed(DIP.replace("min_trades: 10", "min_trades: 0"))


def other_candles(case: Any) -> None:
    for path, content in case["candles"].items():
        text = base64.b64decode(content).decode().splitlines()
        case["candles"][path] = packed("\n".join([*text[:-1], text[-2]]) + "\n")


def other_answers(recorded: Any) -> None:
    """Every bar of every decision file says: no entry."""
    for outcome in recorded["outcomes"].values():
        if "decisions.json" in outcome["outputs"]:
            outcome["outputs"]["decisions.json"] = packed('{"runs": []}')


def other_linters(recorded: Any) -> None:
    for outcome in recorded["outcomes"].values():
        outcome["exit_code"] = 0
        outcome["stdout"] = outcome["stderr"] = ""


def other_questions(recorded: Any) -> None:
    answers = list(recorded["outcomes"].values())
    recorded["outcomes"] = {f"{n:064x}": each for n, each in enumerate(answers)}


def swapped(job: str, other_job: str = "") -> Callable[[Judged, Path], None]:
    def forge(judged: Judged, handover: Path) -> None:
        source = handover / (other_job or job) / f"{judged.other}.json"
        shutil.copy(source, handover / job / f"{judged.key}.json")

    return forge


def cut(job: str) -> Callable[[Judged, Path], None]:
    def forge(judged: Judged, handover: Path) -> None:
        path = handover / job / f"{judged.key}.json"
        path.write_bytes(path.read_bytes()[:-1])

    return forge


def renamed(job: str) -> Callable[[Judged, Path], None]:
    def forge(judged: Judged, handover: Path) -> None:
        (handover / job / f"{judged.key}.json").rename(handover / job / "x.json")

    return forge


def linked(job: str) -> Callable[[Judged, Path], None]:
    def forge(judged: Judged, handover: Path) -> None:
        path = handover / job / f"{judged.key}.json"
        path.rename(path.with_suffix(".mine"))
        path.symlink_to(path.with_suffix(".mine"))

    return forge


def field(name: str, value: Any) -> Callable[[Any], None]:
    return lambda values: values.update({name: value})


def version(name: str, value: str) -> Callable[[Any], None]:
    return lambda recorded: recorded["versions"].update({name: value})


NOT_GENERATE = (5, "is not the file that the generate job wrote")
NOT_GATES = (5, "is not the file that the gates job wrote")
# Somebody put another file there; what the jobs told GitHub is what they wrote.
REPLACED = {
    "case-code": (edited(add_code), *NOT_GENERATE),
    "case-coder-and-code": (edited(other_coder), *NOT_GENERATE),
    "case-contract": (edited(other_contract), *NOT_GENERATE),
    "case-candles": (edited(other_candles), *NOT_GENERATE),
    "case-path": (edited(field("contract_path", "contracts/x.yaml")), *NOT_GENERATE),
    "case-extra-field": (edited(field("freqtrade", True)), *NOT_GENERATE),
    "case-of-another-key": (swapped("case"), *NOT_GENERATE),
    "case-is-an-answer": (swapped("case", "gates"), *NOT_GENERATE),
    "case-cut": (cut("case"), *NOT_GENERATE),
    "case-renamed": (renamed("case"), 4, "the generate job did not deliver"),
    "case-linked": (linked("case"), 2, "is a link"),
    "answers-edited": (edited(other_answers, "gates"), *NOT_GATES),
    "answers-of-linters": (edited(other_linters, "gates"), *NOT_GATES),
    "answers-to-other-questions": (edited(other_questions, "gates"), *NOT_GATES),
    "answers-versions": (edited(version("mypy", "9.9"), "gates"), *NOT_GATES),
    "answers-extra-field": (edited(field("gates", []), "gates"), *NOT_GATES),
    "answers-of-another-key": (swapped("gates"), *NOT_GATES),
    "answers-are-a-case": (swapped("gates", "case"), *NOT_GATES),
    "answers-cut": (cut("gates"), *NOT_GATES),
    "answers-renamed": (renamed("gates"), 4, "the gates job did not deliver"),
    "answers-linked": (linked("gates"), 2, "is a link"),
}


@pytest.mark.parametrize("name", REPLACED)
def test_another_file_than_the_job_before_wrote_is_refused_unread(
    judged: Judged, tmp_path: Path, name: str
) -> None:
    forge, code, reason = REPLACED[name]
    refused(judged, tmp_path, forge, (), code, reason)


# The job itself lied: it told GitHub the digest of what it forged.
LIED = {
    "generate-code": (edited(add_code), "case", 5, "the coder template writes it otherwise"),
    "generate-coder": (edited(other_coder), "case", 5, "contract and settings name the coder"),
    "generate-model": (
        edited(lambda case: case["candidate"].update(model="m")), "case", 5, "writes it otherwise",
    ),
    "generate-prompt": (
        edited(lambda case: case["candidate"].update(prompt_hash="sha256:0")),
        "case", 5, "writes it otherwise",
    ),
    "generate-one-file-more": (
        edited(lambda case: case["candidate"]["files"].update({"conftest.py": "x = 1\n"})),
        "case", 5, "writes it otherwise",
    ),
    "generate-contract": (edited(other_contract), "case", 5, "its contract is another"),
    "generate-path": (
        edited(field("contract_path", "contracts/other.yaml")), "case", 5, "contract is another",
    ),
    "generate-candles": (edited(other_candles), "case", 4, "candles .* changed"),
    "generate-extra-field": (edited(field("freqtrade", True)), "case", 2, "was expected"),
    "generate-version": (edited(field("version", 2)), "case", 2, "its version is not 1"),
    "generate-another-key": (swapped("case"), "case", 5, "its contract is another"),
    "gates-decisions": (edited(other_answers, "gates"), "gates", 1, "gates said no"),
    "gates-questions": (
        edited(other_questions, "gates"), "gates", 4, "did not run what the write job asks",
    ),
    "gates-another-key": (swapped("gates"), "gates", 4, "did not run what the write job asks"),
    "gates-versions": (
        edited(version("pytest", "0.1"), "gates"), "gates", 4, "another version of pytest",
    ),
    "gates-freqtrade-that-was-not-asked": (
        edited(version("frectrade", "1"), "gates"), "gates", 4, "another version of frectrade",
    ),
    "gates-verdicts": (edited(field("gates", []), "gates"), "gates", 2, "was expected"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIED)
def test_what_a_job_says_of_its_own_forged_file_is_not_believed(
    judged: Judged, tmp_path: Path, name: str
) -> None:
    forge, job, code, reason = LIED[name]
    refused(judged, tmp_path, forge, (job,), code, reason)


@pytest.mark.parametrize(
    ("output", "reason"),
    [("--cases=", "the generate job told no digest"), ("--answers=", "gates job told no digest")],
)
def test_a_file_without_a_digest_is_not_read(
    judged: Judged, tmp_path: Path, output: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Legs.arguments

    def dropped(legs: Legs, stage: str, row: dict[str, Any]) -> list[str]:
        return [part for part in honest(legs, stage, row) if not part.startswith(output)]

    monkeypatch.setattr(Legs, "arguments", dropped)
    refused(judged, tmp_path, lambda judged, handover: None, (), 4, reason)


def refused(
    judged: Judged,
    folder: Path,
    forge: Callable[[Judged, Path], None],
    retold: tuple[str, ...],
    code: int,
    reason: str,
) -> None:
    handover = folder / "handover"
    shutil.copytree(judged.folder / "handover", handover)
    forge(judged, handover)
    got, said = judged.write(judged.row, handover, retold)
    assert (got, re.search(reason, said) is not None) == (code, True), (got, said)
    assert not judged.world.branches
    assert forge_of(judged.world).pulls() == ()


def test_the_honest_ones_go_through(judged: Judged, tmp_path: Path) -> None:
    handover = tmp_path / "handover"
    shutil.copytree(judged.folder / "handover", handover)
    for row in judged.rows.values():
        assert judged.write(row, handover)[0] == 0
    assert len(judged.world.branches) == 2
    assert len(forge_of(judged.world).pulls()) == 2
