"""Turns GitHub's event file into a trigger, or into the reason why it is none.

Pure: nothing is asked from anybody here, and nothing but the fields named here is read.
"""

import json
import re
from collections.abc import Mapping

from bot.forge.command_line import read_command
from bot.forge.reasons import Ignored, Reason
from bot.forge.trigger import (
    Actor,
    CommandGiven,
    DeployAsked,
    Dispatched,
    FormFiled,
    Push,
    Trigger,
)

MOST_BYTES = 30_000_000
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_NAME = re.compile(r"(?!\.{1,2}/)[A-Za-z0-9._-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", re.ASCII)
_PLACE = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
_MOST_CONTRACTS = 1000
MOST_NUMBER = 2**63
# JSON can write one half of a pair alone; no file, database or terminal takes it.
_HALF = re.compile("[\ud800-\udfff]")


class _Malformed(Exception):
    """A field is missing or of another kind; says which."""


def parse_event(name: str, data: bytes, label: str = "stratwright") -> Trigger | Ignored:
    """Read an event file by the name that GITHUB_EVENT_NAME gives; `label` is the issue form's."""
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(Reason.NOT_OUR_EVENT, name if name.isidentifier() else "")
    try:
        if len(data) > MOST_BYTES:
            raise _Malformed("it is too large")
        payload = json.loads(data)
        if not isinstance(payload, dict):
            raise _Malformed("it is not an object")
        return reader(payload, label)
    except (ValueError, RecursionError):
        return Ignored(Reason.MALFORMED, "it is not JSON")
    except _Malformed as error:
        return Ignored(Reason.MALFORMED, str(error))


def _push(payload: Mapping[str, object], label: str) -> Trigger | Ignored:
    repository = _object(payload, "repository")
    ref, branch = _text(payload, "ref"), _text(repository, "default_branch")
    if ref != f"refs/heads/{branch}" or payload.get("deleted") is True:
        return Ignored(Reason.NOT_OUR_BRANCH)
    before, after = _text(payload, "before"), _text(payload, "after")
    if not (_SHA.fullmatch(before) and _SHA.fullmatch(after)):
        raise _Malformed("before and after are not commits")
    return Push(_full_name(repository), _actor(payload, "sender"), branch, before, after)


def _issue(payload: Mapping[str, object], label: str) -> Trigger | Ignored:
    action = _text(payload, "action")
    if action not in ("opened", "labeled"):
        return Ignored(Reason.NOT_OUR_ACTION, action if action.isidentifier() else "")
    issue = _object(payload, "issue")
    if action == "labeled" and not _same(_text(_object(payload, "label"), "name"), label):
        return Ignored(Reason.NOT_OUR_LABEL)
    if not _carries(issue, label):
        return Ignored(Reason.NOT_OUR_LABEL)
    if issue.get("state") != "open":
        return Ignored(Reason.ISSUE_CLOSED)
    actor = _actor(payload, "sender")
    if actor.is_bot:
        return Ignored(Reason.BOT)
    return FormFiled(
        _full_name(_object(payload, "repository")),
        actor,
        _actor(issue, "user"),
        _number(issue, "number"),
        _optional_text(issue, "body"),
        _text(issue, "updated_at"),
        action == "labeled",
    )


def _comment(payload: Mapping[str, object], label: str) -> Trigger | Ignored:
    action = _text(payload, "action")
    if action != "created":
        return Ignored(Reason.NOT_OUR_ACTION, action if action.isidentifier() else "")
    comment, issue = _object(payload, "comment"), _object(payload, "issue")
    command = read_command(_optional_text(comment, "body"))
    if command is None:
        return Ignored(Reason.NO_COMMAND)
    actor = _actor(payload, "sender")
    if actor.is_bot or _actor(comment, "user") != actor or comment.get("performed_via_github_app"):
        return Ignored(Reason.BOT)
    if comment.get("created_at") != comment.get("updated_at"):
        return Ignored(Reason.ISSUE_EDITED)
    on_pull = isinstance(issue.get("pull_request"), dict)
    return CommandGiven(
        _full_name(_object(payload, "repository")),
        actor,
        _number(issue, "number"),
        on_pull,
        _number(comment, "id"),
        command.verb,
        command.argument,
        "" if on_pull or not _carries(issue, label) else _optional_text(issue, "body"),
        _actor(issue, "user"),
        command.below,
    )


def _dispatch(payload: Mapping[str, object], label: str) -> Trigger | Ignored:
    repository = _object(payload, "repository")
    if _text(payload, "ref") != f"refs/heads/{_text(repository, 'default_branch')}":
        return Ignored(Reason.NOT_OUR_BRANCH)
    actor = _actor(payload, "sender")
    if actor.is_bot:
        return Ignored(Reason.BOT)
    given = payload.get("inputs")
    inputs = given if isinstance(given, dict) else {}
    if "tag" in inputs:
        return _deploy(inputs, _full_name(repository), actor)
    contracts = tuple(_optional_text(inputs, "contracts").split())
    if len(contracts) > _MOST_CONTRACTS:
        raise _Malformed("it names too many contracts")
    regenerate = inputs.get("regenerate") in (True, "true")
    return Dispatched(_full_name(repository), actor, contracts, regenerate)


def _deploy(inputs: Mapping[str, object], repository: str, actor: Actor) -> Trigger:
    """Read what the deploy workflow was started with."""
    commit, environment = _text(inputs, "commit").strip(), _text(inputs, "environment")
    if not _SHA.fullmatch(commit):
        raise _Malformed("commit is not a commit's whole name")
    if not _PLACE.fullmatch(environment):
        raise _Malformed("environment is not the name of one")
    tag, replaces = _text(inputs, "tag").strip(), _optional_text(inputs, "replace").strip()
    older = inputs.get("older") in (True, "true")
    return DeployAsked(repository, actor, tag, commit, environment, older, replaces)


_READERS = {
    "push": _push,
    "issues": _issue,
    "issue_comment": _comment,
    "workflow_dispatch": _dispatch,
}


def _object(values: Mapping[str, object], key: str) -> dict[str, object]:
    value = values.get(key)
    if not isinstance(value, dict):
        raise _Malformed(f"{key} is not an object")
    return value


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise _Malformed(f"{key} is not a text")
    if _HALF.search(value):
        raise _Malformed(f"{key} has half a character in it")
    return value


def _optional_text(values: Mapping[str, object], key: str) -> str:
    return "" if values.get(key) is None else _text(values, key)


def _number(values: Mapping[str, object], key: str) -> int:
    value = values.get(key)
    if type(value) is not int or not 0 <= value < MOST_NUMBER:
        raise _Malformed(f"{key} is not a number")
    return value


def _actor(values: Mapping[str, object], key: str) -> Actor:
    user = _object(values, key)
    return Actor(_number(user, "id"), _text(user, "login"), _text(user, "type"))


def _carries(issue: Mapping[str, object], label: str) -> bool:
    found = issue.get("labels")
    labels = found if isinstance(found, list) else []
    return any(_same(_text(each, "name"), label) for each in labels if isinstance(each, dict))


def _same(one: str, other: str) -> bool:
    """Whether two names are one label: GitHub has no two that differ by case alone."""
    return one.casefold() == other.casefold()


def _full_name(repository: Mapping[str, object]) -> str:
    name = _text(repository, "full_name")
    if not _NAME.fullmatch(name):
        raise _Malformed("the repository has no name")
    return name
