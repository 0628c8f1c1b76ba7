"""Holds Freqtrade's own fill rules, for the comparison with its back-test."""
