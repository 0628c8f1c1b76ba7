"""The sandbox as a Docker container."""
