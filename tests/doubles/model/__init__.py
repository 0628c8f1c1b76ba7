"""A Messages API on loopback: real HTTP, real streams, and a model that follows a script."""
