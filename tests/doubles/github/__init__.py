"""A GitHub to test against, on loopback: see `tests.doubles.github.server` for how to start it."""

from tests.doubles.github.faults import Fault, Faults
from tests.doubles.github.hosted import HostedRepository
from tests.doubles.github.messages import Exchange
from tests.doubles.github.server import GitHubServer
from tests.doubles.github.state import Settings

__all__ = ["Exchange", "Fault", "Faults", "GitHubServer", "HostedRepository", "Settings"]
