"""Runs jobs in Docker containers."""
