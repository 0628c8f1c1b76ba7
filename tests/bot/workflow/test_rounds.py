"""A refused candidate is written again in the jobs too, with the failures in view."""

from dataclasses import dataclass

import pytest

from bot.coder.port import Candidate, Failure
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.model import AnyContract
from tests.bot.workflow.hub import World, push
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import forge_of
from tests.bot.workflow.test_stages import DIP

CODE = "Backtest/codes/oversold_dip.py"


@dataclass(frozen=True)
class Learner:
    """Writes what a gate refuses until it is shown which."""

    needs: int
    rounds: int = 2
    name: str = "template"

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        candidate = TemplateCoder().write(contract, contract_path)
        named = [verdict.name for failure in failures for verdict in failure.verdicts]
        if named.count("imports") >= self.needs:
            return candidate
        files = {**candidate.files, CODE: f"import os\n\nROUND = {len(failures)}\n"}
        return Candidate(files, "template", "", candidate.prompt_hash)


def test_a_second_round_of_jobs_writes_what_the_first_was_refused_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.workflow.context.open_coder", lambda *_: Learner(1))
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after), rounds=3)
    assert set(ran.codes.values()) == {0}
    (pull,) = forge_of(world).pulls()
    assert "Proven and proposed in #1" in ran.summary
    assert ran.rounds == 2, "what passed is not written once more"
    assert pull.draft.tag


def test_rounds_end_and_the_contract_is_blocked_with_the_last_failures(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.workflow.context.open_coder", lambda *_: Learner(9))
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after), rounds=3)
    assert ran.rounds == 2, "no more than the coder may"
    assert ran.codes["write"] == 1
    assert "gates said no; nothing was pushed" in ran.summary
    assert not forge_of(world).pulls()
