"""Judges who approved on a forge: whose word counts for these bytes, and why another's does not."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.approval.reasons import Refusal
from bot.forge.deploys import Assent, Gate, Way
from bot.forge.trigger import Actor

WINDOW_S = 86_400
_SKEW_S = 60
_WORDS = {
    "dismissed": "review-dismissed",
    "changes_requested": "changes-requested",
    "rejected": "changes-requested",
}


@dataclass(frozen=True)
class Bench:
    """What a word is held against.

    Attributes:
        commit: the bytes that are to be deployed.
        involved: numbers of those who wrote it or asked for it.
        now: the second; halted: the second of the task's last halt, 0 without one.
        may_write: says whether somebody could push now, by number.
        goes_around: says whether somebody could go around the environment's reviewers.
    """

    commit: str
    involved: frozenset[int]
    now: int
    halted: int
    gate: Gate
    may_write: Callable[[Actor], bool]
    goes_around: Callable[[Actor], bool]


def name_of_account(actor: Actor) -> str:
    """Give the name by which records and hosts' files know an account: by number, for good."""
    return f"github:{actor.id}"


def judge(said: Iterable[Assent], bench: Bench) -> tuple[frozenset[str], tuple[Refusal, ...]]:
    """Find out who approved; gives their names, and why each other word does not count."""
    words = [*said]
    last = {each.actor.id: each for each in words if each.way is Way.REVIEW}
    names: set[str] = set()
    refusals: list[Refusal] = []
    for each in words:
        code = _why_not(each, bench)
        latest = last.get(each.actor.id)
        if not code and latest and latest.state == "changes_requested" and latest.at >= each.at:
            code = "changes-requested"
        if code:
            refusals.append(Refusal(code, f"{each.way} {each.id} by {each.actor.login}"))
        else:
            names.add(name_of_account(each.actor))
    return frozenset(names), tuple(dict.fromkeys(refusals))


def _why_not(said: Assent, bench: Bench) -> str:
    """Give the code of what speaks against a word; empty if nothing does."""
    if said.actor.is_bot or not said.actor.id:
        return "bot-approval"
    if said.state != "approved":
        return _WORDS.get(said.state, "not-approved")
    if said.edited:
        return "edited-approval"
    if said.commit != bench.commit:
        return "other-commit"
    if said.actor.id in bench.involved:
        return "self-approval"
    if said.way is Way.RUN and (code := _not_let_in(said, bench)):
        return code
    if _is_stale(said, bench):
        return "approval-stale"
    return "" if bench.may_write(said.actor) else "no-permission"


def _not_let_in(said: Assent, bench: Bench) -> str:
    """Tell a reviewer of the environment from an administrator who went around them.

    Which teams somebody belongs to, a workflow's token cannot ask. Whom GitHub lets approve, and
    who could not go around the reviewers, is one of the listed team.
    """
    gate = bench.gate
    if not gate.waits:
        return "no-reviewers"
    if said.actor.id in gate.reviewers:
        return ""
    by_team = gate.teams and not (gate.admins_bypass and bench.goes_around(said.actor))
    return "" if by_team else "admin-bypass"


def _is_stale(said: Assent, bench: Bench) -> bool:
    """Say whether a word is too old: a halt came after it, or a day has passed.

    Of a run the forge tells only when it began; it waits for approval as long as the forge lets it.
    """
    try:
        at = int(datetime.fromisoformat(said.at).timestamp())
    except ValueError:
        return True
    old = said.way is not Way.RUN and bench.now - at > WINDOW_S
    return old or at <= bench.halted or at > bench.now + _SKEW_S
