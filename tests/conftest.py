"""Loads the profiles of hypothesis before any test is read."""

import tests.chance  # noqa: F401
