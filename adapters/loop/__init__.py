"""Asks a strategy and steps a broker, bar by bar."""
