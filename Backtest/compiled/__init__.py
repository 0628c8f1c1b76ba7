"""Holds the same broker as machine code, for long runs of one symbol."""
