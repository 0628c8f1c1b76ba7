"""How many examples a property is tried with, and by which chance.

`quick` (the default, and CI): as many as the property asks for, the same ones on every machine.
`deep` (`make deep`, nightly): fifty times as many, others on every run.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

DEEP = 50

settings.register_profile("quick", derandomize=True, database=None, deadline=None, max_examples=50)
settings.register_profile(
    "deep",
    derandomize=False,
    deadline=None,
    max_examples=50 * DEEP,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("quick")


def examples(count: int, **more: Any) -> Callable[[Any], Any]:
    """Asks for that many examples of a property, and for `DEEP` times as many in a deep run."""
    deep = settings.get_current_profile_name() == "deep"
    return settings(max_examples=count * (DEEP if deep else 1), **more)
