"""Holds what a strategy may know of the world: the adapter interface and what implements it."""
