"""Computes the figures of one run and of many, and writes the files that hold them."""
