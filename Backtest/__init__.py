"""Simulates trading: candles and orders in, trades and figures out."""
