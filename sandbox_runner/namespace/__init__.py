"""Runs jobs in Linux namespaces, by bubblewrap or util-linux."""
