"""Carries out what an event asks about a deployment: gate, signature, halt, the way back.

The gate only reads. What signs reads everything again, and meets a verdict of `verify` that another
job found for the very commit. A request that comes twice gives one record.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bot.approval.admission import announce
from bot.approval.chain import Approval, Halt
from bot.approval.checks import Facts, check_new, read_signatures
from bot.approval.claims import Claim
from bot.approval.desk import Look
from bot.approval.grant import draft, grant
from bot.approval.halting import halt
from bot.approval.host_state import HostState
from bot.approval.reasons import ApprovalRefused, Refusal, refuse
from bot.approval.record import Record, digest_of
from bot.clock import MACHINE_CLOCK
from bot.errors import WorldError
from bot.forge.deploys import Deployment
from bot.forge.port import Thread
from bot.forge.reasons import Ignored, NotAnyMore
from bot.forge.trigger import CommandGiven
from bot.git.remote import StaleView
from bot.locks import pins
from bot.workflow.approval_state import MARKER, last_live
from bot.workflow.context import Context
from bot.workflow.deploy_order import Order, Todo, read_order
from bot.workflow.deploy_words import comment_text, record_table, refusal_list
from bot.workflow.environment_key import EnvironmentKey
from bot.workflow.forge_desk import ForgeDesk
from bot.workflow.way_back import Journey, find_way, walk

NOBODY = "github:0"
_TO_COME = ("too-few-approvers", "moved-meanwhile")
# What people's own signatures mend, on the host.
_WAITING = frozenset({"too-few-approvers", "approver-missing"})


@dataclass(frozen=True)
class Gated:
    """What the gate found.

    Attributes:
        record: what would be signed, by whoever approves; None if nothing is.
        refusals: every reason against it that is known before anybody is asked.
        waits: whether GitHub itself asks a reviewer before the key is met.
    """

    record: Record | None
    refusals: tuple[Refusal, ...]
    waits: bool = False


def open_desk(context: Context, order: Order, key: EnvironmentKey | None = None) -> ForgeDesk:
    """Open the places where an order's facts are."""
    return ForgeDesk(
        context.repository,
        Path(),
        HostState(context.repository.folder / "approvals"),
        MACHINE_CLOCK,
        context.forge,
        order,
        context.settings,
        # Only a run of the forge has a page, and somebody who can approve it.
        context.runner.run if context.runner.run_url else 0,
        context.runner.event,
        key,
        served=not context.runner.run_url,
    )


def gate(context: Context, order: Order) -> Gated:
    """Say what would be signed, and every reason against it; nothing is changed."""
    desk = open_desk(context, order)
    try:
        look = desk.look(order.tag)
        facts = look.facts
        found = None if desk.served else desk.deploys.gate(order.environment)
        waits = bool(found and found.waits)
        names = facts.granted or frozenset({NOBODY})
        record = draft(desk.wish(facts, names), facts, _lock())
    except ApprovalRefused as error:
        return Gated(None, error.refusals)
    if _published(desk, look, record.nonce):
        return Gated(record, (), waits)
    facts = replace(facts, verified="holds", granted=names)
    refusals = check_new(record, facts)
    if waits:
        refusals = tuple(each for each in refusals if not _may_come(each, refusals))
    return Gated(record, refusals, waits)


def _may_come(refusal: Refusal, all_of_them: tuple[Refusal, ...]) -> bool:
    """Say whether a reviewer of the environment can still mend it, with the words that it brings.

    What stands behind `too-few-approvers` are the words that do not count; they refuse nothing.
    """
    few = any(each.code == "too-few-approvers" for each in all_of_them)
    words = ("review ", "comment ", "run ", NOBODY)
    return few and (refusal.code in _TO_COME or refusal.detail.startswith(words))


@dataclass(frozen=True)
class _Attesting:
    """The environment's door: nobody sits there, its key signs for what was read."""

    key: EnvironmentKey

    def confirm(self, record: Record, facts: Facts) -> None:
        """Nothing is asked: everything is read again before and after."""

    def sign(self, data: bytes) -> str:
        return self.key.sign(data)


def sign(
    context: Context, order: Order, verified: str, environment: str, key: EnvironmentKey
) -> Record:
    """Sign and publish what people approved, show it on the forge, and tell it; once.

    Args:
        context: repository and forge.
        order: what is asked for.
        verified: what `verify` found, as `<commit> <outcome>`.
        environment: the one that this job runs in.
        key: the environment's.

    Raises:
        ApprovalRefused: with every reason, after it was told; nothing was published.
    """
    try:
        desk = open_desk(context, order, key)
        if environment != order.environment:
            raise refuse("wrong-environment", f"{environment}, asked for is {order.environment}")
        before = desk.chain()
        claim, number = _granted(desk, verified)
        record = claim.record
        waiting = announce(desk, record)
        if {each.code for each in waiting} - _WAITING:
            raise ApprovalRefused(*waiting)
    except ApprovalRefused as error:
        tell_refusal(context, order, error.refusals)
        raise
    _show(context, desk, record, number)
    title = f"Approved for {record.mode}: {record.token}"
    parts = [
        f"The record is entry {number} of `stratwright/approvals`, signed by `{desk.machine}`.",
        record_table(record),
        last_live(desk.repository, before, order.task, order.commit),
    ]
    if waiting:
        how = f"`stratwright approve {record.tag} --token {record.token}`"
        parts += [f"It is not in force yet. Whom it names, signs: {how}", refusal_list(waiting)]
    say(context, order, title, *parts)
    return record


def _granted(desk: ForgeDesk, verified: str) -> tuple[Claim, int]:
    """Find the order's record in the chain, or make it; gives it with its number."""
    order = desk.order
    outcome = verified.removeprefix(f"{order.commit} ") if verified else "it was not verified"
    look = desk.look(order.tag)
    nonce = desk.wish(look.facts, frozenset()).nonce
    if found := _published(desk, look, nonce):
        return found, found.sequence
    if any(claim.record.nonce == nonce for claim in look.facts.claims):
        raise refuse("replayed", f"{order.identity} had its record before")
    if not look.facts.granted:
        raise ApprovalRefused(*(look.facts.objections or (Refusal("too-few-approvers"),)))
    wish = desk.wish(look.facts, look.facts.granted)
    door = _Attesting(desk.key) if desk.key else None
    if door is None:
        raise refuse("no-key", desk.machine)
    try:
        made = grant(desk, order.tag, wish, door, lambda tag, commit: outcome, _lock())
        return made, made.sequence
    except (ApprovalRefused, StaleView, WorldError):
        # Another run of the same request may have been quicker, or an answer got lost.
        if found := _published(desk, desk.look(order.tag), nonce):
            return found, found.sequence
        raise


def _published(desk: ForgeDesk, look: Look, nonce: str) -> Claim | None:
    """Find the record of a request in the chain; only one that the environment's key signed."""
    for claim in look.facts.claims:
        record = claim.record
        if (record.nonce, record.commit) == (nonce, desk.order.commit) and not claim.ended:
            signed, _ = read_signatures(claim, look.facts)
            if signed.machines or desk.key is None:
                return claim
    return None


def _show(context: Context, desk: ForgeDesk, record: Record, number: int) -> None:
    seen = desk.chain().seen
    payload: dict[str, str | int] = {"token": record.token, "tag": record.tag, "entry": number}
    payload |= {"chain": seen.digest} if seen else {}
    words = f"{record.mode} on {record.host}: {record.token}"
    link = context.runner.run_url
    desk.deploys.show(
        Deployment(
            record.digest,
            record.scope,
            record.commit,
            record.environment,
            words,
            link,
            payload,
        )
    )


def stop(context: Context, order: Order) -> tuple[str, ...]:
    """Halt a task; gives what could not be told. The same order halts once."""
    desk, scope = open_desk(context, order), str(order.task)
    troubles = _halt_once(desk)
    desk.deploys.end(scope)
    if order.todo is Todo.HALT or troubles:
        words = f"`{scope}` is halted by order of {order.actor.login}: what was approved is void."
        again = "Only a new approval starts it again."
        say(context, order, f"Halted: {scope}", words, again, *troubles)
    return troubles


def _halt_once(desk: ForgeDesk) -> tuple[str, ...]:
    """Write the halt that a desk's order asks for, unless it stands in the chain."""
    order, scope = desk.order, str(desk.order.task)
    halted = [e for e in desk.chain().entries if isinstance(e, Halt) and e.scope == scope]
    if any(entry.reason == order.identity for entry in halted):
        return ()
    by = f"{order.actor.login} (github:{order.actor.id})"
    told = halt(desk, scope, by, order.identity)
    return tuple(f"{each.place}: {each.trouble}" for each in told if each.trouble)


def previous(context: Context, order: Order) -> Record | None:
    """Find what was approved before what a rollback leaves; None if nothing was."""
    desk = back_desk(context, order)
    way = find_way(desk, str(order.task)) if desk else None
    return way.back_to.record if way and way.back_to else None


def back_desk(context: Context, order: Order) -> ForgeDesk | None:
    """Open the desk of the environment in which a task was approved last; None if in none."""
    desk = open_desk(context, order)
    given = [e.record for e in desk.chain().entries if isinstance(e, Approval)]
    places = [record.environment for record in given if record.scope == str(order.task)]
    return replace(desk, order=replace(order, environment=places[-1])) if places else None


def roll_back(context: Context, order: Order, verified: str) -> bool:
    """Take the steps after the halt, and tell them; says whether all were taken."""
    desk = back_desk(context, order)
    if desk is None:
        say(context, order, f"Halted: {order.task}", "Nothing of it was ever approved.")
        return False
    by = f"{order.actor.login} (github:{order.actor.id})"

    def verify(tag: str, commit: str) -> str:
        head, _, outcome = verified.partition(" ")
        return outcome if head == commit else "it was not verified"

    def report(text: str, key: str) -> str:
        return desk.deploys.open_issue(f"Incident: {order.task} was halted", text, key)

    def stop_it() -> tuple[str, ...]:
        # The job before should have; it may have died.
        return _halt_once(desk)

    journey = Journey(desk, str(order.task), by, order.identity, stop_it, report, verify)
    steps = [*walk(journey)]
    lines = [
        f"{number}. {step.name}: {'' if step.done else 'not done: '}{step.detail}"
        for number, step in enumerate(steps, 1)
    ]
    say(context, order, f"Rolled back: {order.task}", "\n".join(lines))
    return all(step.done for step in steps)


def tell_refusal(context: Context, order: Order, refusals: tuple[Refusal, ...]) -> None:
    """Tell why nothing was signed, where people look."""
    words = "Nothing was signed or published."
    say(context, order, f"Not approved: {order.task}", words, refusal_list(refusals))


def say(context: Context, order: Order, title: str, *parts: str) -> None:
    """Write the comment of the task's pull request, or of the commit; a later run's word stays."""
    text = comment_text(title, *parts, run_url=context.runner.run_url)
    context.runner.summary(text)
    thread = Thread(order.number) if order.number else Thread(commit=order.commit)
    context.forge.threads.say(thread, text, MARKER, context.runner.run)


def _lock() -> str:
    return digest_of(pins.GITHUB.read_bytes())


def answer(context: Context, verified: str) -> str:
    """Do what is left of an order that is not to be signed for; gives what was done, in words."""
    try:
        order = read_order(context)
        if isinstance(order, Ignored):
            raise NotAnyMore(order)
        if order.todo is Todo.ROLLBACK:
            return "rolled back" if roll_back(context, order, verified) else "not rolled back"
        refusals = gate(context, order).refusals
        if verified and not verified.endswith(" holds"):
            refusals = (*refusals, Refusal("not-verified", verified.partition(" ")[2]))
    except ApprovalRefused as error:
        trigger = context.runner.trigger(context.settings.label)
        if isinstance(trigger, CommandGiven):
            text = comment_text("Not approved", refusal_list(error.refusals))
            context.runner.summary(text)
            context.forge.threads.say(Thread(trigger.number), text, MARKER, context.runner.run)
        return "told why not"
    if refusals:
        tell_refusal(context, order, refusals)
        return "told why not"
    return "nothing stands against it any more: ask again"


def carry_out(
    context: Context, order: Order, verify: Callable[[str, str], str], key: EnvironmentKey | None
) -> str:
    """Do all that an order asks for in one process, as a server does; gives what was done.

    Args:
        context: repository and forge.
        order: what is asked for.
        verify: computes a tag's evidence again, for its commit.
        key: the server's own; without it nothing is approved.
    """
    if order.todo is not Todo.DEPLOY:
        if troubles := stop(context, order):
            raise WorldError(f"{order.task} is not halted everywhere: {troubles[0]}", "Run again.")
        if order.todo is Todo.HALT:
            return "halted"
        back = previous(context, order)
        verified = f"{back.commit} {verify(back.tag, back.commit)}" if back else ""
        return "rolled back" if roll_back(context, order, verified) else "not rolled back"
    refusals = gate(context, order).refusals
    if key is None:
        refusals = (*refusals, Refusal("no-key", "the server has none"))
    if refusals or key is None:
        tell_refusal(context, order, refusals)
        return "not approved"
    verified = f"{order.commit} {verify(order.tag, order.commit)}"
    try:
        sign(context, order, verified, order.environment, key)
    except ApprovalRefused:
        return "not approved"
    return "approved"
