"""A pull request whose contract went away: closed with a word, and open again when it is back.

A person who closes a pull request has refused its candidate. The bot closes one only because its
contract is gone, and says so under its own marker; what it closed so, it may open again.
"""

from bot.forge.github import GitHubForge
from bot.forge.github_comments import Thread
from bot.forge.port import PullState

MARKER = "withdrawn"
# Said before it is done, so that a run which dies in between has told nothing untrue.
_CLOSED = "so the bot closes this pull request."


def withdraw(forge: GitHubForge, number: int, why: str, how_back: str) -> bool:
    """Close a pull request if it is open; False if it was not."""
    if forge.get(number).state is not PullState.OPEN:
        return False
    forge.comment(number, f"{why}, {_CLOSED} Its branch and tag stay; {how_back}.", MARKER)
    forge.close(number)
    return True


def put_back(forge: GitHubForge, number: int) -> bool:
    """Open a pull request again that the bot itself closed; False if a person did."""
    said = forge.said.find(Thread(number), MARKER)
    if said is None or _CLOSED not in said.body or not forge.reopen(number):
        return False
    words = "Its contract is on the default branch again, so this pull request is open again."
    forge.comment(number, words, MARKER)
    return True
