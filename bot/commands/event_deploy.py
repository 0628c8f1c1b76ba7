"""The stages of `stratwright event` that approve, halt and roll back: one for each job."""

import argparse
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.workflow.context import Context
    from bot.workflow.deploy_order import Order

KEY = "STRATWRIGHT_DEPLOY_PRIVATE_KEY"
_SUBJECT = re.compile(r"(\S{1,200}) ([0-9a-f]{40,64})", re.ASCII)
Say = Callable[[str], None]


def gate(context: "Context", args: argparse.Namespace, say: Say) -> int:
    """Say what there is to do, and every reason against it; only reads."""
    from bot.approval.reasons import ApprovalRefused
    from bot.forge.reasons import Ignored
    from bot.workflow.deploy_order import Todo, read_order
    from bot.workflow.deploy_words import comment_text, record_table
    from bot.workflow.deploying import gate as look
    from bot.workflow.deploying import previous

    runner = context.runner
    try:
        order = read_order(context)
    except ApprovalRefused as error:
        return _refused(context, error.refusals, say)
    if isinstance(order, Ignored):
        say(str(order))
        runner.summary(f"Stratwright: {order}.")
        runner.output("todo", "")
        return 0
    subject = (order.tag, order.commit)
    if order.todo is Todo.DEPLOY:
        found = look(context, order)
        if found.refusals or found.record is None:
            return _refused(context, found.refusals, say)
        asks = "GitHub asks a reviewer first." if found.waits else ""
        title = f"To be approved for {found.record.mode}: {order.task}"
        runner.summary(comment_text(title, asks, record_table(found.record)))
    elif order.todo is Todo.ROLLBACK:
        back = previous(context, order)
        subject = (back.tag, back.commit) if back else ("", "")
    say(f"{order.todo} {order.task} {' '.join(subject)} {order.environment}".rstrip())
    runner.output("environment", order.environment)
    runner.output("subject", " ".join(subject).strip())
    runner.output("freqtrade", "true" if _has_freqtrade(context, subject[1]) else "false")
    runner.output("todo", order.todo)
    return 0


def _has_freqtrade(context: "Context", commit: str) -> bool:
    """Whether the tag's commit brought a file for Freqtrade, which verifying runs."""
    parents = context.repository.parents(commit) if commit else ()
    changed = context.repository.changed(parents[0], commit) if parents else ()
    return any(path.startswith("Backtest/freqtrade/") for path in changed)


def _refused(context: "Context", refusals: "tuple[object, ...]", say: Say) -> int:
    """Say why not; a comment is answered by a job that may write."""
    from bot.workflow.deploy_words import comment_text, refusal_list

    for each in refusals:
        say(f"refused {each}")
    text = refusal_list(refusals)  # type: ignore[arg-type]
    context.runner.summary(comment_text("Not approved", text))
    asked = context.runner.event == "issue_comment"
    context.runner.output("todo", "refuse" if asked else "")
    return 0 if asked else 1


def verify(args: argparse.Namespace, say: Say) -> int:
    """Compute a tag's evidence again in the sandbox; needs no token and no event."""
    from bot.errors import InputError
    from bot.forge.port import open_runner
    from bot.git.repository import open_repository
    from bot.workflow.verifying import verify_commit
    from bot.workshop import open_prover

    found = _SUBJECT.fullmatch(args.keys)
    if found is None:
        raise InputError("--keys takes a tag and its commit, as the gate named them")
    repository = open_repository(args.repository, to_write=False)
    outcome = verify_commit(
        repository, found[1], found[2], lambda: open_prover("auto", say), ["index"], "auto", say
    )
    say(f"{found[1]}: {outcome}")
    open_runner().output("verified", f"{found[2]} {' '.join(outcome.split())[:500]}")
    return 0 if outcome == "holds" else 1


def sign(context: "Context", args: argparse.Namespace, say: Say) -> int:
    """Sign and publish what people approved."""
    from pydantic import SecretStr

    from bot.workflow.deploying import sign as publish
    from bot.workflow.environment_key import EnvironmentKey

    key = EnvironmentKey(SecretStr(os.environ.pop(KEY, "")))
    record = publish(context, _order(context), args.answers, args.environment, key)
    say(f"published {record.token} for {record.tag} in {record.environment}")
    return 0


def stop(context: "Context", args: argparse.Namespace, say: Say) -> int:
    """Halt a task; 4 if somebody could not be told."""
    from bot.workflow.deploying import stop as halt

    order = _order(context)
    troubles = halt(context, order)
    say(f"halted {order.task}")
    for each in troubles:
        say(each)
    return 4 if troubles else 0


def answer(context: "Context", args: argparse.Namespace, say: Say) -> int:
    """Tell why nothing was approved, or take the steps of a rollback after the halt."""
    from bot.workflow.deploying import answer as tell

    done = tell(context, args.answers)
    say(done)
    return 0 if done == "rolled back" else 1


def _order(context: "Context") -> "Order":
    from bot.forge.reasons import Ignored, NotAnyMore
    from bot.workflow.deploy_order import read_order

    order = read_order(context)
    if isinstance(order, Ignored):
        raise NotAnyMore(order)
    return order
