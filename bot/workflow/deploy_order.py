"""Reads what an event asks about a deployment: which task, which bytes, where to, and who asks.

Every job reads the event again; nothing but the outcome of `verify` is handed on.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.approval.reasons import refuse
from bot.approval.subject import name_of
from bot.errors import InputError
from bot.forge.reasons import Ignored, Reason
from bot.forge.trigger import Actor, CommandGiven, DeployAsked, Push, Trigger
from bot.git.identity import TaskName, task_of_branch
from bot.settings import DEPLOY_WORKFLOW
from bot.workflow.context import Context, authorise
from bot.workflow.work import DEPLOY_VERBS

_EVIDENCE = re.compile(r"artifacts/([a-z0-9-]+)/([a-z0-9-]+)/provenance\.json", re.ASCII)


class Todo(StrEnum):
    """What is asked for."""

    DEPLOY = "deploy"
    HALT = "halt"
    ROLLBACK = "rollback"


@dataclass(frozen=True)
class Order:
    """What an event asks for.

    Attributes:
        tag, commit: the bytes to deploy; empty for what only stops.
        number: the task's newest pull request; 0 if there is none.
        comment: what asked; 0 if a comment did not.
        identity: names the request; one that comes twice gives one record.
        requester: who asked for the deployment; None if the approval itself did.
    """

    todo: Todo
    actor: Actor
    task: TaskName
    identity: str
    tag: str = ""
    commit: str = ""
    environment: str = ""
    number: int = 0
    comment: int = 0
    older: bool = False
    replaces: str = ""
    requester: Actor | None = None


def read_order(context: Context) -> Order | Ignored:
    """Read the event, and ask whether its actor may order.

    Raises:
        ApprovalRefused: it is understood, and cannot be done as it stands.
    """
    trigger = context.runner.trigger(context.settings.label)
    if isinstance(trigger, Ignored):
        return trigger
    if trigger.repository.casefold() != context.forge.repository.casefold():
        return Ignored(Reason.MALFORMED, "it is about another repository")
    return authorise(trigger, context.forge.people) or order_of(trigger, context)


def asks_to_deploy(context: Context) -> bool:
    """Say whether a comment asks for what no workflow of the repository does."""
    trigger = context.runner.trigger(context.settings.label)
    asked = isinstance(trigger, CommandGiven) and trigger.verb in DEPLOY_VERBS
    base = context.repository.base().commit
    return asked and context.repository.objects.entry(base, DEPLOY_WORKFLOW) is None


def order_of(trigger: Trigger, context: Context) -> Order | Ignored:
    """Find out what a trigger asks for; who may ask was settled before."""
    if isinstance(trigger, DeployAsked):
        return _dispatched(trigger, context)
    if isinstance(trigger, Push):
        return _merged(trigger, context)
    if isinstance(trigger, CommandGiven) and trigger.verb in DEPLOY_VERBS:
        return _commanded(trigger, context)
    return Ignored(Reason.NO_DEPLOYMENT)


def _dispatched(asked: DeployAsked, context: Context) -> Order:
    try:
        task, _ = name_of(asked.tag)
    except InputError as error:
        raise refuse("no-tag", error.message) from None
    there = context.repository.commit_of(f"refs/tags/{asked.tag}")
    if there != asked.commit:
        where = f"is at {there[:12]}" if there else "is not here"
        raise refuse("tag-moved" if there else "no-tag", f"{asked.tag} {where}")
    pull = context.forge.find(task.branch)
    return Order(
        Todo.DEPLOY,
        asked.actor,
        task,
        f"run {context.runner.run}",
        asked.tag,
        asked.commit,
        asked.environment,
        pull.number if pull else 0,
        older=asked.older,
        replaces=asked.replaces,
        requester=asked.actor,
    )


def _merged(push: Push, context: Context) -> Order | Ignored:
    """Find the task whose evidence a push brought to the default branch."""
    environment = context.settings.deploy.on_merge
    known = context.repository.commit_of(push.before) and context.repository.commit_of(push.after)
    if environment is None or not known:
        return Ignored(Reason.NO_DEPLOYMENT)
    changed = context.repository.changed(push.before, push.after)
    there = filter(None, map(_EVIDENCE.fullmatch, changed))
    tasks = [TaskName(found[1], found[2]) for found in there]
    if not tasks:
        return Ignored(Reason.NO_DEPLOYMENT)
    if len(tasks) > 1:
        raise refuse("several-tasks", ", ".join(map(str, tasks)))
    pull = context.forge.find(tasks[0].branch)
    if pull is None:
        return Ignored(Reason.NO_DEPLOYMENT, "no pull request of the bot brought it")
    commit = pull.draft.head
    return Order(
        Todo.DEPLOY,
        push.actor,
        tasks[0],
        f"push {push.after}",
        _tag_of(context, tasks[0], commit),
        commit,
        environment,
        pull.number,
        requester=push.actor,
    )


def _commanded(given: CommandGiven, context: Context) -> Order:
    if not given.on_pull_request:
        raise refuse("not-our-pull", f"#{given.number} is an issue")
    pull = context.forge.get(given.number)
    task = task_of_branch(pull.draft.branch)
    if task is None:
        # That of a fork has its owner in the branch's name.
        code = "fork" if ":" in pull.draft.branch else "not-our-pull"
        raise refuse(code, f"#{given.number} is of {pull.draft.branch}")
    newest = context.forge.find(task.branch)
    number = newest.number if newest else given.number
    who, name = given.actor, f"comment {given.comment_id}"
    if given.verb != "approve":
        todo = Todo.HALT if given.verb == "halt" else Todo.ROLLBACK
        return Order(todo, who, task, name, number=number, comment=given.comment_id)
    if given.argument != pull.draft.head:
        said = given.argument or "no commit"
        detail = f"{said} is named, the head is {pull.draft.head}"
        raise refuse("other-commit", detail)
    return Order(
        Todo.DEPLOY,
        who,
        task,
        name,
        _tag_of(context, task, pull.draft.head),
        pull.draft.head,
        context.settings.deploy.on_approve,
        given.number,
        given.comment_id,
    )


def _tag_of(context: Context, task: TaskName, commit: str) -> str:
    """Name the newest tag of a task that names a commit."""
    tags = context.repository.refs(task).tags
    named = [name for name, tag in tags.items() if tag.commit == commit]
    if not named:
        raise refuse("no-tag", f"no tag of {task} names {commit[:12]}")
    return max(named, key=lambda name: task.attempt(name) or ("", 0))
