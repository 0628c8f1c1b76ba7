"""Measured claims, each a command; never part of the tests."""
