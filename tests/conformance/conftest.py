"""Every provider of a port passes one suite, on a plain Git and the doubles."""

from tests.doubles.github.fixtures import _plain_git, github_description, hub

__all__ = ["_plain_git", "github_description", "hub"]
