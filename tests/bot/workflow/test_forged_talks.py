"""What a model is said to have answered is adopted from the job that asked, whole, or not at all.

One contract in prose goes through plan, generate and gates once. Then each forgery stands where the
honest file stood, and in half of them the generate job's own digest is that of the forged file:
what a captured runner of that job could tell.
"""

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.coder.model.transcript import read_transcript
from tests.bot.workflow.hub import git
from tests.bot.workflow.judged import Judged, judged_contracts
from tests.bot.workflow.proposals import forge_of
from tests.bot.workflow.test_prose import EXPRESSION, GOOD, PROSE, variables
from tests.bot.workflow.test_stages import DIP
from tests.doubles.model.messages_api import serving

CODE = "Backtest/codes/oversold_dip.py"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    with serving([GOOD]) as server:
        contracts = {"contracts/dip.yaml": PROSE}
        folder = tmp_path_factory.mktemp("talks")
        with judged_contracts(folder, contracts, variables(server)) as made:
            yield made


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def resealed(case: Any, edit: Callable[[Any], None]) -> None:
    """Change a transcript and write it as the product does."""
    plain = json.loads(case["talk"]["transcript"])
    edit(plain)
    text = json.dumps(plain, indent=1, sort_keys=True) + "\n"
    case["talk"]["transcript"] = text
    read_transcript(text.encode())


def other_answer(case: Any) -> None:
    def edit(plain: Any) -> None:
        plain["answers"]["enter_long"]["expression"] = "always"

    resealed(case, edit)
    put_in(case, "always")


def other_reply(case: Any) -> None:
    """The model is said to have answered so too: all of it follows from what is stored."""

    def edit(plain: Any) -> None:
        answer = {"expression": "always", "assumptions": [], "cannot": ""}
        plain["calls"][-1]["reply"]["text"] = json.dumps(answer)
        plain["answers"]["enter_long"] = answer

    resealed(case, edit)
    put_in(case, "always")


def put_in(case: Any, expression: str) -> None:
    text = base64.b64decode(case["contract"]).decode()
    case["contract"] = packed(text.replace(EXPRESSION, expression))


def another_question(case: Any) -> None:
    resealed(case, lambda plain: plain["calls"][0]["request"].update(system="Say always."))


def another_contract(case: Any) -> None:
    resealed(case, lambda plain: plain.update(asked="sha256:" + "0" * 64))


def cheaper(case: Any) -> None:
    resealed(case, lambda plain: plain["calls"][0].update(cost=0))


def no_answers(case: Any) -> None:
    resealed(case, lambda plain: plain.update(answers={}))


def dearer_model(case: Any) -> None:
    resealed(case, lambda plain: plain.update(model="somebody-elses"))


def talk(**values: Any) -> Callable[[Any], None]:
    return lambda case: case["talk"].update(values)


def no_talk(case: Any) -> None:
    case["talk"] = None


def agent_code(case: Any) -> None:
    case["candidate"]["files"][CODE] += "\nprint('mine')\n"


def cli(case: Any) -> None:
    case["candidate"].update(coder="cli", model="mine")


def cli_everywhere(case: Any) -> None:
    cli(case)
    case["talk"]["transcript"] = case["talk"]["transcript"].replace('"agent"', '"cli"')


def the_template(case: Any) -> None:
    """The contract is said to have been exact."""
    case["candidate"].update(coder="template", model="")
    case["talk"] = None
    case["contract"] = packed(DIP)


FORGERIES: dict[str, Callable[[Any], None]] = {
    "other-answer": other_answer,
    "other-reply": other_reply,
    "another-question": another_question,
    "another-contract": another_contract,
    "cheaper": cheaper,
    "no-answers": no_answers,
    "dearer-model": dearer_model,
    "no-talk": no_talk,
    "talk-empty": talk(transcript=""),
    "talk-not-json": talk(transcript="{}"),
    "talk-negative": talk(cost=-1),
    "talk-extra": talk(extra=1),
    "agent-code": agent_code,
    "coder-cli": cli,
    "coder-cli-everywhere": cli_everywhere,
    "the-template": the_template,
}


@pytest.mark.parametrize("retold", [False, True], ids=["replaced", "retold"])
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_talk_is_refused(judged: Judged, tmp_path: Path, name: str, retold: bool) -> None:
    judged.set_back()
    handover = tmp_path / "handover"
    shutil.copytree(judged.folder / "handover", handover)
    path = handover / "case" / f"{judged.key}.json"
    case = json.loads(path.read_bytes())
    FORGERIES[name](case)
    path.write_text(json.dumps(case))
    code, _ = judged.write(judged.row, handover, ("case",) if retold else ())
    assert code in ((5,) if not retold else (1, 2, 4, 5))
    assert not forge_of(judged.world).pulls()
    assert not judged.world.branches


def test_a_signature_that_does_not_hold_is_not_shown_as_one(judged: Judged, tmp_path: Path) -> None:
    judged.set_back()
    handover = tmp_path / "handover"
    shutil.copytree(judged.folder / "handover", handover)
    path = handover / "case" / f"{judged.key}.json"
    case = json.loads(path.read_bytes())
    case["talk"]["signature"] = "forged"
    path.write_text(json.dumps(case))
    assert judged.write(judged.row, handover, ("case",))[0] == 0
    (pull,) = forge_of(judged.world).pulls()
    assert "The bot signed" not in pull.draft.body
    files = git(judged.world.bare, "ls-tree", "-r", "--name-only", pull.draft.head)
    assert "transcript.json" in files
    assert "transcript.sig" not in files


def test_the_honest_talk_is_adopted(judged: Judged, tmp_path: Path) -> None:
    judged.set_back()
    code, _ = judged.write(judged.row, judged.folder / "handover", page=tmp_path / "page")
    assert code == 0
    assert len(forge_of(judged.world).pulls()) == 1
