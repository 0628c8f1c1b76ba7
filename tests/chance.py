"""How many examples a property is tried with and by which chance, and how much of a table.

`quick` (the default, and CI): half of what the property asks for, the same ones on every machine.
`deep` (`make deep`, nightly): fifty times as many as it asks for, others on every run.
Of tables whose every row takes seconds the tests take a part; `make attacks` takes all.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, settings

DEEP = 50
EVERY_ATTACK = "STRATWRIGHT_EVERY_ATTACK" in os.environ

settings.register_profile("quick", derandomize=True, database=None, deadline=None, max_examples=25)
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
    """Asks for half as many examples of a property, and for `DEEP` times as many in a deep run."""
    deep = settings.get_current_profile_name() == "deep"
    return settings(max_examples=count * DEEP if deep else (count + 1) // 2, **more)


def one_in(count: int, table: Iterable[str]) -> list[str]:
    """Every so-many-th row of a table, the same ones on every machine; all for `make attacks`."""
    return list(table)[:: 1 if EVERY_ATTACK else count]
