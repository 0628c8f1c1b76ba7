"""Every test of the bot meets a Git without the configuration of whoever runs it, and `hub`."""

from tests.doubles.github.fixtures import (
    _plain_git,
    github_description,
    hub,
    webhook_examples,
)

__all__ = ["_plain_git", "github_description", "hub", "webhook_examples"]
