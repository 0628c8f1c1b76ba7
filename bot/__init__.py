"""The line: from a contract to a proven pull request."""

__version__ = "0.1.0"
