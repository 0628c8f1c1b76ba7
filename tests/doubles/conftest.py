"""The tests of the doubles take `hub` and a plain Git as the tests of the bot do."""

from tests.doubles.github.fixtures import (
    _plain_git,
    github_description,
    hub,
    webhook_examples,
)

__all__ = ["_plain_git", "github_description", "hub", "webhook_examples"]
