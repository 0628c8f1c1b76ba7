"""A job that no sandbox could run is refused before one is asked."""

from typing import Any

import pytest

from sandbox_runner.port import Job


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\0b"])
@pytest.mark.parametrize("field", ["files", "collect", "shared"])
def test_a_path_stays_inside(path: str, field: str) -> None:
    value: Any = (path,) if field == "collect" else {path: b""}
    with pytest.raises(ValueError, match="not a plain relative path"):
        Job(**{"command": ("python",), "files": {}, field: value})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"command": ()}, "needs a command"),
        ({"timeout_s": 0}, "timeout_s must be positive"),
        ({"timeout_s": float("nan")}, "timeout_s must be positive"),
        ({"memory_mb": -1}, "memory_mb must be positive"),
        ({"hash_seed": 1 << 32}, "hash_seed must be within"),
        ({"files": {"a": b"", "a/b": b""}}, "both a file and a folder"),
    ],
)
def test_limits_make_sense(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Job(**({"command": ("python",), "files": {}} | settings))
