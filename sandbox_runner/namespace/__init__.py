"""The sandbox as Linux namespaces, by bubblewrap or util-linux."""
