"""Closes a pull request whose contract went away, and opens it again when the contract is back.

A person who closes a pull request has refused its candidate. The bot closes one only because its
contract is gone, and says so under its own marker; what it closed so, it may open again.
"""

from bot.forge.port import Forge, PullState, Thread

MARKER = "withdrawn"
# Said before it is done, so that a run which dies in between has told nothing untrue.
_CLOSED = "so the bot closes this pull request."


def withdraw(forge: Forge, number: int, why: str, how_back: str) -> bool:
    """Close a pull request if it is open; False if it was not."""
    if forge.get(number).state is not PullState.OPEN:
        return False
    words = f"{why}, {_CLOSED} Its branch and tag stay; {how_back}."
    forge.threads.say(Thread(number), words, MARKER)
    forge.close(number)
    return True


def put_back(forge: Forge, number: int) -> bool:
    """Open a pull request again that the bot itself closed; False if a person did."""
    said = forge.threads.find(Thread(number), MARKER)
    if said is None or _CLOSED not in said.body or not forge.reopen(number):
        return False
    words = "Its contract is on the default branch again, so this pull request is open again."
    forge.threads.say(Thread(number), words, MARKER)
    return True
