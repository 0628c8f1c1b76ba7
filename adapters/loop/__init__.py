"""The loop that asks a strategy and steps a broker, bar by bar."""
