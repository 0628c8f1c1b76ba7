"""The laboratory: candles and orders in, trades and figures out."""
