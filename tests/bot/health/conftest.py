"""The server of tests/bot/server, for what `doctor --serve` says of it."""

from tests.bot.server.conftest import service

__all__ = ["service"]
