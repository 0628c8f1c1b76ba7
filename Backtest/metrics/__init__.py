"""Figures of one run and of many, and the files that hold them."""
