"""A GitHub to test against, on loopback: see `bot.testing.server` for how to start it."""

from bot.testing.faults import Fault, Faults
from bot.testing.hosted import HostedRepository
from bot.testing.messages import Exchange
from bot.testing.server import GitHubServer
from bot.testing.state import Settings

__all__ = ["Exchange", "Fault", "Faults", "GitHubServer", "HostedRepository", "Settings"]
