"""Runs inside the sandbox."""
