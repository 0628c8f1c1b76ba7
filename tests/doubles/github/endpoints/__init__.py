"""What the server can be asked, a module for each chapter of GitHub's reference."""

from importlib import import_module

_CHAPTERS = (
    "accounts",
    "actions",
    "apps",
    "checks",
    "comments",
    "commit_comments",
    "contents",
    "deployments",
    "environments",
    "issues",
    "labels",
    "pulls",
    "repositories",
    "reviews",
    "statuses",
    "commits",
)


def load() -> None:
    """Register all routes."""
    for chapter in _CHAPTERS:
        import_module(f"tests.doubles.github.endpoints.{chapter}")
