"""Asks a model what a contract's prose means, in the one job with its key, and hands it on.

The job that writes asks nobody. It adopts what was handed over with a digest that the run itself
told, after it asked the stored answers the same questions; anything else is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bot.coder.model.prompt import asked_digest
from bot.coder.model.replay import fits, replay_trouble
from bot.coder.model.transcript import TRANSCRIPT, Transcript, read_transcript
from bot.contract.answering import prose_of, with_answers
from bot.contract.document.source import Form, read_source
from bot.contract.load import FORMS, LoadedContract, parse_contract
from bot.errors import InputError, RefusedError, SafetyStop, StratwrightError, WorldError
from bot.forge.port import PullRequest, PullState
from bot.pipeline import published_ask
from bot.proof.answers import answer_contract, is_signed
from bot.proof.assignment import Answers
from bot.proof.edges import Workshop
from bot.redaction import redact
from bot.workflow.context import Context
from bot.workflow.contracts import Read
from bot.workflow.handover import TAMPERED, Talk
from bot.workflow.items import Item

_KINDS: tuple[type[StratwrightError], ...] = (RefusedError, InputError, WorldError, SafetyStop)


@dataclass(frozen=True)
class Asked:
    """Holds a contract with its answers, and what is told of them; no contract where none came."""

    talk: Talk
    loaded: LoadedContract | None = None
    answers: Answers | None = None


def ask(context: Context, item: Item, shop: Workshop) -> Asked | None:
    """Ask what the prose of an item's contract means; None where nobody is to be asked."""
    read, paid = item.read, list[Transcript]()
    published = published_ask(shop)
    if read is None or published is None:
        context.say(f"{item.path}: its prose is open, and no model is set up here")
        return None
    if answered_before(context, item) is not None:
        context.say(f"{item.path}: its prose was answered before, nobody is asked again")
        return None
    asking = published

    def noted(root: Mapping[str | int, object]) -> Transcript:
        paid.append(asking(root))
        return paid[-1]

    model = context.settings.coder.model
    try:
        path = context.repository.root / read.path
        loaded, answers = answer_contract(read.data, path, replace(shop, ask=noted))
    except StratwrightError as error:
        cost = error.cost or sum(each.cost for each in paid)
        words = (redact(error.message), redact(error.hint))
        return Asked(Talk("", "", model, cost, *words, error.exit_code))
    said = answers.transcript
    cost = sum(each.cost for each in paid)
    talk = Talk(said.content.decode("ascii"), answers.signature, said.model, cost)
    return Asked(talk, loaded, answers)


def adopt(context: Context, read: Read, talk: Talk | None) -> tuple[LoadedContract, Answers]:
    """Put answers that were handed over into the contract that this job reads itself.

    Raises:
        SafetyStop: they do not answer this contract, or do not follow from what is stored.
    """
    form = FORMS[PurePosixPath(read.path).suffix.lower()]
    root = read_source(read.data, form).root or {}
    trouble = "it holds no answers"
    if talk is not None and talk.transcript:
        try:
            answers = Answers(read_transcript(talk.transcript.encode()), talk.signature)
        except InputError as error:
            raise SafetyStop(f"what was handed over: {error.message}", TAMPERED) from None
        said, trouble = answers.transcript, ""
        if not fits(root, said):
            trouble = "its answers are not to this contract"
        elif not is_signed(answers, context.settings.coder.signers):
            answers = replace(answers, signature="")  # or the proposal would say that it holds
            trouble = replay_trouble(root, said)
    if trouble:
        message = f"what was handed over for {read.path} is not what a model answered: {trouble}"
        raise SafetyStop(message, TAMPERED)
    written = with_answers(read.data, form, said.expressions)
    return parse_contract(written, form, context.repository.root / read.path), answers


def raise_for(talk: Talk) -> None:
    """Raise what stopped the job that asked.

    Raises:
        StratwrightError: of the kind that it was there.
    """
    if talk.error or not talk.transcript:
        kind = {each.exit_code: each for each in _KINDS}.get(talk.exit_code, StratwrightError)
        raise kind(talk.error or "nothing came of asking a model", talk.hint)


def answered_before(context: Context, item: Item) -> PullRequest | None:
    """Find a pull request of this very contract, answered, unless one more candidate is asked for.

    Nothing of it is believed: all that follows is that nobody is paid to answer once more.
    """
    if item.regenerate or item.read is None or item.read.task is None:
        return None
    pull = context.forge.find(item.read.task.branch)
    if pull is None or pull.state is PullState.MERGED:
        return None
    repository, task = context.repository, item.read.task
    if not repository.commit_of(pull.draft.head):
        return None
    found = repository.read(pull.draft.head, f"artifacts/{task}/{TRANSCRIPT}")
    form = FORMS[PurePosixPath(item.path).suffix.lower()]
    root = read_source(item.read.data, form).root or {}
    open_rules = set(prose_of(root))
    there = repository.read(pull.draft.head, item.path)
    try:
        said = read_transcript(found or b"")
        if there is None or said.asked != asked_digest(root) or set(said.answers) != open_rules:
            return None
        held = with_answers(item.read.data, form, said.expressions)
    except InputError:
        return None
    return pull if _beside(there, form) == _beside(held, form) else None


def _beside(data: bytes, form: Form) -> dict[str | int, object]:
    """Give all of a contract but what a search writes; its parameters are part of the question."""
    root = read_source(data, form).root or {}
    return {key: root[key] for key in root if key not in ("parameters", "optimized")}
