"""Turns an issue in free text into a drafted contract, and an accepted digest into that contract.

A draft waits on the branch of costs, under the digest of its text; the comment that shows it is
read by people alone. Who accepts names the digest, so nobody who edits a comment or pushes a file
can change what was accepted.
"""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bot.coder.model.drafting import Drafted, IssueText, issue_text
from bot.coder.model.replay import replay_trouble
from bot.coder.model.transcript import Transcript, read_transcript
from bot.errors import InputError, SafetyStop, StratwrightError
from bot.git.repository import Repository
from bot.proof.answers import is_signed
from bot.proof.assignment import Answers
from bot.redaction import redact
from bot.workflow.costs import append, file_ending, names
from bot.workflow.handover import TAMPERED, Talk
from bot.workflow.items import Item

if TYPE_CHECKING:
    from bot.workflow.context import Context

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FENCE = re.compile(r"```(?:ya?ml)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_CANDLES = re.compile(r"[A-Za-z0-9_./-]{1,200}\.(?:csv|feather)", re.ASCII)
_MOST_EDIT = 60_000


def ask_for_draft(context: "Context", item: Item) -> Talk | None:
    """Ask for a draft of an issue's text, once; None where no model is set up."""
    asking = context.asking()
    if asking is None:
        context.say(f"#{item.at}: it is not the form, and no model is set up here")
        return None
    issue = asked_of(item, context.repository)
    known = None if item.regenerate else _known(context.repository, issue)
    if known is not None:
        context.say(f"#{item.at}: this text was drafted before, nobody is asked again")
        return Talk(
            known.transcript.content.decode("ascii"), known.signature, known.transcript.model
        )
    context.say(f"#{item.at}: asking {context.settings.coder.model} for a draft")
    paid = 0
    try:
        said = asking.draft(issue)
        paid = said.cost
        signature = context.sign(said.digest)
    except StratwrightError as error:
        words, cost = (redact(error.message), redact(error.hint)), error.cost or paid
        return Talk("", "", context.settings.coder.model, cost, *words, error.exit_code)
    return Talk(said.content.decode("ascii"), signature, said.model, said.cost)


def asked_of(item: Item, repository: Repository) -> IssueText:
    """Give what a draft is asked from: the issue as it stood, and the base branch's candles."""
    listed = repository.git.ask("ls-tree", "-r", "-z", "--name-only", item.commit).out
    paths = listed.decode("utf-8", "replace").split("\0")
    return issue_text(item.at, item.text, tuple(path for path in paths if _CANDLES.fullmatch(path)))


def adopt_draft(item: Item, talk: Talk, repository: Repository) -> tuple[Drafted, Answers]:
    """Take over a draft that was handed on for this very issue.

    Raises:
        SafetyStop: it is of another text, or does not follow from what is stored.
    """
    trouble = ""
    try:
        answers = Answers(read_transcript(talk.transcript.encode()), talk.signature)
    except InputError as error:
        raise SafetyStop(f"what was handed over: {error.message}", TAMPERED) from None
    said = answers.transcript
    own, issue = asked_of(item, repository), said.issue
    # Candles may have come to the base branch meanwhile; the draft's own are checked where shown.
    if issue is None or (issue.number, issue.text) != (own.number, own.text):
        trouble = "it is no draft of this issue"
    trouble = trouble or replay_trouble({}, said)
    if trouble or said.draft is None:
        message = f"what was handed over for #{item.at} is not what a model drafted: {trouble}"
        raise SafetyStop(message, TAMPERED)
    return said.draft, answers


def keep(repository: Repository, answers: Answers) -> None:
    """Put a draft where an accepting comment finds it; the same one is put there once."""
    said = answers.transcript
    if said.draft is None:
        return
    asked = said.asked.removeprefix("sha256:")[:32]
    values = {"transcript": said.content.decode("ascii"), "signature": answers.signature}
    name = f"draft-{asked}-{said.draft.digest}.json"
    append(repository, name, json.dumps(values).encode(), f"draft: {said.draft.digest}")


def find_draft(repository: Repository, digest: str) -> Transcript | None:
    """Find the draft whose text has a digest; whoever pushed it, the text is what was accepted."""
    found = _find(repository, digest)
    return found.transcript if found else None


def signed_draft(repository: Repository, digest: str, signers: Iterable[str]) -> Answers | None:
    """Find a draft that the bot signed: its transcript goes into the evidence."""
    keys = tuple(signers)
    found = _find(repository, digest) if keys else None
    return found if found and is_signed(found, keys) else None


def edited_text(comment: str) -> str:
    """Read the contract that an accepting comment brings; empty if it brings none.

    Raises:
        InputError: there is something else than one block of code below the command.
    """
    below = comment.replace("\r\n", "\n").strip()
    if not below:
        return ""
    block = _FENCE.fullmatch(below)
    if block is None or "```" in block[1] or len(below) > _MOST_EDIT:
        hint = "Put the whole edited contract into one block of three backticks, and nothing else."
        raise InputError("what stands below the command is not one block of code", hint)
    return f"{block[1].rstrip()}\n"


def _find(repository: Repository, digest: str) -> Answers | None:
    found = file_ending(repository, f"-{digest}.json")
    answers = _read(found[1]) if found else None
    draft = answers.transcript.draft if answers else None
    return answers if draft and draft.digest == digest else None


def _known(repository: Repository, issue: IssueText) -> Answers | None:
    """Find a draft of the same text that this version would ask for in the same words."""
    start = f"draft-{issue.digest.removeprefix('sha256:')[:32]}-"
    for name in names(repository):
        if name.startswith(start):
            found = file_ending(repository, name)
            answers = _read(found[1]) if found else None
            said = answers.transcript if answers else None
            if said and said.issue == issue and not replay_trouble({}, said):
                return answers
    return None


def _read(data: bytes) -> Answers | None:
    try:
        values = json.loads(data)
        return Answers(read_transcript(values["transcript"].encode()), str(values["signature"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        return None
