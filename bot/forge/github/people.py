"""Asks GitHub who may push, and what people decided in reviews."""

from bot.errors import SafetyStop
from bot.forge.github.api import GitHubApi, Missing, Unprocessable, segment
from bot.forge.port import Decision, Review
from bot.forge.trigger import Actor

_DECISIONS = {
    "APPROVED": Decision.APPROVED,
    "CHANGES_REQUESTED": Decision.CHANGES_REQUESTED,
    "COMMENTED": Decision.COMMENTED,
}
_MAY_COMMAND = ("admin", "write")


class GitHubPeople:
    """The people of one repository. The bot has no way to approve."""

    def __init__(self, api: GitHubApi, address: str) -> None:
        self._api = api
        self._address = address

    def may_command(self, actor: Actor) -> bool:
        """Say whether somebody has write permission now, by number: logins change hands."""
        try:
            found = self._api.get(f"collaborators/{segment(actor.login)}/permission")
        except (Missing, Unprocessable):
            return False
        user = found.get("user") or {}
        return user.get("id") == actor.id and found.get("permission") in _MAY_COMMAND

    def review(self, number: int, decision: Decision, head: str, body: str = "") -> Review:
        """Refuse: people review on GitHub's own page, the bot never does."""
        raise SafetyStop(
            "the bot does not review pull requests",
            f"Review it yourself: {self._address}/pull/{number}",
        )

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Return decisions, oldest first."""
        return tuple(
            Review(
                int(row["id"]),
                str((row.get("user") or {}).get("login", "")),
                str(row.get("submitted_at") or ""),
                _DECISIONS[row["state"]],
                str(row.get("commit_id") or ""),
                str(row.get("body") or ""),
            )
            for row in self._api.pages(f"pulls/{number}/reviews")
            if row["state"] in _DECISIONS
        )
