"""Installed packages to facts: one module for each way of asking."""
